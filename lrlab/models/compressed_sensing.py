"""Compressed sensing: a sparse signal from fewer linear measurements than unknowns, quantized or exact."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import frozen, support_recall, unit
from lrlab.model_entry import (
    COMMON_MEASURES,
    POSSIBLE,
    Family,
    Goal,
    Measure,
    Measured,
    ModelEntry,
    Outcome,
    Success,
    recovery,
)
from lrlab.models.signals import overlap_at, strip
from lrlab.parameters import InputError, choice, gaussian_noise, number
from lrlab.protocol import Checkpoint, Problem, Spec, View, proceed
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory import sparse_limits
from lrlab.theory.state_evolution import ratios

RECOVERED = 1e-2
"""Relative error of a recovered signal."""


@dataclass(frozen=True, kw_only=True)
class CompressedSensing(Spec):
    """y = Q(A x + sigma e), A (n, p) with N(0, 1/n) entries, x with s nonzero entries of mean square 1."""

    model = "compressed-sensing"
    title = "Compressed sensing"
    summary = (
        "A sparse signal from fewer linear measurements than entries: y = Ax + σe, quantized to a few bits or not."
    )
    equation = r"y = Q_b(A x + \sigma e), \quad A_{ij} \sim N(0, 1/n), \quad \|x\|_0 = s, \quad \|x\|^2 = s"

    n: Annotated[int, number(2, 100_000, "number of measurements", scale="log")] = 300
    p: Annotated[int, number(2, 100_000, "length of the signal", scale="log")] = 500
    sparsity: Annotated[int, number(1, 100_000, "entries other than 0", symbol="s", scale="log")] = 50
    noise: Annotated[float, gaussian_noise("each measurement, against √(s/n) of the projections")] = 0.0
    bits: Annotated[int, number(0, 8, "bits per measurement; 0 for all digits, 1 for the sign")] = 0
    entries: Annotated[str, choice("gaussian", "signs", "nonnegative", help="law of the entries other than 0")] = (
        "gaussian"
    )

    def check(self) -> None:  # noqa: D102
        if self.sparsity > self.p:
            raise InputError("sparsity", f"at most p = {self.p}", self.sparsity, "lower sparsity or raise p")

    @property
    def data_bytes(self) -> int:  # noqa: D102
        return 8 * self.n * (self.p + 1)

    @property
    def measurements(self) -> int:  # noqa: D102
        return self.n

    @property
    def degrees_of_freedom(self) -> int:  # noqa: D102
        return self.sparsity

    @property
    def remark(self) -> str:  # noqa: D102
        return "One bit says nothing about the length of x: lrlab compares directions." if self.bits == 1 else ""

    @property
    def index_noise(self) -> float:
        """Standard deviation of the noise, relative to the projections A x."""
        return self.noise * math.sqrt(self.n / self.sparsity)

    @property
    def effective_noise(self) -> float:
        """Standard deviation of y - A x, quantization included."""
        scale = self.sparsity / self.n + self.noise**2
        return math.sqrt(self.noise**2 + scale * sparse_limits.quantizer(self.bits).variance)

    def build(self, checkpoint: Checkpoint = proceed) -> "SparseProblem":
        """Return the problem; its data are simulated when they are read."""
        return SparseProblem(self, checkpoint)


class SparseProblem(Problem):
    """Data of one spec: A (n, p), y (n,), cells (n,), the indices of y among the quantizer's cells.

    noise: standard deviation of y - A x, quantization included. y is scaled so that y - A x is uncorrelated with A x.
    """

    def __init__(self, spec: CompressedSensing, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.checkpoint, self.shape = spec, checkpoint, (spec.n, spec.p)
        self.sparsity, self.noise, self.nonnegative = spec.sparsity, spec.effective_noise, spec.entries == "nonnegative"
        self.bits, self.index_noise = spec.bits, spec.index_noise
        rng = np.random.default_rng(spec.streams().truth)
        x, support = np.zeros(spec.p), rng.permutation(spec.p)[: spec.sparsity]
        x[support] = rng.standard_normal(spec.sparsity)
        x = np.sign(x) if spec.entries == "signs" else np.abs(x) if spec.entries == "nonnegative" else x
        self.truth = frozen(x * math.sqrt(spec.sparsity) / np.linalg.norm(x))

    def load(self, everything: bool) -> None:  # noqa: D102
        _ = self._data

    @cached_property
    def _data(self) -> tuple[Array, Array, Array]:
        (n, p), streams, quantizer = self.shape, self.spec.streams(), sparse_limits.quantizer(self.bits)
        A = np.random.default_rng(streams.data).standard_normal((n, p)) / math.sqrt(n)
        y = A @ self.truth + self.spec.noise * np.random.default_rng(streams.noise).standard_normal(n)
        scale = math.sqrt(self.sparsity / n + self.spec.noise**2)
        cells = np.searchsorted(quantizer.edges, y / scale)
        return frozen(A), frozen(scale * quantizer.values[cells] if self.bits else y), frozen(cells)

    A = property(lambda self: self._data[0])
    y = property(lambda self: self._data[1])
    cells = property(lambda self: self._data[2])

    def score(self, estimate: Array) -> dict[str, float]:
        """Return `error`, `overlap` and `support` of an estimate (p,); with one bit, the error of its direction.

        error = ||x-hat - x|| / ||x||. support: the fraction of the s largest entries of x-hat in the support of x.
        """
        x, size = self.truth, float(np.linalg.norm(self.truth))
        compared = unit(estimate) * size if self.bits == 1 else estimate
        return {
            "error": float(np.linalg.norm(compared - x)) / size,
            "overlap": float(unit(estimate) @ x / size) ** 2,
            "support": support_recall(estimate, x),
        }


def measured(spec: Any) -> Measured:
    """Return the first measurements of a spec."""
    digits = f"{spec.bits} bits" if spec.bits > 1 else "one bit" if spec.bits else "all digits"
    words = f"{spec.n:,} measurements of {digits} for {spec.sparsity:,} of {spec.p:,} entries other than 0."
    first = spec.build().y[:400]
    return Measured(words, {f"the first {len(first)} measurements": View(strip(first))})


def fewest(spec: Any) -> float:
    """Return the smallest n that lets l1 minimization recover the signal without noise, asymptotically."""
    return spec.p * sparse_limits.l1_threshold(spec.sparsity / spec.p, spec.entries == "nonnegative")


def verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return how many solvers recover the signal, and the Donoho-Tanner threshold."""
    level = FAMILY.goal.level(spec.effective_noise * math.sqrt(spec.n / spec.sparsity))
    beside = f"n = {spec.n:,}; ℓ₁ minimization recovers exact data from n = {math.ceil(fewest(spec)):,}"
    return recovery(outcomes, "signal", "error", level, beside)


