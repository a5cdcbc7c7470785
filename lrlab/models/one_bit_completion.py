"""1-bit matrix completion: one bit per observed entry of a low-rank matrix (Davenport et al. 2014)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import frozen
from lrlab.losses import LOGISTIC, PROBIT, Loss
from lrlab.lowrank import LowRank
from lrlab.model_entry import COMMON_MEASURES, OVER_BOUND, Family, Goal, Measure, Measured, ModelEntry, Outcome, best_of
from lrlab.models import views
from lrlab.models.low_rank import Rank, mean_bound
from lrlab.operators.entries import Entries
from lrlab.parameters import InputError, choice, number
from lrlab.protocol import Checkpoint, Problem, Spec, View, child, proceed
from lrlab.theory.cramer_rao import least_error

LINKS = {"probit": PROBIT, "logistic": LOGISTIC}
LARGEST = 1.0
"""Size of the largest entry of the table."""
SCORED_ENTRIES = 2**18
"""Entries, in the first rows, that the distances of probabilities and bits use: all of 512 x 512."""


class OneBitCompletionProblem(Problem):
    """Bits of one spec. Only the score may read the truth.

    Attributes: spec; truth (LowRank); its rank and trace_norm; largest, the magnitude of its largest entry; width, the
    scale of the noise; likelihood of a bit given its margin; operator, the observed entries; y (m,), their bits.
    """

    largest = LARGEST

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.truth, self.checkpoint = spec, spec.factors(), checkpoint
        self.rank, self.width, self.likelihood = spec.rank, spec.noise, spec.likelihood
        self.trace_norm = float(self.truth.s.sum())
        for part in self.truth:
            frozen(part)

    def load(self, everything: bool) -> None:
        """Draw indices and bits."""
        _ = self.y

    @cached_property
    def operator(self) -> Entries:
        """The observed entries."""
        spec, (n1, n2) = self.spec, self.spec.table
        places = child(spec.streams().data, 0).choice(n1 * n2, size=spec.measurements, replace=False, shuffle=False)
        operator = Entries(None, None, spec.table, *np.divmod(np.sort(places), n2))
        operator.checkpoint = self.checkpoint
        return operator

    @cached_property
    def y(self) -> Array:
        """The bits (m,), 1 or -1."""
        rng, clean = child(self.spec.streams().noise, 0), self.operator(self.truth)
        e = rng.standard_normal(len(clean)) if self.spec.link == "probit" else rng.logistic(size=len(clean))
        return frozen(np.where(clean + self.width * e > 0, 1.0, -1.0))

    @cached_property
    def truth_loss(self) -> float:
        """Mean of -log P(bit) under the truth."""
        return float(self.likelihood.value(self.y * self.operator(self.truth) / self.width).mean())

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return errors of the estimate as a matrix, and of its predictions of bits.

        `error` = ||M-hat - M|| / ||M||, `squared_error` its square; on the first rows `hellinger`, the mean squared
        Hellinger distance of the laws of a bit, and `hamming`, the fraction of entries whose more likely bit is wrong.
        """
        rows = max(1, SCORED_ENTRIES // self.spec.n2)
        guess, true = (W.left[:rows] @ W.V.T for W in (estimate, self.truth))
        error = lowrank.errors(estimate, self.truth)["error"]
        # sqrt(P) sqrt(Q) of both bits, by the losses, which are exact for tiny probabilities.
        losses = [[self.likelihood.value(sign * M / self.width) for M in (guess, true)] for sign in (1.0, -1.0)]
        affinity = sum(np.exp(-(one + other) / 2.0) for one, other in losses)
        return {
            "error": error,
            "squared_error": error**2,
            "hellinger": float(np.mean(2.0 - 2.0 * affinity)),
            "hamming": float(np.mean((guess > 0) != (true > 0))),
        }

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return whether the truth, which every solver could choose, has a loss smaller by a thousandth."""
        return row["objective"] > 1.001 * self.truth_loss


@dataclass(frozen=True, kw_only=True)
class OneBitCompletion(Spec):
    """Bits y_ij in +-1 of entries sampled uniformly without replacement; the largest |M_ij| is 1."""

    model = "one-bit-completion"
    title = "1-bit matrix completion"
    summary = "One bit per observed entry of a low-rank matrix: larger entries are more likely to give 1."
    equation = (
        r"y_{ij} = \operatorname{sign}(M_{ij} + \sigma e_{ij}) \ \text{ for } (i, j) \in \Omega,"
        r" \qquad \operatorname{rank} M = k, \quad \max |M_{ij}| = 1"
    )

    n1: Annotated[int, number(2, 5000, "rows of the table", symbol="n₁", scale="log")] = 100
    n2: Annotated[int, number(2, 5000, "columns of the table", symbol="n₂", scale="log")] = 100
    rank: Rank = 1
    observed: Annotated[float, number(1e-4, 1, "fraction of the entries with a bit", scale="log")] = 0.5
    link: Annotated[str, choice("probit", "logistic", help="law of e: standard normal (probit) or logistic")] = "probit"
    noise: Annotated[float, number(1e-3, 100, "scale of the noise", symbol="σ", scale="log")] = 0.3
    truth: Annotated[
        str, choice("random", "films", help="the table: random, or ratings of movies in k genres", added=True)
    ] = "random"

    view_words = "Simulated ratings of invented movies by invented users, from blue (worst) to red."

    def view(self, estimate: LowRank | None) -> View | None:
        """Return the first ratings, with names."""
        return views.table_view(views.factors_of(self), estimate) if self.truth == "films" else None

    @property
    def table(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n1, self.n2

    @property
    def measurements(self) -> int:
        """Number of bits."""
        return max(1, round(self.observed * self.n1 * self.n2))

    @property
    def true_rank(self) -> int:
        """Rank of the table."""
        return self.rank

    @property
    def degrees_of_freedom(self) -> int:
        """Dimension of the manifold of tables of this rank."""
        return self.rank * (self.n1 + self.n2 - self.rank)

    @property
    def data_bytes(self) -> int:
        """Memory of indices and bits, and of the noise that produces them."""
        return 8 * (7 * self.measurements + self.n1 + self.n2)

    @property
    def likelihood(self) -> Loss:
        """The likelihood of a bit by its margin y M_ij / noise."""
        return LINKS[self.link]

    def check(self) -> None:
        """Reject a rank above the smaller side."""
        if self.rank > min(self.table):
            expected = f"in 1..min{self.table} = {min(self.table)}"
            raise InputError("rank", expected, self.rank, "lower rank, or make the table larger")

    def build(self, checkpoint: Checkpoint = proceed) -> OneBitCompletionProblem:
        """Draw the truth; the first access draws indices and bits."""
        return OneBitCompletionProblem(self, checkpoint)

    def factors(self) -> LowRank:
        """Return M = U V^T, U and V uniform in -1/2..1/2, scaled to a largest entry of 1 (their section 4.1)."""
        rng = np.random.default_rng(self.streams().truth)
        U, V = (rng.uniform(-0.5, 0.5, (side, self.rank)) for side in self.table)
        if self.truth == "films":
            # A movie belongs mainly to one genre. A single genre for all would give a matrix of stripes.
            genres = np.eye(self.rank) if self.rank > 1 else np.array([[1.0], [-1.0]])
            V = 0.2 * V + genres[np.arange(self.n2) % len(genres)]
        height = max(1, SCORED_ENTRIES // self.n2)
        largest = max(float(np.abs(U[i : i + height] @ V.T).max()) for i in range(0, self.n1, height))
        M = lowrank.from_product(U, V)
        return M._replace(s=M.s * (LARGEST / largest))


def measured(spec: OneBitCompletion) -> Measured:
    """Return a corner of the table of bits."""
    problem = spec.build()
    m, unknowns = spec.measurements, spec.degrees_of_freedom
    words = f"{m:,} bits for {unknowns:,} degrees of freedom, {m / unknowns:.3g} bits for each. Blue: 1."
    return Measured(words, views.corner(problem.operator, problem.y, "bits", "bits"))


def verdict(spec: OneBitCompletion, outcomes: Sequence[Outcome]) -> str:
    """Return the smallest error, its fraction of wrong bits, and the bound if it is known."""
    counted = f"{spec.measurements / spec.degrees_of_freedom:.3g} bits for each degree of freedom"
    bound = next((one.predictions["bound_error"] for one in outcomes if "bound_error" in one.predictions), None)
    if bound is not None:
        counted += f", with a Cramér-Rao bound of {bound:.2g}"
    best = best_of(outcomes)
    if best is None:
        return f"{counted}."
    wrong = f"{best.scores['hamming']:.2g} of the bits wrong"
    return f"Error {best.scores['error']:.2g}, {wrong}, {best.course}: {counted}."


def bound(spec: OneBitCompletion) -> dict[str, float]:
    """Return the `mean_bound` of the information in bits; nothing if the bits do not determine the matrix."""

    def least(problem: OneBitCompletionProblem) -> float:
        z = problem.operator(problem.truth) / spec.noise
        # Information of a bit about its margin: f'^2 / (f (1 - f)), the product of the slopes of both losses.
        information = problem.likelihood.slope(z) * problem.likelihood.slope(-z)
        return least_error(problem.operator, problem.truth, spec.noise, np.sqrt(information))

    return mean_bound(spec, least)


FAMILY = Family(
    name="one-bit-completion",
    measures={
        "error": Measure("error  ‖M̂ − M‖ / ‖M‖", "relative Frobenius distance from the table: 0 is exact, 1 nothing"),
        "squared_error": Measure("squared error  ‖M̂ − M‖² / ‖M‖²", "its square, as Davenport et al. (2014) plot it"),
        "hellinger": Measure(
            "Hellinger distance²", "of the laws of a bit, (√p − √q)² + (√(1−p) − √(1−q))², mean over entries"
        ),
        "hamming": Measure("wrong bits", "fraction of the entries whose more likely bit is wrong"),
        "error_over_bound": OVER_BOUND,
        **COMMON_MEASURES,
    },
    goal=Goal("error", above=0.5),
    solvers=("one-bit-factors", "one-bit-trace-norm"),
    measured=measured,
    verdict=verdict,
    order=("one-bit-factors", "one-bit-trace-norm"),
    ranges={
        "noise": (0.01, 10.0, "log"),
        "observed": (0.05, 1.0, "log"),
        "rank": (1.0, 6.0, "linear"),
        "n1": (20.0, 500.0, "log"),
        "n2": (20.0, 500.0, "log"),
    },
    limits={"max_iter": 200},
    falls=("rank",),
    grows=("observed",),
    best=bound,
)

ENTRY = ModelEntry(
    spec=OneBitCompletion,
    family=FAMILY,
    main=("observed", "noise", "rank"),
    plane=("noise", "observed"),
    held={"n1": 50, "n2": 50},
)
