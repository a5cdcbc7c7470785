"""Searches scaling, regularisation, rank and further options of a solver, and says which result is best."""

import math
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lrlab.fits.calibration import Calibration
from lrlab.fits.metrics import METRICS
from lrlab.fits.settings import Candidate, FitSettings
from lrlab.models.own_rows import OwnThresholds
from lrlab.models.scaling import SCALINGS
from lrlab.parameters import Parameter

COARSE, BETWEEN = (1e-2, 1.0, 1e2), (1e-1, 1e1, 1e3)
"""Weights that are tried with each scaling, then with the best one; further decades as long as an end is the best."""
HALF_DECADE = math.sqrt(10.0)
WEIGHT_BOUNDS = (1e-6, 1e4)
RANK_SHARES = (0.4, 0.2, 0.6, 0.8, 1.0)
"""Ranks that are tried, in shares of the largest possible one; each with weights of its own."""
GRIDS = {"rate": (0.01, 0.2, 1.0), "margin": (0.1, 0.3, 3.0)}
"""Values of further options, beside their defaults: WSABIE's, which Yu et al. (2014), section 5, tuned by hand."""
TIE, NEARLY = 5e-4, 2e-2
"""Scores that differ by less, relatively, are equal: no weight is better than another one there; or nearly so."""
FEWER = 5e-3
"""Share of the labels, predicted wrongly otherwise."""


class Result(NamedTuple):
    """The best score of a candidate on the validation rows, and its iteration; nan where there is none.

    threshold: the score above which labels of these rows are best predicted, nan where it is not better than the
    estimate's own; wrong: the share of them that is predicted wrongly above the best one, nan where no label is on.
    own: labels with a threshold of their own. calibration: of the scores.
    """

    candidate: Candidate
    iterations: int
    score: float
    threshold: float = math.nan
    wrong: float = math.nan
    own: OwnThresholds = ()
    calibration: Calibration = ()

    def row(self) -> dict[str, Any]:
        """Return it as plain values, without options that the solver does not have."""
        threshold = None if math.isnan(self.threshold) else self.threshold
        row = {**self.candidate._asdict(), "iterations": self.iterations, "score": self.score, "threshold": threshold}
        return {name: value for name, value in row.items() if name not in ("rate", "margin") or value is not None}

    def threshold_by(self, metric: str) -> float | None:
        """Return the threshold of a fit that is tuned by a metric; None takes the estimate's own.

        Metrics of rankings do not see scale, by which scores may be far from 0 and 1.
        """
        return None if metric == "hamming" or math.isnan(self.threshold) else self.threshold


Search = Generator[list[Candidate], Sequence[Result], Result]
"""Yields candidates, takes their results, and returns the best of all."""


def search(task: FitSettings, max_rank: int) -> Search:
    """Search scaling, regularisation, further options and rank, as far as the solver has them and none is fixed.

    First the scalings with coarse weights at one rank; then all decades with the best scaling, and further ones while
    the best is at an end; then other ranks, each with the decades around the best weight; then half decades beside the
    best. Of ranks that with the best score is taken, of weights as `smoothed_best` does.
    max_rank: the largest possible rank.
    """
    better, parameter = METRICS[task.metric].better, task.free.get("regularization")
    tried = [task.rank] if task.rank else [max(1, round(share * max_rank)) for share in RANK_SHARES]
    ranks = list(dict.fromkeys(tried)) if "fitted_rank" in task.entry.options else [0]
    scalings = SCALINGS[1:] if task.scaling == "auto" else (task.scaling,)
    first: Sequence[float | None] = [task.regularization]
    if parameter:
        first = sorted({float(parameter.default), *(weight for weight in COARSE if _within(parameter, weight))})
    results = list((yield [Candidate(ranks[0], weight, scaling) for scaling in scalings for weight in first]))
    best = best_scaled(results, better).candidate
    results = [result for result in results if result.candidate.scaling == best.scaling]
    if parameter:
        between = [w for w in BETWEEN if _within(parameter, w) and w not in first]
        results += yield [best._replace(regularization=weight) for weight in between]
        results += yield from _further(parameter, results, better)
    for name in (name for name in GRIDS if name in task.free):
        best = best_of(results, better).candidate
        results += yield [best._replace(**{name: value}) for value in GRIDS[name]]  # type: ignore[arg-type]
    if ranks[1:]:
        best = smoothed_best(results, better).candidate
        weights = _decades(parameter, best.regularization) if parameter else [best.regularization]
        results += yield [best._replace(rank=k, regularization=weight) for k in ranks[1:] for weight in weights]
        for k in ranks[1:]:
            if parameter:
                results += yield from _further(parameter, [one for one in results if one.candidate.rank == k], better)
    best = best_of(results, better).candidate
    if parameter and (top := best.regularization):
        beside = [weight for weight in (top / HALF_DECADE, top * HALF_DECADE) if _within(parameter, weight)]
        results += yield [best._replace(regularization=weight) for weight in beside]
    return smoothed_best([one for one in results if one.candidate.rank == best.rank], better)


