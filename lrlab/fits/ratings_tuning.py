"""Chooses rank, ridge, iterations and weight of a low-rank part on held-out ratings, beside biases alone."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.fits.biased_als import Line, bias_line
from lrlab.fits.fit_result import Row
from lrlab.fits.given import run_given
from lrlab.fits.ratings_solvers import OWN, PENALTIES, RIDGES, Candidate, RatingsRun
from lrlab.fits.tuning import Progress
from lrlab.models.ratings_problem import RatingTable, rms
from lrlab.protocol import Iterate, Limits

WORTH = 1e-3
"""Share by which a larger rank has to lower the error on held-out ratings."""
PATIENCE, SETTLED = 12, 5e-4
"""A run ends where so many iterations have not lowered the squared error by such a share."""
CERTAIN, CERTAIN_OF_FEW = 2.0, 3.0
"""Standard errors by which a low-rank part has to be better than biases alone, also of fewer than FOLDS_RATINGS."""
MOMENTS = ("off_d", "d_d", "off_d_squared", "off_d_cubed", "d_d_squared")
ROUNDING = 1e-12
FEWEST = 20
"""Ratings without which none are held out, and biases alone are fitted."""
FOLDS_RATINGS = 4000
"""Training ratings from which one draw of held-out ones is enough."""


class Result(NamedTuple):
    """A candidate at its best iteration: weight of its fit beside the line of biases, and what is gained by it.

    rmse: on the held-out ratings. gain: of mean squared error over the line; error: standard error of that.
    """

    candidate: Candidate
    iterations: int
    share: float
    rmse: float
    gain: float
    error: float

    def row(self) -> dict[str, float]:
        """Return it as a row of the table of what was tried."""
        numbers = {name: value for name, value in self.candidate.options.items() if name in PENALTIES}
        return {"rank": self.candidate.rank, **numbers, "iterations": self.iterations, "rmse": self.rmse}


@dataclass
class HeldOutRun(RatingsRun):
    """Held-out ratings, and by how much the line of biases misses them: `off`."""

    off: Array = field(default_factory=lambda: np.zeros(0))

    def score(self, estimate: Any) -> dict[str, float]:
        """Return the sums MOMENTS of products of `off` and the change d of the predictions."""
        places, off = (self.table.test.rows, self.table.test.columns), self.off
        d = self.factors(estimate).at(*places) - self.line.factors.at(*places)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = off @ d, d @ d, (off * d) @ (off * d), (off * d) @ d**2, d**2 @ d**2
        return dict(zip(MOMENTS, map(float, sums), strict=True))


class Tuner:
    """Held-out parts of the training ratings, on which candidates are compared with the line of biases."""

    def __init__(
        self,
        solver: str,
        table: RatingTable,
        given: AbstractSet[str],
        options: Mapping[str, Any],
        ending: Limits,
        seed: int,
        progress: Progress,
    ) -> None:
        """Hold out a tenth of the ratings, of few ones each fifth in turn. given: options that are not tuned."""
        self.solver, self.given, self.options, self.ending, self.seed = solver, given, options, ending, seed
        self.progress, self.results = progress, list[Result]()
        m = len(table.b)
        parts, most = (10, 1) if m >= FOLDS_RATINGS else (5, math.ceil(FOLDS_RATINGS / m))
        self.tables = table.folds(parts, most, np.random.default_rng((2, seed)))
        self.lines = [bias_line(one) for one in self.tables]
        self.off = [
            one.test.values - one.mean - line.factors.at(one.test.rows, one.test.columns)
            for one, line in zip(self.tables, self.lines, strict=True)
        ]
        self.line_rmse = rms(np.concatenate(self.off))
        self.certain = CERTAIN if m >= FOLDS_RATINGS else CERTAIN_OF_FEW

    def evaluate(self, candidate: Candidate) -> Result:
        """Return a candidate's best iteration over all held-out parts."""
        parts = [self._moments(candidate, *part) for part in zip(self.tables, self.lines, self.off, strict=True)]
        # A run that ended earlier stays where it was.
        longest = range(max(map(len, parts)))
        sums = [np.sum([part[min(i, len(part) - 1)] for part in parts], axis=0) for i in longest]
        iterations = [self._result(candidate, i, one) for i, one in enumerate(sums)]
        best = iterations[peak([result.gain for result in iterations])]
        self.results.append(best)
        self.progress(len(self.results), min(result.rmse for result in self.results))
        return best

    def _moments(self, candidate: Candidate, table: RatingTable, line: Line, off: Array) -> list[Array]:
        """Return sums over held-out ratings, for each iterate, of products of the line's errors and the change d."""
        run, at = HeldOutRun(table, line, self.solver, candidate.rank, off=off), list[Array]([np.zeros(5)])
        gains = [0.0]

        def watch(row: Row, iterate: Iterate) -> None:
            # The first is the line itself, so that a run without any iterate has a score.
            at.append(np.array([row[name] for name in MOMENTS]))
            share = self._share(at[-1])
            gains.append(2 * share * at[-1][0] - share**2 * at[-1][1])

        def settled() -> bool:
            """Say whether the last iterations have hardly lowered the squared error."""
            earlier, last = gains[:-PATIENCE], gains[-PATIENCE:]
            return bool(earlier) and max(last) - max(earlier) <= SETTLED * (float(off @ off) - max(earlier))

        run_given(run, run.entry, candidate.options, self.ending, self.seed, watch, settled)
        return at

    def _share(self, sums: Array) -> float:
        """Return the weight of a fit that is best on held-out ratings; 1 for a solver with ridges of its own."""
        if self.solver == OWN:
            return 1.0
        return float(np.clip(sums[0] / sums[1], 0.0, 1.0)) if sums[1] > 0 and np.isfinite(sums).all() else 0.0

    def _result(self, candidate: Candidate, iterations: int, sums: Array) -> Result:
        t, count = self._share(sums), sum(map(len, self.off))
        total = 2 * t * sums[0] - t**2 * sums[1] if t else 0.0
        squares = 4 * t**2 * sums[2] - 4 * t**3 * sums[3] + t**4 * sums[4] if t else 0.0
        error = math.sqrt(max(squares - total**2 / count, 0.0)) / count
        rmse = math.sqrt(max(self.line_rmse**2 - total / count, 0.0))
        return Result(candidate, iterations, t, rmse, total / count, error)

    def search(self, ranks: Sequence[int]) -> Result | None:
        """Return the best candidate, None where none is better than biases alone by a standard error."""
        best: Result | None = None
        for rank in ranks:
            candidate = Candidate(rank, best.candidate.options if best else self.options)
            ridged = [] if best or self.solver == OWN else self._with_ridges(candidate)
            tried = [self.evaluate(one) for one in ridged or [candidate]]
            now = max(tried, key=lambda result: result.gain)
            if best and now.rmse > (1 - WORTH * (best.candidate.rank > 0)) * best.rmse:
                break
            best = now
        if self.solver == OWN and best:
            with_factors = Candidate(best.candidate.rank or min(filter(None, ranks)), self.options)
            tried = [self.evaluate(candidate) for candidate in self._with_ridges(with_factors)]
            best = max([best, *tried], key=lambda result: result.gain)
        return best if best and best.gain > self.certain * best.error else None

    def _with_ridges(self, candidate: Candidate) -> list[Candidate]:
        """Return it with ridges to try, in the units of the objective; none where there is no ridge, or a given one."""
        if self.solver not in RIDGES or "ridge" in self.given:
            return []
        shares, unit = RIDGES[self.solver]
        weight = unit(self.tables[0], self.lines[0], self.line_rmse)
        return [candidate._replace(options={**candidate.options, "ridge": share * weight}) for share in shares]


def peak(gains: Sequence[float]) -> int:
    """Return the place of the largest gain; of gains that rounding cannot tell apart the last, unless they are 0."""
    largest = max(gains)
    return max(i for i, gain in enumerate(gains) if gain >= largest * (1.0 - ROUNDING)) if largest > 0 else 0