def lines(spec: Any, entry: SolverEntry, options: Options, rule: Success) -> dict[str, bool]:
    """Return whether n exceeds the Donoho-Tanner threshold, for exact data and solvers that minimize the l1 norm."""
    if spec.noise or spec.bits or entry.name not in ("basis-pursuit", "amp", "lasso"):
        return {}
    return {"Donoho-Tanner": spec.n > fewest(spec)}


def margins(spec: Any, rule: Success) -> dict[str, float]:
    """Return log n/p minus its value if the limit of polynomial-time methods just exceeds a level."""
    overlap = 1.0 - rule.level**2 if rule.metric == "error" and spec.bits != 1 else overlap_at(rule)
    channel = sparse_limits.channel_of(spec)
    if overlap is None or not 0.0 < overlap < 1.0 or channel is None:
        return {}
    needed = ratios(channel, overlap, spec.sparsity / spec.p).fast
    return {POSSIBLE: math.log(spec.n / spec.p / needed)} if np.isfinite(needed) else {}


FAMILY = Family(
    name="compressed-sensing",
    measures={
        "error": Measure("relative error  ‖x̂ − x‖ / ‖x‖", "relative distance from the signal, or of directions"),
        "overlap": Measure("squared overlap", "squared cosine with the ground truth: 1 is exact", rising=True),
        "support": Measure("fraction of the support", "fraction of the s largest entries in the support", rising=True),
        **COMMON_MEASURES,
    },
    goal=Goal("error", RECOVERED, noises=3.0),
    solvers=("amp", "lasso", "omp"),
    measured=measured,
    verdict=verdict,
    signal="x",
    order=("basis-pursuit", "lasso", "amp", "gamp", "omp", "niht", "cosamp"),
    ranges={
        "ratio": (0.05, 0.95, "linear"),
        "sparsity-ratio": (0.05, 0.95, "linear"),
        "n": (50.0, 450.0, "linear"),
        "p": (100.0, 2000.0, "log"),
        "sparsity": (5.0, 100.0, "linear"),
        "noise": (0.0, 0.5, "linear"),
    },
    grows=("n", "ratio"),
    falls=("sparsity", "sparsity-ratio", "noise"),
    asymptotics=sparse_limits.bayes_limits,
    lines=lines,
    margins=margins,
)

ENTRY = ModelEntry(
    spec=CompressedSensing, family=FAMILY, main=("n", "sparsity", "noise"), plane=("ratio", "sparsity-ratio")
)
