"""Labels from random projections: their posterior under a sparsity prior, and the predictor."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array, Matrix
from lrlab.ranking import THRESHOLDS, Scores
from lrlab.solvers.multilabel.hidden_labels import Sparsity, height, posterior, systems

CACHED_BLOCKS = 8
"""Blocks of scores that are kept, as several metrics read each."""
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
        """Return what had these `arrays`; ValueError for settings of no such estimate, as of a damaged file."""
        estimate = cls(**arrays)
        shape, rate, variance, rounds = estimate.settings
        if min(shape, rate, variance) <= 0 or not 1 <= rounds <= MOST:
            raise ValueError(f"settings {estimate.settings} of no such estimate")
        return estimate
