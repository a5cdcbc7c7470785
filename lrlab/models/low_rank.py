"""Problems whose truth is a low-rank matrix: what their specs share, and the facts of their family."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.model_entry import COMMON_MEASURES, OVER_BOUND, Family, Measure, Success
from lrlab.models import views
from lrlab.models.low_rank_problem import OUTLIER, LowRankProblem, orthonormal
from lrlab.parameters import InputError, choice, gaussian_noise, number
from lrlab.protocol import Checkpoint, Spec, proceed
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory.bulk import nuclear_norm
from lrlab.theory.cramer_rao import least_error
from lrlab.theory.spiked import BlockNoise

Noise = Annotated[float, gaussian_noise("each measurement")]
Rank = Annotated[int, number(1, 1000, "rank of the matrix", symbol="k")]
Condition = Annotated[
    float, number(1, 1e6, "condition number; singular values are log-spaced", symbol="κ", scale="log")
]
Precision = Annotated[str, choice("double", "single", help="arithmetic of data and solvers")]
BOUND_DRAWS = 3
"""Fewest draws in the mean of the bound."""
MOST_OF_A_BOUND = 2**22
"""Entries of the matrix to decompose per draw."""


@dataclass(frozen=True, kw_only=True)
class LowRankSpec(Spec):
    """Linear measurements b = A(W) + noise of a matrix W (rows, columns) of low rank, ||W||_F = 1."""

    problem: ClassVar[type[LowRankProblem]]

    assumed_rank: Annotated[int, number(0, 1000, "largest rank that solvers try; 0: the true rank", added=True)] = 0
    rank_guess: Annotated[
        str, choice("none", "held-out", help="rank given to solvers: the true one, or an estimate", added=True)
    ] = "none"
    outliers: Annotated[float, number(0, 0.5, "fraction of outliers of 10 times the signal", added=True)] = 0.0

    @property
    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Rows and columns of W."""

    @property
    def measurements(self) -> int:
        """Number of measurements m."""
        return int(self.values()["m"])

    @property
    def true_rank(self) -> int:
        """Rank of W."""
        return int(self.values()["rank"])

    @property
    def given_rank(self) -> int:
        """Rank that solvers receive, the largest candidate if it is assumed or estimated."""
        return self.largest_guess if self.rank_guess != "none" else self.assumed_rank or self.true_rank

    @property
    def largest_guess(self) -> int:
        """Largest candidate rank: at most 50, 2 or half of the possible ones, and as many unknowns as measurements."""
        most = self.assumed_rank or min(50, *self.size, max(2, min(self.size) // 2))
        return max(k for k in range(1, most + 1) if k == 1 or self.unknowns(k) <= self.measurements)

    def unknowns(self, rank: int) -> int:
        """Return the dimension of the manifold of matrices of a rank."""
        rows, columns = self.size
        return rank * (rows + columns - rank)

    @property
    def degrees_of_freedom(self) -> int:
        """Dimension of the manifold of such matrices: fewer measurements do not determine one."""
        return self.unknowns(self.true_rank)

    @property
    def withheld(self) -> tuple[str, ...]:
        """Oracle information that solvers do not receive after all."""
        return () if self.rank_guess == "none" else ("rank",)

    @property
    def entries(self) -> int:
        """Number of entries: with as many measurements, low rank is not needed."""
        return math.prod(self.size)

    @property
    def remark(self) -> str:
        """Warn if the measurements do not determine W."""
        m, unknowns = self.measurements, self.degrees_of_freedom
        if m >= unknowns:
            wrong = self.rank_guess == "none" and self.given_rank != self.true_rank
            return f"Solvers are given the rank {self.given_rank}; the true one is {self.true_rank}." if wrong else ""
        return f"Fewer measurements ({m}) than degrees of freedom ({unknowns}): infinitely many matrices fit them."

    def judgement(self, scores: Mapping[str, float]) -> str:
        """State the estimated rank, and whether the residual norm shows that an assumed rank is too small.

        It does if it is a fifth larger than the noise, and larger than rounding.
        """
        guess, said = scores.get("guessed_rank"), ""
        if guess and self.rank_guess != "none":
            said = f"Guessed rank {guess:g} ({self.rank_guess}); the true one is {self.true_rank}."
        elif guess and guess < self.assumed_rank:
            said = f"Rank {guess:g} is the least up to {self.assumed_rank} that fits."
        noise = float(self.values()["noise"])
        wrong = noise**2 + OUTLIER**2 * self.outliers
        leaves = math.sqrt(wrong / (1.0 + wrong))
        misfit = scores.get("misfit", 0.0)
        given, assumed = guess or self.assumed_rank, self.rank_guess == "none" and guess in (None, self.assumed_rank)
        if not given or not misfit > 1.2 * leaves + 1e-6:
            return said
        return (
            f"{said} The residual norm, {misfit:.2g}, is larger than noise leaves, {leaves:.2g}: the run is not at its "
            f"end, or the {'assumed' if assumed else 'guessed'} rank {given:g} is too small."
        ).lstrip()

    @property
    def moment_noise(self) -> BlockNoise | None:
        """Variances of the unbiased moment that spectral initializations decompose; None if they are uninformative.

        E[b^2] / m for most entries, and E[b^2 <v_j, z>^2] / m for entries along v_j of rank-one measurements.
        """
        rest = 1.0 + float(self.values()["noise"]) ** 2
        own = rest + (0.0 if self.values().get("operator") == "dense" else 2.0) * np.square(self.singular_values)
        return BlockNoise(rest / self.measurements, own / self.measurements, own / self.measurements)

    def check(self) -> None:
        """Reject a rank that no such matrix has."""
        if self.true_rank > min(self.size):
            name = "r" if "r" in self.values() else "rank"
            remedy = f"lower {name}, or make the matrix larger"
            raise InputError(name, f"in 1..min{self.size} = {min(self.size)}", self.true_rank, remedy)
        if self.assumed_rank > min(self.size):
            expected = f"in 0..min{self.size} = {min(self.size)}"
            raise InputError("assumed_rank", expected, self.assumed_rank, "lower it, or make the matrix larger")

    def build(self, checkpoint: Checkpoint = proceed) -> LowRankProblem:
        """Draw the truth; the first access draws the measurements."""
        return self.problem(self, self.factors(), checkpoint)

    table = property(lambda spec: (0, 0))
    """Rows and columns of the matrix whose entries are measured; (0, 0) for other measurements."""

    scarce_rows = property(lambda spec: None)
    """Expected number of rows that no method recovers; None for measurements other than entries."""

    norm = property(lambda spec: 1.0)
    """Frobenius norm of W."""

    @property
    def singular_values(self) -> Array:
        """Singular values of W (k,), evenly spaced in their logarithm."""
        s = np.geomspace(1.0, 1.0 / float(self.values()["condition"]), self.true_rank)
        return self.norm * s / np.linalg.norm(s)

    def factors(self) -> LowRank:
        """Return W with uniformly distributed singular vectors."""
        rng = np.random.default_rng(self.streams().truth)
        (rows, columns), k = self.size, self.true_rank
        return LowRank(orthonormal(rng, rows, k), self.singular_values, orthonormal(rng, columns, k))


def theory_lines(spec: Any, entry: SolverEntry, options: Options, rule: Success) -> dict[str, bool]:
    """Return whether measurements reach the degrees of freedom, and the sides of other lines.

    With ln 2 expected rows that have fewer entries than the rank, half of the matrices have such a row (Poisson). The
    statistical dimension holds for dense Gaussian matrices and exact measurements.
    """
    lines = {"degrees of freedom": spec.measurements >= spec.degrees_of_freedom}
    if spec.scarce_rows is not None:
        lines["k entries in every row"] = spec.scarce_rows <= math.log(2)
    if entry.name == "least-squares":
        lines["all entries"] = spec.measurements >= spec.entries
    if entry.name == "complete-then-regress":
        (n1, n2), k = spec.table, spec.true_rank
        lines["degrees of freedom of the table"] = spec.measurements >= k * (n1 + n2 - k)
    exact = not spec.outliers and not spec.values()["noise"]
    if entry.name == "nuclear-norm" and exact and spec.values().get("operator") == "dense":
        lines["statistical dimension"] = spec.measurements >= nuclear_norm(*spec.size, spec.true_rank)
    return lines


def noise_bound(spec: Any, work: float = 2e8, most: int = 60) -> dict[str, float]:
    """Return the `mean_bound` with Gaussian noise, nothing without. work: multiplications for all draws, at most."""
    noise, unknowns = float(spec.values()["noise"]), spec.degrees_of_freedom
    # Near the degrees of freedom draws differ much.
    draws = min(most, max(BOUND_DRAWS, int(work / (unknowns**2 * spec.measurements))))
    return mean_bound(spec, lambda one: least_error(one.operator, one.truth, noise), draws) if noise else {}


def mean_bound(spec: Any, least: Callable[[Any], float], draws: int = BOUND_DRAWS) -> dict[str, float]:
    """Return `bound_error`, the Cramer-Rao bound of the error over some draws of a spec (root mean square).

    least: the bound of a problem. Nothing if it would take more than some seconds, or if a bound is infinite.
    """
    if spec.degrees_of_freedom * spec.measurements > MOST_OF_A_BOUND:
        return {}
    problems = (spec.replace(seed=seed).build() for seed in range(draws))
    known = math.sqrt(np.mean(np.square([least(problem) for problem in problems])))
    return {"bound_error": known} if math.isfinite(known) else {}


FAMILY = Family(
    name="low-rank",
    measures={
        "error": Measure("error  ‖Ŵ − W‖ / ‖W‖", "relative Frobenius distance from the ground truth: 0 is exact"),
        "error_over_bound": OVER_BOUND,
        "spectral_error": Measure("spectral error", "the same in the spectral norm, over the largest singular value"),
        "weakest_error": Measure(
            "error over the smallest singular value  ‖Ŵ − W‖₂ / s_k",
            "spectral norm of the error over the smallest singular value of W: below 0.1 W is recovered",
        ),
        "misfit": Measure("residual norm  ‖A(Ŵ) − b‖ / ‖b‖", "residual norm relative to the measurements"),
        "test_error": Measure("test error", "relative error of noiseless responses on 1,000 fresh inputs"),
        "test_squares": Measure("squared errors of 100 points", "sum over noiseless responses at 100 fresh points"),
        "cold_error": Measure("error on cold rows", "relative error on rows of the table without any observed entry"),
        "guessed_rank": Measure("guessed rank", "estimated rank that solvers receive", constant=True),
        **COMMON_MEASURES,
    },
    goal=views.GOAL,
    solvers=("gauss-newton", "tangent-descent", "altmin", "ep-rom"),
    measured=views.measured_matrix,
    verdict=views.verdict_matrix,
    order=(
        "matrix-irls",
        "gauss-newton",
        "tangent-descent",
        "gnimc",
        "r2rils",
        "altmin",
        "scaled-gradient",
        "svp",
        "trimmed-gauss-newton",
        "soft-impute",
        "als",
        "ep-rom",
        "ap-rom",
        "gfm",
        "geco",
        "nuclear-norm",
        "complete-then-regress",
        "least-squares",
    ),
    model_order=("rank-one-sensing", "inductive-completion", "multilabel-regression", "polynomial-network"),
    ranges={
        "per-freedom": (0.8, 4.0, "linear"),
        "rank": (1.0, 8.0, "linear"),
        "r": (1.0, 8.0, "linear"),
        "m": (60.0, 1000.0, "log"),
    },
    limits={"max_iter": 25},
    grows=("m", "observed", "per-freedom"),
    falls=("rank", "r", "p", "d", "d1", "d2", "noise", "condition", "missing"),
    lines=theory_lines,
    best=noise_bound,
)
