"""Labels from random projections under a sparsity prior: posteriors of unobserved labels, and the predictor."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array, Matrix, Scores
from lrlab.lowrank import THRESHOLDS

BLOCK = 2**19
"""Numbers of the largest table per block of rows, which fits into the processor's cache."""


def posterior(rest: Array, v: Array, Phi: Array, variance: float) -> tuple[Array, Array]:
    """Return mean and variance (b, L) of labels y ~ N(0, diag(v)) given Phi y = rest + noise of a variance s^2.

    rest (b, k), Phi (k, L), v (b, L), or (1, L) for all rows alike, as the variance is then. A label with v = 0 is
    known, and not part of `rest`: its mean and variance are 0.
    With G = s^2 I + Phi diag(v) Phi^T: mean = v Phi^T G^-1 rest, variance = v - v^2 diag(Phi^T G^-1 Phi).
    """
    systems = (Phi * v[:, None, :]) @ Phi.T + variance * np.eye(len(Phi))
    root = np.linalg.inv(np.linalg.cholesky(systems))
    whitened = root @ Phi
    mean = v * ((root @ rest[:, :, None]).mT @ whitened)[:, 0]
    return mean, np.maximum(v - v**2 * np.einsum("bkl,bkl->bl", whitened, whitened), 0.0)


def height(Phi: Array) -> int:
    """Return the number of rows per block."""
    return max(1, BLOCK // (len(Phi) * max(Phi.shape)))


def spread(squares: Array, shape: float, rate: float) -> Array:
    """Return 1 / E[alpha_j] of the best factor of labels y_j ~ N(0, 1 / alpha_j), from E[y_j^2].

    alpha_j ~ Gamma(shape, rate): heavy tails about zero, and a variance of rate / shape before any data.
    """
    return (rate + squares / 2) / (shape + 0.5)


def inferred(
    v: Array, observed: Array, predicted: Array, Phi: Array, shape: float, rate: float, variance: float
) -> tuple[Array, Array]:
    """Return variances of unobserved labels after an update of their posterior, and E[Y] Phi^T of all labels (n, k).

    v: their prior variances (n, L), 0 if observed. observed, predicted: Phi y_obs and W^T x, (n, k).
    """
    variances, images = np.zeros_like(v), observed.copy()
    for start in range(0, len(v), height(Phi)):
        cut = slice(start, start + height(Phi))
        mean, unsure = posterior(predicted[cut] - observed[cut], v[cut], Phi, variance)
        images[cut] += mean @ Phi.T
        variances[cut] = np.where(v[cut] > 0, spread(mean**2 + unsure, shape, rate), 0.0)
    return variances, images


MOST = 1000
"""Most variational rounds for the labels of a row."""


class Compressed(NamedTuple):
    """Predicts labels y of a row x from z = W^T x + offset, the projection Phi y with noise: E[y | z] under the prior.

    W (d, k), Phi (k, L), offset (k,) or 0. settings (4,): shape and rate of the prior, the variance of the noise, and
    the number of times that variances of labels and their posterior are computed from each other: linear in x if once.
    """

    W: Array
    Phi: Array
    settings: Array
    offset: Array = np.zeros(1)

    @property
    def threshold(self) -> float:
        """The score above which a label is predicted, see `models.multilabel.Predictor`."""
        return THRESHOLDS["zero-one"]

    @property
    def s(self) -> Array:
        """Singular values of W Phi (d, L)."""
        return lowrank.from_product(self.W, self.Phi.T).s

    def scores(self, X: Matrix) -> Scores:
        """Return E[y | W^T x_i], (n, L), as a function of a slice of rows."""
        Z = X @ self.W + self.offset

        # Several metrics read each block.
        @lru_cache(maxsize=8)
        def decoded(start: int, stop: int) -> Array:
            step = height(self.Phi)
            return np.vstack([self.labels(Z[at : min(at + step, stop)]) for at in range(start, stop, step)])

        return lambda rows: decoded(*rows.indices(len(Z))[:2])

    def labels(self, Z: Array) -> Array:
        """Return E[y | z] of some rows (b, k)."""
        shape, rate, variance, rounds = self.settings
        # At first nothing tells rows apart: one system for all.
        v = np.full((1, self.Phi.shape[1]), rate / shape)
        for _ in range(int(rounds)):
            mean, unsure = posterior(Z, v, self.Phi, variance)
            v = spread(mean**2 + unsure, shape, rate)
        return mean

    def arrays(self) -> dict[str, Array]:
        """Return all that it consists of, by name."""
        return self._asdict()

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`; ValueError for settings of no such estimate, as of a damaged file."""
        estimate = cls(**arrays)
        shape, rate, variance, rounds = estimate.settings
        if min(shape, rate, variance) <= 0 or not 1 <= rounds <= MOST:
            raise ValueError(f"settings {estimate.settings} of no such estimate")
        return estimate
