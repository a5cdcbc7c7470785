"""Own magnitudes: A (m, p) and |A x| or |A x|^2, or diffraction patterns of an image behind masks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from lrlab.arrays import Array, Mask, Vector, frozen
from lrlab.model_entry import Measure
from lrlab.own.source import Own, unpacked
from lrlab.parameters import InputError, Value
from lrlab.protocol import Checkpoint, Problem, proceed

MEASURES = {
    "held_out_misfit": Measure("misfit of magnitudes held out", "their relative error: 1 is that of a zero estimate"),
    "misfit": Measure("misfit of magnitudes", "‖ |A x̂| − |A x| ‖ / ‖ |A x| ‖ on the given magnitudes"),
}


def diffraction(masks: Vector) -> Vector:
    """Return A (count h w, h w): the Fourier transforms of an image (h, w) behind each of the masks (count, h, w)."""
    count, h, w = masks.shape
    impulses = np.eye(h * w).reshape(h * w, 1, h, w)
    return np.asarray(np.fft.fft2(impulses * masks, norm="ortho").reshape(h * w, count * h * w).T)


class OwnMagnitudesProblem(Problem):
    """A person's magnitudes, with the attributes of `PhaseRetrievalProblem` but a truth.

    Rows of A are scaled to mean square 1 an entry, answers to mean square magnitude 1; `unit` is that of x.
    """

    counted = False

    def __init__(self, spec: "OwnMagnitudes", checkpoint: Checkpoint = proceed) -> None:
        values = spec.values()
        self.spec, self.data, self.checkpoint, self.noise = spec, str(values["data"]), checkpoint, values["noise"]
        arrays, out = unpacked(spec.file), spec.held
        A, y = arrays["A"], arrays["y"]
        power = 2 if self.data == "intensity" else 1
        size = float(np.sqrt(np.mean(y[~out] ** (2 / power))))
        rms = float(np.sqrt(np.mean(np.abs(A[~out]) ** 2)))
        self.unit, self.image = size / rms, arrays.get("image")
        self.A, self.y = frozen(np.ascontiguousarray(A[~out] / rms)), frozen(y[~out] / size**power)
        self.A_held, self.y_held = A[out] / rms, y[out] / size**power
        self.shape = self.A.shape

    @cached_property
    def magnitude(self) -> Array:
        """The answers as magnitudes (m,)."""
        return self.y if self.data == "magnitude" else frozen(np.sqrt(self.y))

    @cached_property
    def intensity(self) -> Array:
        """The answers as squared magnitudes (m,)."""
        return self.y if self.data == "intensity" else frozen(self.y**2)

    def score(self, estimate: Vector) -> dict[str, float]:
        """Return the relative misfit of the given magnitudes, and of those held out."""
        scores = {"misfit": _misfit(self.A, estimate, self.magnitude)}
        if len(self.y_held):
            held = self.y_held if self.data == "magnitude" else np.sqrt(self.y_held)
            scores["held_out_misfit"] = _misfit(self.A_held, estimate, held)
        return scores

    def recovered(self, estimate: Vector) -> Vector:
        """Return the signal (p,), or the image, in the units of the given numbers, up to a phase."""
        x = estimate * self.unit
        return x if self.image is None else x.reshape([int(side) for side in self.image])


def _misfit(A: Vector, x: Vector, magnitude: Array) -> float:
    return float(np.linalg.norm(np.abs(A @ x) - magnitude) / (np.linalg.norm(magnitude) or 1.0))


@dataclass(frozen=True, kw_only=True)
class OwnMagnitudes(Own):
    """Magnitudes or intensities of a person."""

    free: ClassVar[tuple[str, ...]] = ("data", "noise")
    sizes: ClassVar[tuple[str, ...]] = ("m", "p", "field")
    own_measures = MEASURES

    def build(self, checkpoint: Checkpoint = proceed) -> OwnMagnitudesProblem:  # noqa: D102
        return OwnMagnitudesProblem(self, checkpoint)

    @classmethod
    def shape_of(cls, arrays: Mapping[str, Vector], given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        A, y = arrays["A"], arrays["y"]
        if y.min() < 0:
            raise InputError("y", "magnitudes or intensities, none below 0", float(y.min()), "set noise below 0 to 0")
        if not y[given].any() or not A[given].any():
            raise InputError("y", "other than 0 somewhere, and A too", "zeros alone", "give the measurements")
        return {"m": int(given.sum()), "p": A.shape[1], "field": "complex" if np.iscomplexobj(A) else "real"}
