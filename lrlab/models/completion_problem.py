"""Observed entries of X W Y^T as problems: their data and the metrics of estimates of W."""

from functools import cached_property

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices, frozen
from lrlab.lowrank import LowRank
from lrlab.models.low_rank_problem import LowRankProblem
from lrlab.operators.entries import Entries
from lrlab.protocol import child

FRESH, SUMMED = 1000, 100
"""Test points of a regression, and the number of points in the sum `test_squares`."""
CORRELATION = 0.9


class TableProblem(LowRankProblem):
    """Observed entries of a matrix, sampled uniformly without replacement.

    Attributes in addition to LowRankProblem: X (n1, d1) or None, Y (n2, d2) or None for the identity, as solvers see
    them; cold, the rows without any observed entry.
    """

    Y: Array | None = None
    X: Array | None
    operator: Entries

    def draw(self) -> Entries:
        """Return the measurement operator."""
        spec, (n1, n2) = self.spec, self.spec.table
        rng = child(spec.streams().data.spawn(3)[2], 0)
        places = np.sort(rng.choice(n1 * n2, size=spec.measurements, replace=False, shuffle=False))
        rows, columns = np.divmod(places, n2)
        free = (n1 if self.X is None else 1) * (n2 if self.Y is None else 1)
        return Entries(self.X, self.Y, (n1, n2), rows, columns, free / len(places))

    @cached_property
    def cold(self) -> Indices:
        """Rows without any observed entry."""
        return np.setdiff1d(np.arange(self.spec.table[0]), self.operator.rows)


class CompletionProblem(TableProblem):
    """Entries of a matrix with features.

    Features are whitened (Lemma 6 of the paper) and scaled to X^T X = n1 I, so that the mean of x x^T is I; W refers to
    these coordinates. incoherence: largest ||x_i|| / sqrt(d) over both sides, 1 for perfectly spread features.
    """

    @cached_property
    def X(self) -> Array | None:  # type: ignore[override]
        """The whitened features of rows."""
        return self._features(0)

    @cached_property
    def Y(self) -> Array | None:  # type: ignore[override]
        """The whitened features of columns."""
        return self._features(1)

    def _features(self, side: int) -> Array | None:
        spec = self.spec
        if spec.features == "canonical":
            return None
        rng = child(spec.streams().data.spawn(3)[side], 0)
        X = features(rng, spec.table[side], spec.size[side], correlated=spec.features == "correlated")
        return frozen(np.linalg.qr(X)[0] * np.sqrt(len(X)))

    @cached_property
    def incoherence(self) -> float:
        """The largest ||x_i|| / sqrt(d) over both sides."""
        if self.X is None or self.Y is None:
            return float(np.sqrt(max(self.spec.table)))
        return max(float(np.sqrt((X**2).sum(axis=1).max() / X.shape[1])) for X in (self.X, self.Y))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of W, `misfit`, `cold_error` on rows without observations, and `incoherence`."""
        scores = {**super().score(estimate), "incoherence": self.incoherence}
        if len(self.cold):
            scores["cold_error"] = relative(self._cold_rows(estimate), self._cold_rows(self.truth))
        return scores

    def _cold_rows(self, W: LowRank) -> Array:
        left = W.left[self.cold] if self.X is None else self.X[self.cold] @ W.left
        return left @ W.V.T


class RegressionProblem(TableProblem):
    """Observed responses at points x ~ N(0, I)."""

    @cached_property
    def X(self) -> Array:  # type: ignore[override]
        """The points (n, d)."""
        return frozen(child(self.spec.streams().data.spawn(3)[0], 0).standard_normal((self.spec.n, self.spec.d)))

    @cached_property
    def _fresh(self) -> Array:
        return child(self.spec.streams().data.spawn(3)[1], 0).standard_normal((FRESH, self.spec.d))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of W, `misfit`, and errors of all responses at 1,000 fresh points.

        `test_error` is relative; `test_squares` is the mean sum of squared errors over 100 points (Jain & Dhillon 2013,
        section 6).
        """
        fresh, truth = (self._fresh @ W.left @ W.V.T for W in (estimate, self.truth))
        squares = float(np.square(fresh - truth).sum()) * SUMMED / FRESH
        return {**super().score(estimate), "test_error": relative(fresh, truth), "test_squares": squares}


def features(rng: Generator, n: int, d: int, *, correlated: bool) -> Array:
    """Return features (n, d), normal; correlated ones follow an autoregression over columns, rows of unequal weight.

    Whitening removes the correlation; the unequal rows stay, as incoherence.
    """
    X = rng.standard_normal((n, d))
    if not correlated:
        return X
    lag = np.arange(d)
    covariance = CORRELATION ** np.abs(lag[:, None] - lag)
    return (X @ np.linalg.cholesky(covariance).T) * np.exp(rng.standard_normal((n, 1)) / 2)


def relative(estimate: Array, truth: Array) -> float:
    """Return ||estimate - truth|| / ||truth||."""
    return float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth))
