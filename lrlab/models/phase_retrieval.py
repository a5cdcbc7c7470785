"""Phase retrieval: magnitudes |<a, x>|, or their squares, of projections without signs or phases."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from lrlab.arrays import Array, Vector
from lrlab.linalg import frozen, relative
from lrlab.model_entry import COMMON_MEASURES, Family, Measure, ModelEntry
from lrlab.models import signals
from lrlab.models.pictures import Picture, PicturedSpec, Truth
from lrlab.parameters import choice, gaussian_noise, number
from lrlab.protocol import Checkpoint, Problem, Spec, child, proceed

BLOCK_BYTES = 16 * 2**20
SCORED_ROWS = 4096


class PhaseSpec(Spec):
    """A spec of m measurements without phases of a signal of length p, "real" or "complex" by its `field`."""

    undetermined = "phase"

    @property
    def measurements(self: Any) -> int:  # noqa: D102
        return int(self.m)

    @property
    def degrees_of_freedom(self: Any) -> int:
        """Number of real unknowns, up to one global phase or sign."""
        return 2 * self.p - 1 if self.field == "complex" else int(self.p)

    @property
    def remark(self: Any) -> str:
        """Warn if other signals have the same magnitudes."""
        if self.m > self.degrees_of_freedom:
            return ""
        return f"Only {self.m:,} measurements for {self.degrees_of_freedom:,} real degrees of freedom: others fit, too."


@dataclass(frozen=True, kw_only=True)
class PhaseRetrieval(PhaseSpec, PicturedSpec):
    """Magnitudes |<a_i, x>| or their squares, a_i standard Gaussian (E |<a_i, x>|^2 = 1), ||x|| = 1."""

    model = "phase-retrieval"
    title = "Phase retrieval"
    summary = "Only the magnitude of each projection is observed, y = |⟨a, x⟩| + σe or its square: phases are lost."
    equation = (
        r"y_i = |\langle a_i, x\rangle|^q + \sigma e_i,"
        r" \quad q = 1 \text{ (magnitude) or } 2 \text{ (intensity)}, \quad \|x\| = 1"
    )

    m: Annotated[int, number(2, 1_000_000, "number of measurements", scale="log")] = 768
    p: Annotated[int, number(2, 10_000, "length of the signal", scale="log")] = 128
    field: Annotated[str, choice("real", "complex", help="type of signal and projections")] = "complex"
    data: Annotated[str, choice("magnitude", "intensity", help="|⟨a, x⟩|, or its square")] = "magnitude"
    noise: Annotated[float, gaussian_noise("each response; negative ones become 0")] = 0.0
    truth: Truth = "random"
    picture: Picture = ""

    @property
    def entry_bytes(self) -> int:
        """Bytes of one number of the field."""
        return 16 if self.field == "complex" else 8

    @property
    def data_bytes(self) -> int:
        """Memory of all measurements, held at once."""
        return self.m * (self.entry_bytes * self.p + 8)

    def build(self, checkpoint: Checkpoint = proceed) -> "PhaseRetrievalProblem":
        """Draw the truth; the first access draws the measurements."""
        return PhaseRetrievalProblem(self, checkpoint)

    def draw_truth(self) -> Vector:
        """Return the unit vector x (p,): gray levels of a picture are real in either field."""
        if self.truth != "random":
            x = self.drawn_picture()
        else:
            x = standard(np.random.default_rng(self.streams().truth), np.empty(self.p, dtype=self.dtype))
        return x / np.linalg.norm(x)

    @property
    def dtype(self) -> type:
        """Numpy's type of the field's numbers."""
        return np.complex128 if self.field == "complex" else np.float64


def standard(rng: np.random.Generator, out: Vector) -> Vector:
    """Fill `out` with standard Gaussian numbers (complex ones have real and imaginary parts N(0, 1/2))."""
    rng.standard_normal(out=out.view(np.float64))
    if np.iscomplexobj(out):
        out *= math.sqrt(0.5)
    return out


class PhaseRetrievalProblem(Problem):
    """Measurements of one spec. Only the score may read the truth.

    Attributes: spec; truth (p,), unit norm; noise, its standard deviation; shape (m, p); data, "magnitude" or
    "intensity"; counted, whether they are photon counts; A (m, p), real or complex, with (A x)_i = <a_i, x>; y (m,) >=
    0, the measurements; magnitude and intensity (m,), y or its square root, y or its square. All arrays are read-only.
    Noise can make a measurement negative; lrlab then sets it to 0.
    """

    counted = False

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.shape, self.data, self.checkpoint = spec, (spec.m, spec.p), spec.data, checkpoint
        self.truth, self.noise = frozen(spec.draw_truth()), spec.noise
        # Independent of m, so that the first rows are the same for every m.
        self.block_rows = max(1, BLOCK_BYTES // (spec.entry_bytes * spec.p))

    def load(self, everything: bool) -> None:
        """Draw all data, since every solver reads them many times."""
        _ = self._data

    @cached_property
    def _data(self) -> tuple[Vector, Array]:
        m, p = self.shape
        A: Vector = np.empty((m, p), dtype=self.spec.dtype)
        y, streams = np.empty(m), self.spec.streams()
        for index, start in enumerate(range(0, m, self.block_rows)):
            self.checkpoint(start / m)
            rows = slice(start, start + self.block_rows)
            size = np.abs(standard(child(streams.data, index), A[rows]) @ self.truth)
            noise = self.spec.noise * child(streams.noise, index).standard_normal(len(size))
            y[rows] = np.maximum((size**2 if self.spec.data == "intensity" else size) + noise, 0.0)
        return frozen(A), frozen(y)

    @property
    def A(self) -> Vector:
        """All measurement vectors (m, p)."""
        return self._data[0]

    @property
    def y(self) -> Array:
        """All measurements (m,), none negative."""
        return self._data[1]

    @cached_property
    def magnitude(self) -> Array:
        """The measurements as magnitudes (m,)."""
        return self.y if self.data == "magnitude" else frozen(np.sqrt(self.y))

    @cached_property
    def intensity(self) -> Array:
        """The measurements as squared magnitudes (m,)."""
        return self.y if self.data == "intensity" else frozen(self.y**2)

    def scored(self, estimate: Vector) -> tuple[Array, Array]:
        """Return the magnitudes of an estimate, |A x-hat|, and the measured ones: the first 4,096."""
        return np.abs(self.A[:SCORED_ROWS] @ estimate), self.magnitude[:SCORED_ROWS]

    def score(self, estimate: Vector) -> dict[str, float]:
        """Return `error`, `overlap` and `misfit` of an estimate (p,), up to a global phase.

        error = min over t of ||e^{it} x-hat - x|| / ||x||. overlap = |<x, x-hat>|^2 / (||x||^2 ||x-hat||^2). misfit =
        || |A x-hat| - magnitude || / ||magnitude|| on the measurements of `scored`.
        """
        x, size = self.truth, float(np.linalg.norm(estimate))
        return {
            "error": relative(align_phase(estimate, x), x),
            "overlap": float(abs(np.vdot(x, estimate)) / size / np.linalg.norm(x)) ** 2 if size > 0 else 0.0,
            "misfit": relative(*self.scored(estimate)),
        }

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return whether an estimate misses exact data, or fits noisy data clearly worse than the truth.

        The minimum of a loss is at most its value at the truth. Minima of other losses lie within 1.2 times its
        residual norm: 1.3 times is worse. The test uses exact data only for fixed points without an objective (`gamp`).
        """
        noise = self.score(self.truth)["misfit"] if self.noise else 0.0
        judged = not self.noise or math.isfinite(row["objective"])
        return judged and row["misfit"] > 1.3 * noise + math.sqrt(tol)

    def another_fits(self, row: Mapping[str, float]) -> bool:
        """Return whether an estimate with an error above 1e-3 fits the data closely: exact data, or too few of them."""
        few = self.spec.measurements <= self.spec.degrees_of_freedom
        fits = row["misfit"] <= 1e-4 * row["error"] and row["error"] > 1e-3
        return fits and (few or not self.noise)


