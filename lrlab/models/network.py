"""Polynomial networks: y = sum_j alpha_j <w_j, x>^2, a symmetric low-rank matrix (Soltani & Hegde 2018, eq. 2-3)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.model_entry import ModelEntry
from lrlab.models.low_rank import (
    FAMILY,
    Condition,
    LowRankProblem,
    LowRankSpec,
    Noise,
    Precision,
    normal_rows,
    orthonormal,
)
from lrlab.operators.rank_one import SymmetricRankOne
from lrlab.parameters import Parameter
from lrlab.protocol import child

FRESH = 1000
"""Fresh inputs on which a network is tested."""


class NetworkProblem(LowRankProblem):
    """Training samples (x_i, y_i) of a polynomial network."""

    def draw(self) -> SymmetricRankOne:
        """Return the measurement operator."""
        spec = self.spec
        return SymmetricRankOne(normal_rows(spec.streams().data, spec.m, spec.p, spec.precision, self.checkpoint))

    @cached_property
    def _fresh(self) -> tuple[Array, Array]:
        X = child(self.spec.streams().data, 2**20).standard_normal((FRESH, self.spec.p))
        return X, predict(self.truth, X)

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of L, the training `misfit`, and `test_error`, the same on 1,000 fresh inputs.

        test_error = ||f(x) - y|| / ||y|| over fresh x, where y is free of noise.
        """
        X, y = self._fresh
        test = np.linalg.norm(predict(estimate, X) - y) / np.linalg.norm(y)
        return {**super().score(estimate), "test_error": float(test)}


@dataclass(frozen=True, kw_only=True)
class PolynomialNetwork(LowRankSpec):
    """A network with one hidden layer of squares, L = sum_j alpha_j w_j w_j^T with orthonormal w_j, ||alpha|| = 1."""

    model = "polynomial-network"
    problem = NetworkProblem
    title = "Polynomial network"
    summary = "A hidden layer of r squared units, y = x^T L x: its weights are a symmetric matrix of rank r."

    m: Annotated[int, Parameter(meaning="number of training samples", low=1, high=1_000_000, scale="log")] = 3000
    p: Annotated[int, Parameter(meaning="number of inputs", low=1, high=10_000, scale="log")] = 100
    r: Annotated[int, Parameter(meaning="number of hidden units, the rank of L", low=1, high=1000)] = 5
    condition: Condition = 1.0
    signs: Annotated[str, Parameter(meaning="signs of the output weights alpha", choices=("mixed", "positive"))] = (
        "mixed"
    )
    noise: Noise = 0.0
    precision: Precision = "double"

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.p, self.p

    @property
    def true_rank(self) -> int:  # noqa: D102
        return self.r

    @property
    def degrees_of_freedom(self) -> int:
        """Dimension of the symmetric matrices of rank r: p r - r (r - 1) / 2."""
        return self.p * self.r - self.r * (self.r - 1) // 2

    @property
    def singular_values(self) -> Array:
        """Sizes of the output weights."""
        return np.abs(self.alpha)

    @property
    def alpha(self) -> Array:
        """Output weights (r,), ||alpha|| = 1; both signs occur as soon as there are two units, if they are mixed."""
        alpha = np.geomspace(1.0, 1.0 / self.condition, self.r)
        if self.signs == "mixed":
            alpha = alpha * np.where(np.arange(self.r) % 2, -1.0, 1.0)
        return alpha / np.linalg.norm(alpha)

    @property
    def moment_variance(self) -> float:
        """Variance of an entry off the diagonal, E[y^2] / (4 m) with E[y^2] = 2 ||L||_F^2 + tr(L)^2 + noise^2."""
        return float((2.0 + self.alpha.sum() ** 2 + self.noise**2) / (4.0 * self.m))

    @property
    def data_bytes(self) -> int:
        """Memory of all inputs and answers."""
        return (4 if self.precision == "single" else 8) * self.m * (self.p + 1)

    def factors(self) -> LowRank:
        """Return L with uniformly distributed hidden weights."""
        W = orthonormal(np.random.default_rng(self.streams().truth), self.p, self.r)
        return LowRank(W, self.alpha, W)


def weights(estimate: LowRank) -> tuple[Array, Array]:
    """Return output weights alpha (r,) and hidden weights w_j, the rows of (r, p), of a recovered network."""
    return estimate.s, estimate.U.T


def predict(estimate: LowRank, X: Array) -> Array:
    """Return the network's answers (n,) at inputs X (n, p)."""
    return (X @ estimate.U) ** 2 @ estimate.s


ENTRY = ModelEntry(
    spec=PolynomialNetwork,
    family=FAMILY,
    plane=("r", "m"),
    along="m",
    along_range=(500.0, 20_000.0, "log"),
    measures=("test_error",),
    held={"p": 40},
)
