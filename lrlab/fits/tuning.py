"""Chooses regularisation, rank and number of iterations by one validation split, in the same way for every solver.

A search proposes settings in a few stages, each after what the ones before have shown, so that all proposals of a stage
can be tried at once, here or on the engine. The split, its rows and its labels are the same for all solvers.
"""

import math
from collections.abc import Callable, Generator, Sequence

import numpy as np

from lrlab.fits.validation import METRICS, Candidate, Result, TuningTask
from lrlab.parameters import Parameter

DECADES = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
"""Weights that are tried first; then further decades, as long as the best one is the smallest or the largest."""
HALF_DECADE = math.sqrt(10.0)
WEIGHT_BOUNDS = (1e-6, 1e7)
RANK_SHARES = (0.4, 0.2, 0.6, 0.8)
"""Ranks that are tried, in shares of the largest possible one; weights are searched at the first of them."""

Search = Generator[list[Candidate], Sequence[Result], Result]
"""Yields candidates, takes their results, and returns the best of all."""


def search(task: TuningTask, max_rank: int) -> Search:
    """Search rank and regularisation, as far as the solver has them and the task does not fix them.

    First decades of the regularisation, and the solver's default, at one rank; then further decades while the best
    is at an end; then half decades beside the best; then other ranks with the one that `smoothed_best` takes of them.
    max_rank: the largest possible rank.
    """
    options, better = task.entry.options, METRICS[task.metric].better
    tried = [task.rank] if task.rank else [max(1, round(share * max_rank)) for share in RANK_SHARES]
    ranks = list(dict.fromkeys(tried)) if "fitted_rank" in options else [0]
    parameter = options.get("regularization") if task.regularization is None else None
    weights: list[float | None] = [task.regularization]
    if parameter:
        weights = [*sorted({float(parameter.default), *(w for w in DECADES if parameter.low <= w <= parameter.high)})]
    results = list((yield [Candidate(ranks[0], weight) for weight in weights]))
    while parameter and (further := _beyond(parameter, results, better)):
        results += yield [Candidate(ranks[0], further)]
    top = best_of(results, better).candidate.regularization
    beside = [top / HALF_DECADE, top * HALF_DECADE] if parameter and top else []
    if near := [
        Candidate(ranks[0], weight) for weight in beside if parameter and parameter.low <= weight <= parameter.high
    ]:
        results += yield near
    chosen = [smoothed_best(results, better)]
    if ranks[1:]:
        chosen += yield [Candidate(rank, chosen[0].candidate.regularization) for rank in ranks[1:]]
    return best_of(chosen, better)


def best_of(results: Sequence[Result], better: int) -> Result:
    """Return the best result; of equal ones that of lower rank, then of more regularisation."""

    def worth(result: Result) -> tuple[float, int, float]:
        score = -math.inf if math.isnan(result.score) else better * result.score
        return score, -result.candidate.rank, result.candidate.regularization or 0.0

    return max(results, key=worth)


def smoothed_best(results: Sequence[Result], better: int) -> Result:
    """Return the result whose regularisation is nearest to the top of a parabola through those around the best.

    The parabola is fitted by least squares, over the logarithm of the weight, to the results within a decade of the
    best one. A validation score is a noisy measure, and its largest value often a lucky one; the trend over several
    weights is less noisy. It is the best result itself where there are fewer than three, or they have no top.
    """
    best = best_of(results, better)
    if not (top := best.candidate.regularization):
        return best
    weights = np.array([result.candidate.regularization or np.nan for result in results])
    scores = better * np.array([result.score for result in results])
    places = np.log(weights / top)
    near = np.isfinite(scores) & (np.abs(places) < 1.01 * math.log(10.0))
    if near.sum() < 3:
        return best
    curvature, slope, _ = np.polyfit(places[near], scores[near], 2)
    if curvature >= 0:
        return best
    distance = np.where(near, np.abs(places + slope / (2 * curvature)), np.inf)
    return results[int(distance.argmin())]


def _beyond(parameter: Parameter, results: Sequence[Result], better: int) -> float | None:
    """Return the next decade where the best regularisation is at an end of those tried and the bounds allow one."""
    weights = [result.candidate.regularization for result in results if result.candidate.regularization]
    top = best_of(results, better).candidate.regularization
    low, high = max(WEIGHT_BOUNDS[0], parameter.low), min(WEIGHT_BOUNDS[1], parameter.high)
    if not top or top not in (min(weights), max(weights)):
        return None
    further = top / 10 if top == min(weights) else top * 10
    return further if low <= further <= high else None


def explore(stages: Search, attempt: Callable[[list[Candidate]], Sequence[Result]]) -> Result:
    """Follow a search to its end, and return the best result; `attempt` tries all that a stage proposes."""
    todo = next(stages)
    while True:
        try:
            todo = stages.send(attempt(todo))
        except StopIteration as over:
            return over.value
