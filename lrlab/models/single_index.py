"""Single-index models: one-bit responses that depend on x only through <x, b>, by any link (Yi et al. 2015)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import align, frozen, length, support_recall
from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, ModelEntry
from lrlab.models import signals
from lrlab.models.pictures import Entries, Picture, PicturedSpec, Truth
from lrlab.parameters import InputError, Parameter, choice, gaussian_noise, number
from lrlab.protocol import Checkpoint, Problem, child, proceed
from lrlab.theory.finite_best import why_no_best
from lrlab.theory.formula_link import READY, FormulaLink, checked
from lrlab.theory.links import Link, LogisticLink, SignLink, ThresholdLink

IN_MEMORY = 256 * 2**20
BLOCK_BYTES = 16 * 2**20
SCORED_ROWS = 4096

Noise = Annotated[float, gaussian_noise("⟨x, b⟩ before quantization")]
Flip = Annotated[float, number(0, 0.5, "flip probability", symbol="pₑ", added=True)]
Design = Annotated[
    str, choice("gaussian", "correlated", "student", "rademacher", help="distribution of the rows of X", added=True)
]
Correlation = Annotated[
    float, number(-0.99, 0.99, "correlation of neighboring entries, if design=correlated", added=True)
]
Freedom = Annotated[float, number(2.5, 100, "degrees of freedom, if design=student", symbol="ν", added=True)]


@dataclass(frozen=True, kw_only=True)
class SingleIndexSpec(PicturedSpec):
    """Responses y_i = +-1 with P(y_i = 1) = (1 + f(<x_i, b>)) / 2, x_i ~ N(0, I_p), ||b|| = 1 (eq. 1.1)."""

    law: ClassVar[type[Link]]

    undetermined = "scale"

    n: Annotated[int, number(2, 1_000_000, "number of measurements", scale="log")] = 3000
    p: Annotated[int, number(2, 10_000, "length of the signal", scale="log")] = 20
    sparsity: Annotated[int, number(0, 10_000, "non-zero entries of the signal; 0: all", symbol="s")] = 0
    truth: Truth = "random"
    picture: Picture = ""
    entries: Entries = "gaussian"
    flip: Flip = 0.0
    design: Design = "gaussian"
    correlation: Correlation = 0.5
    freedom: Freedom = 5.0

    @property
    def absent_metrics(self) -> tuple[str, ...]:
        """The support of a signal without zeros."""
        return () if self.sparsity else ("support",)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The sparsity of a signal without zeros."""
        return () if self.sparsity else ("sparsity",)

    @property
    def link_function(self) -> Link:
        """The link function f, whose numbers are parameters of the same names."""
        return self.law(**{number.name: getattr(self, number.name) for number in fields(self.law)})

    @property
    def theory_holds(self) -> bool:
        """Whether the predictions apply, which assume Gaussian designs."""
        return self.design == "gaussian"

    @property
    def remark(self) -> str:
        """Warn if theory does not apply."""
        if self.theory_holds:
            return ""
        return f"No asymptotic limits: they hold for independent Gaussian entries; this design is {self.design}."

    @property
    def data_bytes(self) -> int:
        """Memory of all measurements, held at once."""
        return 8 * self.n * (self.p + 1)

    def check(self) -> None:
        """Reject a sparsity above p, or for an image."""
        if self.sparsity > self.p:
            raise InputError("sparsity", f"in 0..p = {self.p}", self.sparsity, "lower the sparsity or raise p")
        super().check()
        if self.side and self.sparsity:
            remedy = "set it to 0, or take a random signal"
            raise InputError("sparsity", "0 if the signal is an image", self.sparsity, remedy)

    def build(self, checkpoint: Checkpoint = proceed) -> "SingleIndexProblem":
        """Draw the truth; the first access draws the measurements."""
        return SingleIndexProblem(self, checkpoint)

    def draw_truth(self) -> Array:
        """Return the unit vector b (p,)."""
        if self.truth != "random":
            b = self.drawn_picture()
        else:
            b, s, rng = np.zeros(self.p), self.sparsity or self.p, np.random.default_rng(self.streams().truth)
            values = rng.standard_normal(s) if self.entries == "gaussian" else rng.choice([-1.0, 1.0], size=s)
            b[rng.choice(self.p, size=s, replace=False) if s < self.p else slice(None)] = values
        return b / np.linalg.norm(b)


