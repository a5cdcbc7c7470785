"""Phase retrieval in practice: photon counts of Fourier transforms of an image behind masks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from scipy.fft import fftshift

from lrlab.arrays import Array, Vector
from lrlab.linalg import frozen
from lrlab.model_entry import OVER_BOUND, Family, Goal, Measured, ModelEntry, Outcome, best_of, recovery
from lrlab.models import phase_retrieval, signals
from lrlab.models.phase_retrieval import PhaseRetrievalProblem, PhaseSpec
from lrlab.models.pictures import NAMES, picture
from lrlab.operators.coded import CodedFourier
from lrlab.parameters import choice, number
from lrlab.protocol import Checkpoint, View, child, proceed
from lrlab.theory.cramer_rao import least_image_error

RECOVERED = 0.01
SHOWN = 128
"""Largest number of rows and columns of a pattern in the figure."""
BOUNDED_PIXELS = 2**17
"""Largest number of detector pixels in all patterns, per pattern, whose bound takes seconds."""


@dataclass(frozen=True, kw_only=True)
class CodedDiffraction(PhaseSpec):
    """Photon counts behind masks, as magnitudes; ||x|| = 1, and E |<a_i, x>|^2 = 1 over masks."""

    model = "coded-diffraction"
    title = "Coded diffraction patterns"
    summary = "A detector counts the photons of an image's Fourier transforms behind known masks; phases are lost."
    equation = (
        r"N_{\ell i} \sim \operatorname{Poisson}\bigl(c\, |F(d_\ell \circ x)|_i^2\bigr), \quad"
        r" y_{\ell i} = \sqrt{N_{\ell i} / c}, \quad \ell = 1, \dots, L, \quad \|x\| = 1"
    )

    side: Annotated[int, number(8, 512, "pixels along a side of the image", scale="log")] = 64
    masks: Annotated[int, number(1, 64, "number of masks, each with its pattern", symbol="L")] = 8
    oversampling: Annotated[int, number(1, 4, "detector pixels per image pixel, along a side")] = 1
    code: Annotated[
        str, choice("phase", "octanary", help="mask pixels: 1, −1, i, −i; octanary scales each by √½ or √3")
    ] = "phase"
    photons: Annotated[float, number(0, 1e9, "mean photon count c per detector pixel and pattern; 0: no noise")] = 0.0
    truth: Annotated[str, choice(*NAMES[:-1], help="the image")] = "phantom"

    field, data, entry_bytes = "complex", "magnitude", 16

    @property
    def p(self) -> int:
        """Pixels of the image."""
        return self.side**2

    @property
    def m(self) -> int:
        """Counts in all patterns."""
        return self.masks * (self.oversampling * self.side) ** 2

    @property
    def noise(self) -> float:
        """Standard deviation of a magnitude sqrt(N / c) for large counts."""
        return 0.5 / math.sqrt(self.photons) if self.photons else 0.0

    @property
    def data_bytes(self) -> int:
        """Memory of masks and magnitudes."""
        return 16 * self.masks * self.p + 8 * self.m

    def build(self, checkpoint: Checkpoint = proceed) -> "CodedDiffractionProblem":
        """Make the image; the first access draws masks and counts."""
        return CodedDiffractionProblem(self, checkpoint)

    def draw_truth(self) -> Array:
        """Return the image's gray levels (p,) as a unit vector: solvers do not know that it is real."""
        x = picture(self.truth, self.side).ravel()
        return x / np.linalg.norm(x)


class CodedDiffractionProblem(PhaseRetrievalProblem):
    """Counts of one spec, as `PhaseRetrievalProblem`: A (m, p) is an operator, y (m,) are sqrt(N / c)."""

    spec: Any
    counted = True

    @cached_property
    def _data(self) -> tuple[CodedFourier, Array]:
        spec = self.spec
        A = CodedFourier(frozen(masks(spec)), (spec.oversampling * spec.side,) * 2)
        intensity = np.abs(A @ self.truth) ** 2
        self.checkpoint(0.5)
        if spec.photons:
            intensity = child(spec.streams().noise, 0).poisson(spec.photons * intensity) / spec.photons
        return A, frozen(np.sqrt(intensity))

    def scored(self, estimate: Vector) -> tuple[Array, Array]:
        """Return |A x-hat| and the magnitudes, all of them."""
        return np.abs(self.A @ estimate), self.magnitude


def masks(spec: CodedDiffraction) -> Vector:
    """Return the masks (L, side, side), E |d|^2 = 1; each has its own random stream."""
    drawn = []
    for index in range(spec.masks):
        rng, shape = child(spec.streams().data, index), (spec.side, spec.side)
        mask = np.array([1.0, -1.0, 1j, -1j])[rng.integers(4, size=shape)]
        if spec.code == "octanary":
            mask *= np.where(rng.random(shape) < 0.8, math.sqrt(0.5), math.sqrt(3.0))
        drawn.append(mask)
    return np.array(drawn)


def measured(spec: CodedDiffraction) -> Measured:
    """Return the first pattern, its lowest frequencies in the middle."""
    first = spec.replace(masks=1).build().y
    wide = spec.oversampling * spec.side
    pattern = fftshift(first.reshape(wide, wide))
    low = max(0, (wide - SHOWN) // 2)
    pattern = pattern[low : low + SHOWN, low : low + SHOWN]
    counts = f"counts, {spec.photons:g} a pixel on average," if spec.photons else "numbers"
    words = f"{spec.m:,} {counts} for {spec.degrees_of_freedom:,} real degrees of freedom; brighter is larger."
    return Measured(words, {"first pattern, roots of its counts": View(pattern, "sizes")})


def verdict(spec: CodedDiffraction, outcomes: Sequence[Outcome]) -> str:
    """Return how many solvers recover the image from exact patterns; for counts, the smallest error and the bound."""
    words = f"{spec.m / spec.p:g} numbers per pixel of the image"
    best = best_of(outcomes)
    if not spec.photons or best is None:
        return recovery(outcomes, "image", "error", RECOVERED, words)
    bound = next((one.predictions["bound_error"] for one in outcomes if "bound_error" in one.predictions), None)
    if bound is not None:
        words += f", whose photons allow {bound:.2g} without bias"
    return f"Error {best.scores['error']:.2g} {best.course}: {words}."


def bound(spec: CodedDiffraction) -> dict[str, float]:
    """Return `bound_error`, the Cramer-Rao bound of the error; nothing without noise, or if it takes long."""
    if not spec.photons or spec.m < 2 * spec.p or spec.m > BOUNDED_PIXELS * spec.masks:
        return {}
    problem = spec.build()
    known = least_image_error(problem.A, problem.truth, spec.photons, np.random.default_rng(0))
    return {"bound_error": known} if math.isfinite(known) else {}


FAMILY = Family(
    name="coded-diffraction",
    measures={**phase_retrieval.FAMILY.measures, "error_over_bound": OVER_BOUND},
    goal=Goal("error", RECOVERED, noises=signals.PHASE_GOAL.noises),
    solvers=("amplitude-flow", "gauss-newton"),
    measured=measured,
    verdict=verdict,
    signal="x",
    order=phase_retrieval.FAMILY.order,
    ranges={"side": (8.0, 32.0, "log"), "masks": (1.0, 8.0, "linear")},
    limits={"max_iter": 150},
    grows=("masks", "oversampling", "photons"),
    best=bound,
)

ENTRY = ModelEntry(spec=CodedDiffraction, family=FAMILY, main=("masks", "photons", "side"), plane=("masks", "side"))
