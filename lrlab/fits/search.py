"""Proposes settings of a solver to be tried on rows held out, and says which result is best."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lrlab.fits.calibration import Calibration
from lrlab.fits.own_files import default_rank
from lrlab.fits.settings import Candidate, FitSettings
from lrlab.models.own_rows import OwnThresholds

SCALINGS = ("auto", "rows")
"""Scalings that are tried: what suits the features one by one, and rows of one length, as texts want them."""
WEIGHTS, RATES, MARGINS = (1e-3, 1e4), (1e-2, 1.0), (0.1, 3.0)
"""Ranges of regularisation, and of WSABIE's options, which Yu et al. (2014), section 5, tuned by hand."""
LEAST_RANK = 0.2
"""Smallest rank that is tried, as a share of the largest possible one."""
LEAD = 5e-3
"""Relative lead of a score, below which a scaling is not better than another one."""
SETTINGS = (1, 8, 20, 30)
"""How many settings are tried where so many numbers are free."""
ROWS_A_SETTING = 5
"""Rows for each setting that is tried: the best of more than so many is chance."""


class Result(NamedTuple):
    """The best score of a candidate on the validation rows, and its iteration; nan where there is none.

    threshold: the score above which labels of these rows are best predicted, nan where it is not better than the
    estimate's own. own: labels with a threshold of their own. calibration: of the scores.
    """

    candidate: Candidate
    iterations: int
    score: float
    threshold: float = math.nan
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


def proposals(settings: FitSettings, max_rank: int, rows: int) -> list[Candidate]:
    """Return the settings that are tried, at once and in any order: those of a fit that is not tuned, and others.

    The others are a Latin hypercube over all numbers that are not fixed.
    Each of n settings has a range of its own in every n-th of each axis: rank, and the logarithms of regularisation and
    further options. Measured beside Optuna's TPE, scikit-learn's successive halving and a search by stages: none of
    them reached better test scores in the same time (benchmarks/RESULTS.md).
    max_rank: the largest possible rank. rows: how many there are.
    """
    # Imported here: a fit that is not tuned does without it.
    from scipy.stats.qmc import LatinHypercube

    axes = _axes(settings, max_rank)
    rank = settings.rank if "fitted_rank" in settings.entry.options else 0
    fixed = Candidate(rank, settings.regularization, settings.scaling)
    scalings = SCALINGS if settings.scaling == "auto" else (settings.scaling,)
    count = max(min(SETTINGS[min(len(axes), 3)], rows // ROWS_A_SETTING), len(scalings))
    points = LatinHypercube(1 + len(axes), seed=settings.seed).random(count)
    given: dict[str, Any] = dict(settings.options)
    untuned = fixed._replace(**{name: given[name] for name in axes if name != "rank"})
    if "rank" in axes:
        untuned = untuned._replace(rank=default_rank(max_rank))
    others = [
        fixed._replace(
            scaling=scalings[int(first * len(scalings))],
            **{name: axis(share) for (name, axis), share in zip(axes.items(), shares, strict=True)},
        )
        for first, *shares in points.tolist()
    ]
    # One scaling after the other: rows are scaled once for each.
    return sorted(dict.fromkeys([untuned, *others]), key=lambda candidate: candidate.scaling)


def _axes(settings: FitSettings, max_rank: int) -> Mapping[str, Callable[[float], Any]]:
    """Return the numbers that are free, each with its value at a share of its range."""
    axes = dict[str, Callable[[float], Any]]()
    if "fitted_rank" in settings.entry.options and not settings.rank:
        axes["rank"] = lambda share: max(1, round((LEAST_RANK + (1 - LEAST_RANK) * share) * max_rank))
    for name, (low, high) in (("regularization", WEIGHTS), ("rate", RATES), ("margin", MARGINS)):
        if name in settings.free:
            one = settings.free[name]
            axes[name] = partial(_between, max(low, one.low), min(high, one.high))
    return axes


def _between(low: float, high: float, share: float) -> float:
    """Return the number at a share of the way between two, by logarithms."""
    return low * (high / low) ** share


def best_of(results: Sequence[Result], better: int) -> Result:
    """Return the best result; of equal ones that of lower rank, of these the one in the middle of the weights.

    Rows of one length have to be better by LEAD than features as they are: on few rows held out less is noise.
    """

    def worth(result: Result) -> tuple[float, int]:
        score = -math.inf if math.isnan(result.score) else better * result.score
        return score, -result.candidate.rank

    def best_among(some: Sequence[Result]) -> Result:
        best = max(map(worth, some))
        equal = sorted((one for one in some if worth(one) == best), key=lambda one: one.candidate.regularization or 0.0)
        return equal[(len(equal) - 1) // 2]

    best, plain = best_among(results), [one for one in results if one.candidate.scaling != "rows"]
    if plain and better * (best.score - (other := best_among(plain)).score) < LEAD * abs(best.score):
        return other
    return best
