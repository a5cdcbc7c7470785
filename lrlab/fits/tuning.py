"""Regularisation, rank and number of iterations, chosen by one validation split in the same way for every solver.

A search proposes settings in a few stages, each after what the ones before have shown, so that all proposals of a stage
can be tried at once, here or on the engine. The split, its rows and its labels are the same for all solvers.
"""

import math
from collections.abc import Callable, Generator, Sequence

import numpy as np

from lrlab.fits.validation import METRICS, Candidate, Question, Result
from lrlab.parameters import Parameter

DECADES = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
"""Where a weight is looked for first; beyond, as long as the best one stands at an end."""
HALF = math.sqrt(10.0)
ENDS = (1e-6, 1e7)
RANKS = (0.4, 0.2, 0.6, 0.8)
"""Ranks that are tried, in shares of the largest that is possible; weights are looked for at the first of them."""

Search = Generator[list[Candidate], Sequence[Result], Result]
"""Yields what is to be tried, takes what came of it, and returns the best of all."""


def search(question: Question, most_rank: int) -> Search:
    """Look for rank and regularisation, as far as the solver has them and the question leaves them open.

    First decades of the regularisation, and the solver's default, at one rank; then further decades while the best
    stands at an end; then half decades beside the best; then other ranks with the one that `levelled` takes of them.
    most_rank: the largest rank there is.
    """
    options, better = question.entry.options, METRICS[question.metric].better
    ranks = (ranks_of(most_rank) if not question.rank else [question.rank]) if "fitted_rank" in options else [0]
    parameter = options.get("regularization") if question.regularization is None else None
    weights = weights_of(parameter) if parameter else [question.regularization]
    found = list((yield [Candidate(ranks[0], weight) for weight in weights]))
    while parameter and (further := _beyond(parameter, found, better)):
        found += yield [Candidate(ranks[0], further)]
    top = best_of(found, better).candidate.regularization
    beside = [top / HALF, top * HALF] if parameter and top else []
    if near := [Candidate(ranks[0], weight) for weight in beside if parameter.low <= weight <= parameter.high]:
        found += yield near
    chosen = [levelled(found, better)]
    if ranks[1:]:
        chosen += yield [Candidate(rank, chosen[0].candidate.regularization) for rank in ranks[1:]]
    return best_of(chosen, better)


def ranks_of(most: int) -> list[int]:
    """Return the ranks that are tried, the middle one first."""
    return list(dict.fromkeys(max(1, round(share * most)) for share in RANKS))


def weights_of(parameter: Parameter) -> list[float]:
    """Return the regularisations that are tried first."""
    return sorted({float(parameter.default), *(w for w in DECADES if parameter.low <= w <= parameter.high)})


def best_of(found: Sequence[Result], better: int) -> Result:
    """Return the best result; of equal ones that of lower rank, then of more regularisation."""

    def worth(result: Result) -> tuple[float, int, float]:
        score = -math.inf if math.isnan(result.score) else better * result.score
        return score, -result.candidate.rank, result.candidate.regularization or 0.0

    return max(found, key=worth)


def levelled(found: Sequence[Result], better: int) -> Result:
    """Return the result whose regularisation is nearest to the top of a parabola through those around the best.

    The parabola is fitted by least squares, over the logarithm of the weight, to the results within a decade of the
    best one. A validation score is a noisy measure, and its largest value often a lucky one; what several weights say
    together is less so. It is the best result itself where there are fewer than three, or they have no top.
    """
    best = best_of(found, better)
    if not (top := best.candidate.regularization):
        return best
    weights = np.array([result.candidate.regularization or np.nan for result in found])
    scores = better * np.array([result.score for result in found])
    places = np.log(weights / top)
    near = np.isfinite(scores) & (np.abs(places) < 1.01 * math.log(10.0))
    if near.sum() < 3:
        return best
    curvature, slope, _ = np.polyfit(places[near], scores[near], 2)
    if curvature >= 0:
        return best
    distance = np.where(near, np.abs(places + slope / (2 * curvature)), np.inf)
    return found[int(distance.argmin())]


def _beyond(parameter: Parameter, found: Sequence[Result], better: int) -> float | None:
    """Return the next decade where the best regularisation stands at an end of those tried, and there is one."""
    tried = [result.candidate.regularization for result in found if result.candidate.regularization]
    top = best_of(found, better).candidate.regularization
    low, high = max(ENDS[0], parameter.low), min(ENDS[1], parameter.high)
    if not top or top not in (min(tried), max(tried)):
        return None
    further = top / 10 if top == min(tried) else top * 10
    return further if low <= further <= high else None


def explore(stages: Search, attempt: Callable[[list[Candidate]], Sequence[Result]]) -> Result:
    """Follow a search to its end, and return the best result; `attempt` tries all that a stage proposes."""
    todo = next(stages)
    while True:
        try:
            todo = stages.send(attempt(todo))
        except StopIteration as over:
            return over.value