def align_phase(estimate: Vector, truth: Vector) -> Vector:
    """Return `estimate` times the sign or phase that brings it nearest to `truth`."""
    inner = np.vdot(estimate, truth)
    return estimate * (inner / abs(inner)) if inner != 0 else estimate


FAMILY = Family(
    name="phase-retrieval",
    measures={
        "error": Measure("error  min ‖eⁱᵗ x̂ − x‖ / ‖x‖", "relative distance from the signal under the best phase"),
        "overlap": Measure(
            "squared overlap", "squared cosine with the ground truth: 1 is exact, 1/p is a random guess", rising=True
        ),
        "misfit": Measure("residual norm of magnitudes", "‖ |A x̂| − |A x| ‖ / ‖ |A x| ‖ on the given magnitudes"),
        **COMMON_MEASURES,
    },
    goal=signals.PHASE_GOAL,
    solvers=("gauss-newton", "amplitude-flow", "wirtinger-flow"),
    measured=signals.phase_measured,
    verdict=signals.phase_verdict,
    signal="x",
    order=(
        "alternating-projections",
        "wirtinger-flow",
        "amplitude-flow",
        "gauss-newton",
        "gamp",
    ),
    ranges={"ratio": (1.5, 6.0, "linear"), "p": (16.0, 96.0, "log"), "m": (100.0, 1000.0, "log")},
    limits={"max_iter": 150},
    grows=("m", "ratio"),
    falls=("p", "noise"),
    asymptotics=signals.phase_asymptotics,
    lines=signals.phase_lines,
    margins=signals.phase_margins,
)

ENTRY = ModelEntry(
    spec=PhaseRetrieval,
    family=FAMILY,
    main=("m", "p", "noise"),
    plane=("p", "ratio"),
    along="ratio",
    along_range=(0.5, 8.0, "linear"),
)
