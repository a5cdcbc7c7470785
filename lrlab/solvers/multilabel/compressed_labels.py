"""Labels from random projections: their posterior under a sparsity prior, and the predictor."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array, Matrix
from lrlab.ranking import THRESHOLDS, Scores

BLOCK = 2**19
"""Numbers of the largest table that is held for a block of rows: it shall fit into the processor's cache."""
CACHED_BLOCKS = 8
"""Blocks of predictions held in the cache, since several measures read each."""
MOST = 1000
"""Rounds that labels of a row may take."""
SMALLEST = 16
"""Size of matrices that are inverted by LAPACK."""


class Posterior(NamedTuple):
    """Gaussian posteriors of some rows of labels: mean and variance (b, L); trace and log determinant of each G^-1."""

    mean: Array
    variance: Array
    trace: Array
    logarithm: Array


def posterior(rest: Array, v: Array, Phi: Array, variance: float) -> Posterior:
    """Return the posterior of labels y ~ N(0, diag(v)) from Phi y = rest + noise of a variance s^2.

    rest (b, k), Phi (k, L), v (b, L), or (1, L) where it is that of all rows, as `Posterior.variance` is then. Where
    v = 0 the label is known, and its part is no longer in `rest`: mean and variance are 0.
    With G = s^2 I + Phi diag(v) Phi^T: mean = v Phi^T G^-1 rest, variance = v - v^2 diag(Phi^T G^-1 Phi).
    """
    root = inverse_roots(systems(v, Phi, variance))
    whitened = root @ Phi
    mean = v * ((root @ rest[:, :, None]).mT @ whitened)[:, 0]
    logarithm = 2.0 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    left = np.maximum(v - v**2 * np.einsum("bkl,bkl->bl", whitened, whitened), 0.0)
    return Posterior(mean, left, np.einsum("bkc,bkc->b", root, root), logarithm)


def systems(v: Array, Phi: Array, variance: float) -> Array:
    """Return G = s^2 I + Phi diag(v) Phi^T of each row of v, (b, k, k)."""
    k = len(Phi)
    G = (Phi * v[:, None, :]) @ Phi.T
    G[:, range(k), range(k)] += variance
    return G


def inverse_roots(G: Array) -> Array:
    """Return R with R^T R = G^-1 of positive definite matrices (b, k, k), lower triangular but for rounding."""
    return inverted(np.linalg.cholesky(G))


def inverted(factors: Array) -> Array:
    """Return inverses of lower triangular matrices (b, k, k), half by half: small products are fast, LAPACK is not."""
    k = factors.shape[-1]
    if k <= SMALLEST:
        return np.linalg.inv(factors)
    h, inverse = k // 2, np.zeros_like(factors)
    inverse[:, :h, :h], inverse[:, h:, h:] = inverted(factors[:, :h, :h]), inverted(factors[:, h:, h:])
    inverse[:, h:, :h] = -(inverse[:, h:, h:] @ factors[:, h:, :h] @ inverse[:, :h, :h])
    return inverse


def height(Phi: Array) -> int:
    """Return how many rows make a block."""
    k, L = Phi.shape
    return max(1, BLOCK // (k * max(k, L)))


class Sparsity(NamedTuple):
    """The prior of a label y_j, N(0, 1 / alpha_j) with alpha_j ~ Gamma(shape, rate): heavy tails about zero."""

    shape: float
    rate: float

    @property
    def variance(self) -> float:
        """The variance of a label of which nothing is known yet, 1 / E[alpha]."""
        return self.rate / self.shape

    def variances(self, squares: Array) -> Array:
        """Return 1 / E[alpha_j] of the best Gamma factor, from E[y_j^2]."""
        return (self.rate + squares / 2) / (self.shape + 0.5)


NO_OFFSET = np.zeros(1)
"""Of projections without an intercept; older files have none."""


class Compressed(NamedTuple):
    """Predicts labels y of a row x from z = W^T x + offset, the projection Phi y with noise: E[y | z] under the prior.

    W (d, k), Phi (k, L), offset (k,) or 0. settings (4,): shape and rate of the prior, the variance of the
    noise, and how many times variances of labels and their posterior are computed from each other. Not linear in x
    unless that is once.
    """

    W: Array
    Phi: Array
    settings: Array
    offset: Array = NO_OFFSET

    @property
    def threshold(self) -> float:
        """The score above which a label is predicted, see `models.multilabel_problem.Predictor`."""
        return THRESHOLDS["zero-one"]

    @property
    def s(self) -> Array:
        """Singular values of W Phi (d, L)."""
        return lowrank.from_product(self.W, self.Phi.T).s

    def scores(self, X: Matrix) -> Scores:
        """Return E[y | W^T x_i], (n, L), as a function of a slice of rows."""
        Z = X @ self.W + self.offset

        @lru_cache(maxsize=CACHED_BLOCKS)
        def decoded(start: int, stop: int) -> Array:
            step = height(self.Phi)
            return np.vstack([self.labels(Z[at : min(at + step, stop)]) for at in range(start, stop, step)])

        return lambda rows: decoded(*rows.indices(len(Z))[:2])

    def labels(self, Z: Array) -> Array:
        """Return E[y | z] of some rows (b, k)."""
        shape, rate, variance, rounds = self.settings
        prior = Sparsity(shape, rate)
        # At first nothing tells rows apart: one system for all.
        v = np.full((1, self.Phi.shape[1]), prior.variance)
        for _ in range(int(rounds) - 1):
            estimate = posterior(Z, v, self.Phi, variance)
            v = prior.variances(estimate.mean**2 + estimate.variance)
        images = np.linalg.solve(systems(v, self.Phi, variance), Z[:, :, None])[:, :, 0]
        return v * (images @ self.Phi)

    def arrays(self) -> dict[str, Array]:
        """Return all that it consists of, by name."""
        return self._asdict()

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`."""
        estimate = cls(**arrays)
        shape, rate, variance, rounds = estimate.settings
        # A damaged file would make a row take for ever, or divide by zero.
        if min(shape, rate, variance) <= 0 or not 1 <= rounds <= MOST:
            raise ValueError(f"settings {estimate.settings} of no such estimate")
        return estimate