def draw_design(design: str, rng: Generator, out: Array, correlation: float, freedom: float) -> None:
    """Draw rows (n, p) of a design into `out`."""
    if design in ("gaussian", "correlated"):
        rng.standard_normal(out=out)
    if design == "correlated":
        out[:, 1:] *= math.sqrt(1.0 - correlation**2)
        for j in range(1, out.shape[1]):
            out[:, j] += correlation * out[:, j - 1]
    if design == "student":
        out[:] = rng.standard_t(freedom, size=out.shape) * math.sqrt(1.0 - 2.0 / freedom)
    if design == "rademacher":
        out[:] = np.where(rng.random(out.shape) < 0.5, -1.0, 1.0)


class SingleIndexProblem(Problem):
    """Measurements of one spec, read in blocks. Only the score may read the truth.

    Attributes: spec; truth (p,), unit norm; link; shape (n, p); sparsity, the spec's number of non-zero entries, or p
    (for solvers that request it); X (n, p) and y (n,) in +-1, all data, read-only.
    """

    def __init__(self, spec: SingleIndexSpec, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.link, self.shape, self.checkpoint = spec, spec.link_function, (spec.n, spec.p), checkpoint
        self.truth = frozen(spec.draw_truth())
        self.sparsity = spec.sparsity or spec.p
        # Even, so that a pair of consecutive measurements is never parted; and a function of p alone, so that the
        # first rows are the same for every n.
        self.block_rows = max(2, BLOCK_BYTES // (16 * spec.p) * 2)

    def load(self, everything: bool) -> None:
        """Draw the stored data, so that drawing does not count as solver time."""
        if everything or self.spec.data_bytes <= IN_MEMORY:
            _ = self._data

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield (X_k, y_k) in order, fresh or read-only; each pass draws large data anew.

        Passes report to the run's checkpoint, which raises Interrupted to end the run.
        """
        n, rows = self.shape[0], self.block_rows
        for start in range(0, n, rows):
            self.checkpoint(start / n)
            if self.spec.data_bytes <= IN_MEMORY:
                yield self.X[start : start + rows], self.y[start : start + rows]
            else:
                yield self._draw(start // rows)

    def first_answers(self, most: int) -> Array:
        """Return the first responses, at most one block, from their rows only."""
        p, rows = self.spec.p, min(self.block_rows, self.spec.n)
        return self._draw(0, out=np.empty((min(most, rows), p)))[1]

    def _draw(self, index: int, out: Array | None = None) -> tuple[Array, Array]:
        (n, p), streams = self.shape, self.spec.streams()
        rows = min(self.block_rows, n - index * self.block_rows)
        # Designs are simulated row by row, so that the first rows do not depend on the others.
        X = np.empty((rows, p)) if out is None else out
        draw_design(self.spec.design, child(streams.data, index), X, self.spec.correlation, self.spec.freedom)
        rng = child(streams.noise, index)
        noise, uniform = rng.standard_normal(rows)[: len(X)], rng.random(rows)[: len(X)]
        noisy = X @ self.truth + self.link.noise * noise
        y = np.where(uniform < (1.0 + self.link.base(noisy)) / 2.0, 1.0, -1.0)
        return X, y

    @cached_property
    def _data(self) -> tuple[Array, Array]:
        n, p = self.shape
        X, y = np.empty((n, p)), np.empty(n)
        for start in range(0, n, self.block_rows):
            self.checkpoint(start / n)
            rows = slice(start, start + self.block_rows)
            y[rows] = self._draw(start // self.block_rows, out=X[rows])[1]
        return frozen(X), frozen(y)

    @property
    def X(self) -> Array:
        """All measurement vectors (n, p)."""
        return self._data[0]

    @property
    def y(self) -> Array:
        """All responses (n,), +1 or -1."""
        return self._data[1]

    @cached_property
    def _scored(self) -> tuple[Array, Array]:
        X, y = next(self.blocks())
        return X[:SCORED_ROWS], y[:SCORED_ROWS]

    def score(self, estimate: Array) -> dict[str, float]:
        """Return `error` (sign-free l2 distance of unit vectors), `overlap` <b, b-hat>^2, `misfit`, `support`.

        misfit = mean (y - f(<x, b-hat>))^2 with the true link f, on at most the first 4,096 measurements, under the
        better of the two signs. support = fraction of the true support among the largest entries (sparse truths only).
        An estimate of zeros has error sqrt(2), overlap and support 0.
        """
        b = align(estimate, self.truth)
        X, y = self._scored
        index = X @ b
        # Of y = +-1: two products are a third of the time of the mean of squares.
        misfit = 1.0 + min(m @ m - 2.0 * (y @ m) for m in (self.link(index), self.link(-index))) / len(y)
        # An estimate of zeros names no direction: its distance from the truth, 1, is less than most guesses have.
        distance = length(b - self.truth) if b.any() else math.sqrt(2.0)
        scores = {"error": distance, "overlap": float(b @ self.truth) ** 2}
        if not self.truth.all():
            scores["support"] = support_recall(b, self.truth)
        return {**scores, "misfit": float(misfit)}


@dataclass(frozen=True, kw_only=True)
class OneBitSensing(SingleIndexSpec):
    """Signs of noisy projections."""

    law = SignLink

    model = "one-bit-sensing"
    title = "One-bit compressed sensing"
    summary = "Only the sign of each noisy projection is observed: y = sign(⟨x, b⟩ + σe)."
    equation = (
        r"y_i = \operatorname{sign}(\langle x_i, b\rangle + \sigma e_i), \qquad x_i \sim \mathcal N(0, I_p),\ \|b\| = 1"
    )

    noise: Noise = 0.1


@dataclass(frozen=True, kw_only=True)
class FlippedLogistic(SingleIndexSpec):
    """Logistic responses, some of them flipped."""

    law = LogisticLink

    model = "flipped-logistic"
    title = "Flipped logistic regression"
    summary = "P(y = 1) is logistic in ⟨x, b⟩ + intercept; each response is then flipped with a fixed probability."
    equation = (
        r"\mathbb P(y_i = 1) = \frac{1}{1 + e^{-z_i}}, \quad z_i = \langle x_i, b\rangle + \zeta + \sigma e_i,"
        r" \quad \text{then flipped with probability } p_e"
    )

    noise: Noise = 0.0
    flip: Annotated[float, number(0, 0.5, "flip probability", symbol="pₑ")] = 0.0
    intercept: Annotated[float, number(-5, 5, "added to ⟨x, b⟩", symbol="ζ")] = 0.0


@dataclass(frozen=True, kw_only=True)
class OneBitPhaseRetrieval(SingleIndexSpec):
    """Responses that compare the magnitude of a projection with a threshold."""

    law = ThresholdLink

    model = "one-bit-phase-retrieval"
    title = "One-bit phase retrieval"
    summary = "Each response tells only whether |⟨x, b⟩ + σe| exceeds the threshold θ: sign and size are lost."
    equation = (
        r"y_i = \operatorname{sign}\bigl(|\langle x_i, b\rangle + \sigma e_i| - \theta\bigr),"
        r" \qquad x_i \sim \mathcal N(0, I_p),\ \|b\| = 1"
    )

    noise: Noise = 0.0
    threshold: Annotated[float, number(0, 5, "magnitude above which y = +1", symbol="θ")] = 1.0


@dataclass(frozen=True, kw_only=True)
class CustomLink(SingleIndexSpec):
    """Responses by a link that is a formula in z."""

    model = "custom-link"
    title = "Custom link"
    summary = "P(y = 1) = (1 + f(⟨x, b⟩ + σe))/2 for a formula f in z, with values in -1..1, that you type."
    equation = r"\mathbb P(y_i = 1) = \tfrac12\bigl(1 + f(\langle x_i, b\rangle + \sigma e_i)\bigr), \qquad \|b\| = 1"

    noise: Noise = 0.0
    link: Annotated[
        str, Parameter(meaning=f"formula in z such as sin(2z), or one of: {', '.join(READY)}", symbol="f")
    ] = "sin 2z"

    def check(self) -> None:
        """Reject an invalid formula, or one that leaves -1..1."""
        super().check()
        checked(self.link)

    @property
    def link_function(self) -> Link:  # noqa: D102
        return FormulaLink(self.noise, self.link, flip=self.flip)


FAMILY = Family(
    name="single-index",
    measures={
        "error": Measure(
            "error  ‖b̂ − b‖", "sign-free distance of the unit vectors: 0 is exact, √2 is orthogonal to the signal"
        ),
        "overlap": Measure(
            "squared overlap  ⟨b̂, b⟩²",
            "squared cosine with the ground truth: 1 is exact, 1/p is a random guess",
            rising=True,
        ),
        "fraction_of_best": Measure(
            "overlap / best possible overlap",
            "mean squared overlap as a fraction of the Bayes-optimal one at this n and p",
            quotient=("overlap", "best_overlap"),
            rising=True,
        ),
        "misfit": Measure("squared loss  mean (y − f(⟨x, b̂⟩))²", "squared loss of the responses under the true link"),
        **COMMON_MEASURES,
        "support": Measure(
            "support recall",
            "fraction of the true non-zero entries among as many largest entries of the estimate",
            rising=True,
        ),
        "coverage": Measure(
            "coverage of 95% intervals", "fraction of entries whose 95% interval contains the true entry", rising=True
        ),
        "width": Measure("width of 95% intervals", "mean width of the 95% intervals of the entries"),
    },
    goal=Goal("overlap", above=0.5),
    solvers=("pairwise-moment", "link-free-refinement"),
    measured=signals.index_measured,
    verdict=signals.index_verdict,
    order=(
        "pairwise-moment",
        "sparse-pairwise-moment",
        "link-free-refinement",
        "gamp",
        "spectral-optimal",
        "marginal-mean",
        "sir",
        "phd",
        "save",
        "biht",
        "glm",
    ),
    model_order=("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link"),
    grows=("n", "ratio"),
    falls=("p", "sparsity", "noise", "variance", "flip", "dense-rate", "sparse-rate"),
    asymptotics=signals.index_asymptotics,
    best=signals.index_best,
    why_no_best=why_no_best,
    lines=signals.index_lines,
    margins=signals.index_margins,
)

ENTRIES = (
    ModelEntry(
        spec=OneBitSensing,
        family=FAMILY,
        main=("n", "p", "sparsity", "noise"),
        plane=("variance", "ratio"),
        along="variance",
    ),
    ModelEntry(
        spec=FlippedLogistic,
        family=FAMILY,
        main=("n", "p", "flip"),
        plane=("flip", "ratio"),
        along="flip",
        along_range=(0.0, 0.3, "linear"),
        ranges={"flip": (0.0, 0.2, "linear"), "ratio": (50.0, 5000.0, "log")},
    ),
    ModelEntry(
        spec=OneBitPhaseRetrieval,
        family=FAMILY,
        main=("n", "p", "threshold"),
        plane=("threshold", "ratio"),
        along="threshold",
        # Noise brings answers of |<x, b>| far from the threshold nearer to it: some of it helps.
        non_monotone=("noise",),
    ),
    ModelEntry(
        spec=CustomLink,
        family=FAMILY,
        main=("n", "p", "link"),
        plane=("flip", "ratio"),
        along="flip",
        # For some links, noise reveals the threshold of the responses.
        non_monotone=("noise",),
    ),
)
