"""Polynomial networks: y = sum_j alpha_j <w_j, x>^2, a symmetric low-rank matrix (Soltani & Hegde 2018, eq. 2-3)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import relative
from lrlab.lowrank import LowRank
from lrlab.model_entry import ModelEntry
from lrlab.models import views
from lrlab.models.low_rank import FAMILY, Condition, LowRankSpec, Noise, Precision
from lrlab.models.low_rank_problem import LowRankProblem, normal_rows, orthonormal
from lrlab.operators.rank_one import SymmetricRankOne
from lrlab.parameters import InputError, choice, number
from lrlab.protocol import View, child
from lrlab.theory.spiked import BlockNoise


class NetworkProblem(LowRankProblem):
    """Training samples (x_i, y_i) of a polynomial network."""

    def draw(self) -> SymmetricRankOne:
        """Return the measurement operator."""
        spec = self.spec
        return SymmetricRankOne(normal_rows(spec.streams().data, spec.m, spec.p, spec.precision, self.checkpoint))

    @cached_property
    def _fresh(self) -> tuple[Array, Array]:
        X = child(self.spec.streams().data, 2**20).standard_normal((1000, self.spec.p))
        return X, predict(self.truth, X)

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of L, the training `misfit`, and `test_error` on 1,000 fresh inputs.

        test_error = ||f(x) - y|| / ||y|| over fresh x with noiseless y.
        """
        X, y = self._fresh
        return {**super().score(estimate), "test_error": relative(predict(estimate, X), y)}


@dataclass(frozen=True, kw_only=True)
class PolynomialNetwork(LowRankSpec):
    """A network with one hidden layer of squares, L = sum_j alpha_j w_j w_j^T with orthonormal w_j, ||alpha|| = 1.

    With weights=gaussian L is U diag(+-1) U^T over its norm, U (p, r) is standard normal, and alpha are its
    eigenvalues. Soltani & Hegde (section 4) do not divide by ||U U^T||_F, so that their noise is smaller by this
    factor.
    """

    model = "polynomial-network"
    problem = NetworkProblem
    title = "Polynomial network"
    summary = "A hidden layer of r squared units, y = xᵀLx: its weights are a symmetric matrix of rank r."
    equation = (
        r"y_i = x_i^\top L\, x_i + \sigma e_i, \qquad L = \sum_{j=1}^r \alpha_j w_j w_j^\top \in \mathbb R^{p \times p}"
    )

    m: Annotated[int, number(1, 1_000_000, "training samples", scale="log")] = 3000
    p: Annotated[int, number(1, 10_000, "number of inputs", scale="log")] = 100
    r: Annotated[int, number(1, 1000, "hidden units, the rank of L")] = 5
    condition: Condition = 1.0
    signs: Annotated[str, choice("mixed", "positive", help="signs of the output weights α")] = "mixed"
    noise: Noise = 0.0
    precision: Precision = "double"
    weights: Annotated[
        str, choice("orthonormal", "gaussian", "digits", help="hidden weights; digits are p-pixel images", added=True)
    ] = "orthonormal"

    def check(self) -> None:
        """Reject an impossible rank, and a condition number for weights that have their own."""
        super().check()
        if self.weights == "digits":
            views.digits(self.p, self.r)
        if self.weights == "gaussian" and self.condition != 1:
            expected = "1 if weights=gaussian, whose condition number is random"
            raise InputError("condition", expected, self.condition, "take weights=orthonormal to choose it")

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.p, self.p

    @property
    def true_rank(self) -> int:  # noqa: D102
        return self.r

    def unknowns(self, rank: int) -> int:
        """Return the dimension of the symmetric matrices of a rank: p r - r (r - 1) / 2."""
        return self.p * rank - rank * (rank - 1) // 2

    @property
    def entries(self) -> int:
        """Entries of a symmetric matrix: p (p + 1) / 2."""
        return self.p * (self.p + 1) // 2

    @property
    def singular_values(self) -> Array:
        """Magnitudes of the output weights."""
        return np.abs(self.alpha)

    @property
    def alpha(self) -> Array:
        """Output weights (r,), ||alpha|| = 1; mixed signs alternate."""
        if self.weights == "gaussian":
            return self.factors().s
        alpha = self._signs * np.geomspace(1.0, 1.0 / self.condition, self.r)
        return alpha / np.linalg.norm(alpha)

    @property
    def _signs(self) -> Array:
        alternating = np.where(np.arange(self.r) % 2, -1.0, 1.0)
        return alternating if self.signs == "mixed" else np.abs(alternating)

    @property
    def moment_noise(self) -> BlockNoise:
        """Variances of entries off the diagonal: E[y^2] / (4 m), and with w_j E[y^2 <w_j, x>^2] / (4 m).

        E[y^2] = 2 ||L||_F^2 + tr(L)^2 + noise^2, and with <w_j, x>^2 it is larger by 8 alpha_j^2 + 4 alpha_j tr(L).
        """
        alpha, trace = self.alpha, float(self.alpha.sum())
        rest = 2.0 + trace**2 + self.noise**2
        own = (rest + 8.0 * alpha**2 + 4.0 * trace * alpha) / (4.0 * self.m)
        return BlockNoise(rest / (4.0 * self.m), own, own)

    @property
    def data_bytes(self) -> int:
        """Memory of all inputs and responses."""
        return (4 if self.precision == "single" else 8) * self.m * (self.p + 1)

    absent_metrics = ("test_squares", "cold_error")
    view_words = "The image of each hidden unit wⱼ under the estimate: L̂ wⱼ / αⱼ."

    def view(self, estimate: LowRank | None) -> View | None:
        """Return the hidden units as images, if they are digits."""
        return views.units_view(views.factors_of(self), estimate) if self.weights == "digits" else None

    def factors(self) -> LowRank:
        """Return L with uniformly distributed hidden weights, or with Gaussian ones."""
        rng = np.random.default_rng(self.streams().truth)
        if self.weights != "gaussian":
            W = orthonormal(rng, self.p, self.r) if self.weights == "orthonormal" else views.digits(self.p, self.r)
            return LowRank(W, self.alpha, W)
        Q, R = np.linalg.qr(rng.standard_normal((self.p, self.r)))
        core = (R * self._signs) @ R.T
        return lowrank.from_core(Q, core / np.linalg.norm(core), self.r)


def predict(estimate: LowRank, X: Array) -> Array:
    """Return the network's responses (n,) at inputs X (n, p)."""
    return (X @ estimate.U) ** 2 @ estimate.s


ENTRY = ModelEntry(
    spec=PolynomialNetwork,
    family=FAMILY,
    main=("m", "r", "noise"),
    plane=("r", "m"),
    along="m",
    along_range=(500.0, 20_000.0, "log"),
    held={"m": 450, "p": 45},
)