def best_of(results: Sequence[Result], better: int) -> Result:
    """Return the best result; of equal ones that of lower rank, then the first."""

    def worth(result: Result) -> tuple[float, int]:
        score = -math.inf if math.isnan(result.score) else better * result.score
        return score, -result.candidate.rank

    return max(results, key=worth)


def best_scaled(results: Sequence[Result], better: int) -> Result:
    """Return the best result, or one nearly as good whose labels are predicted better by more than `FEWER` of them.

    Rankings of the labels of a row do not see by what the row is divided; whether a score means a label does.
    """
    best = best_of(results, better)
    near = [one for one in results if better * (one.score - best.score) >= -NEARLY * abs(best.score)]
    decided = min(near or [best], key=lambda one: math.inf if math.isnan(one.wrong) else one.wrong)
    return decided if best.wrong - decided.wrong > FEWER else best


def smoothed_best(results: Sequence[Result], better: int) -> Result:
    """Return the result in the middle of a plateau of regularisation, or at the top of a parabola around the best.

    Where scores within `TIE` of the best span more than a decade, without a worse one between, the weight in their
    middle is taken: a ranking may not change with it at all. Else the parabola is fitted by least squares, over the
    logarithm of the weight, to the results within a decade of the best. A validation score is a noisy measure, and its
    largest value often a lucky one; the trend over several weights is less noisy. It is the best result itself where
    there are fewer than three, or they have no top.
    """
    best = best_of(results, better)
    if not (top := best.candidate.regularization):
        return best
    alike = [one for one in results if one.candidate._replace(regularization=top) == best.candidate]
    alike = sorted((one for one in alike if one.candidate.regularization), key=_weight)
    places = np.log([(one.candidate.regularization or np.nan) / top for one in alike])
    scores = better * np.array([one.score for one in alike])
    level = np.flatnonzero(~(scores >= better * best.score - TIE * abs(best.score)))
    middle = alike.index(best)
    start, stop = level[level < middle].max(initial=-1) + 1, level[level > middle].min(initial=len(alike))
    flat = places[start:stop]
    if np.ptp(flat) > 1.01 * math.log(10.0):
        return alike[start + int(np.abs(flat - (flat[0] + flat[-1]) / 2).argmin())]
    near = np.isfinite(scores) & (np.abs(places) < 1.01 * math.log(10.0))
    if near.sum() < 3:
        return best
    curvature, slope, _ = np.polyfit(places[near], scores[near], 2)
    if curvature >= 0:
        return best
    distance = np.where(near, np.abs(places + slope / (2 * curvature)), np.inf)
    return alike[int(distance.argmin())]


def _weight(result: Result) -> float:
    """Return the regularisation of a result."""
    return result.candidate.regularization or 0.0


def _within(parameter: Parameter, weight: float) -> bool:
    """Return whether a weight is one that may be tried."""
    return max(WEIGHT_BOUNDS[0], parameter.low) <= weight <= min(WEIGHT_BOUNDS[1], parameter.high)


def _decades(parameter: Parameter, weight: float | None) -> list[float]:
    """Return a weight and the decades beside it, as far as they are allowed."""
    return [w for w in (weight / 10, weight, weight * 10) if _within(parameter, w)] if weight else [0.0, *COARSE]


def _further(
    parameter: Parameter, results: Sequence[Result], better: int
) -> Generator[list[Candidate], Sequence[Result], list[Result]]:
    """Try further decades, one after the other, while the best is at an end of those tried; return all the results.

    An end that is no better than the weight beside it is the end of a plateau, from which nothing is to be expected.
    """
    further = list[Result]()
    while True:
        known = sorted((one for one in [*results, *further] if one.candidate.regularization), key=_weight)
        best = best_of(known, better) if known else None
        if best is None or len(known) < 2 or best not in (known[0], known[-1]):
            return further
        beside, factor = (known[1], 0.1) if best is known[0] else (known[-2], 10.0)
        weight = factor * (best.candidate.regularization or 0.0)
        if not _within(parameter, weight) or better * (best.score - beside.score) <= TIE * abs(best.score):
            return further
        further += yield [best.candidate._replace(regularization=weight)]
