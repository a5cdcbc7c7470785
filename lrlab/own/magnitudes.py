"""Own magnitudes: A (m, p) and |A x| or |A x|^2, or diffraction patterns of an image behind masks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from lrlab.arrays import Array, Mask, Vector, frozen
from lrlab.model_entry import Measure
from lrlab.models.phase_retrieval import PhaseRetrievalProblem
from lrlab.operators.coded import CodedFourier
from lrlab.own.source import Own, unpacked
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, proceed

MEASURES = {
    "held_out_misfit": Measure("misfit of magnitudes held out", "their relative error: 1 is that of a zero estimate"),
    "misfit": Measure("misfit of magnitudes", "‖ |A x̂| − |A x| ‖ / ‖ |A x| ‖ on the given magnitudes"),
}


class OwnMagnitudesProblem(PhaseRetrievalProblem):
    """A person's magnitudes: A (m, p), or of patterns behind masks (count, h, w) their operator; no truth is known.

    Rows of A are scaled to mean square 1 an entry, answers to mean square magnitude 1; `unit` is that of x. image: the
    sides of what is behind masks.
    """

    def __init__(self, spec: "OwnMagnitudes", checkpoint: Checkpoint = proceed) -> None:
        values = spec.values()
        self.spec, self.data, self.checkpoint, self.noise = spec, str(values["data"]), checkpoint, values["noise"]
        self.out, arrays, self.truth = spec.held, unpacked(spec.file), None
        A, y = arrays["A"], arrays["y"]
        power = 2 if self.data == "intensity" else 1
        size = float(np.sqrt(np.mean(y[~self.out] ** (2 / power))))
        rms = float(np.sqrt(np.mean(np.abs(A[~self.out]) ** 2)))
        self.image = A.shape[1:] if A.ndim == 3 else ()
        # Transforms of own patterns keep lengths, those of the operator do not.
        self.unit = size / rms * math.sqrt(math.prod(self.image))
        self.all = A / rms, y / size**power
        self.shape = self.A.shape

    def part(self, chosen: Mask) -> tuple[Any, Array]:
        """Return A and y of some rows, or patterns."""
        A, y = (frozen(np.ascontiguousarray(side[chosen])) for side in self.all)
        return CodedFourier(A.astype(np.complex128), self.image) if self.image else A, y.ravel()

    @cached_property
    def _data(self) -> tuple[Any, Array]:
        return self.part(~self.out)

    def score(self, estimate: Vector) -> dict[str, float]:
        """Return the relative misfit of the given magnitudes, and of those held out."""
        scores = {"misfit": _misfit(self.A, estimate, self.magnitude)}
        if self.out.any():
            A, y = self.part(self.out)
            scores["held_out_misfit"] = _misfit(A, estimate, y if self.data == "magnitude" else np.sqrt(y))
        return scores

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return False: no truth is known."""
        return False

    def recovered(self, estimate: Vector) -> Vector:
        """Return the signal (p,), or the image, in the units of the given numbers, up to a phase."""
        return (estimate * self.unit).reshape(self.image or -1)


def _misfit(A: Any, x: Vector, magnitude: Array) -> float:
    return float(np.linalg.norm(np.abs(A @ x) - magnitude) / (np.linalg.norm(magnitude) or 1.0))


@dataclass(frozen=True, kw_only=True)
class OwnMagnitudes(Own):
    """Magnitudes or intensities of a person."""

    free: ClassVar[tuple[str, ...]] = ("data", "noise")
    sizes: ClassVar[tuple[str, ...]] = ("m", "p", "field")
    own_measures = MEASURES

    stacked: Annotated[bool, Parameter(meaning="whether these are patterns behind masks", hidden=True)] = False

    @property
    def data_bytes(self) -> int:
        """Of patterns behind masks no matrix is formed."""
        return 5 * len(self.file) if self.stacked else super().data_bytes

    def build(self, checkpoint: Checkpoint = proceed) -> OwnMagnitudesProblem:  # noqa: D102
        return OwnMagnitudesProblem(self, checkpoint)

    @classmethod
    def shape_of(cls, arrays: Mapping[str, Vector], given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        A, y = arrays["A"], arrays["y"]
        if y.min() < 0:
            raise InputError("y", "magnitudes or intensities, none below 0", float(y.min()), "set noise below 0 to 0")
        if not y[given].any() or not A[given].any():
            raise InputError("y", "other than 0 somewhere, and A too", "zeros alone", "give the measurements")
        m, p = y[given].size, math.prod(A.shape[1:])
        field = "complex" if np.iscomplexobj(A) or A.ndim == 3 else "real"
        return {"m": m, "p": p, "field": field, "stacked": A.ndim == 3}
