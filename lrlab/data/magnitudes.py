"""Your magnitudes or intensities |A x| with A (m, p), or diffraction patterns of an image behind masks."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.fft
from scipy.sparse import eye_array
from scipy.sparse.linalg import aslinearoperator

from lrlab.arrays import Array, Mask, Vector
from lrlab.data.arrays import dimensions, measured, numbers, require_none
from lrlab.data.spec import Arrays, Comparison, DataProblem, DataSpec
from lrlab.linalg import frozen, relative
from lrlab.model_entry import Measure
from lrlab.models.phase_retrieval import PhaseRetrieval, PhaseRetrievalProblem
from lrlab.operators.coded import CodedFourier
from lrlab.parameters import InputError, Parameter, Value, choice
from lrlab.protocol import Checkpoint, proceed

METRICS = {
    "held_out_misfit": Measure("relative error of held-out magnitudes", "1 for a zero estimate"),
    "misfit": Measure("residual norm of magnitudes", "‖ |A x̂| − |A x| ‖ / ‖ |A x| ‖ on the given magnitudes"),
}


class MagnitudesProblem(DataProblem, PhaseRetrievalProblem):
    """Your magnitudes without a ground truth; A is a matrix (m, p), or the operator of masks (count, h, w).

    lrlab scales A to mean square 1 per entry, and measurements to mean square magnitude 1. unit: the unit of x that
    results; image: the sides of the image, () for a matrix A.
    """

    def __init__(self, spec: "MagnitudesSpec", checkpoint: Checkpoint = proceed) -> None:
        values = spec.values()
        self.spec, self.data, self.checkpoint, self.noise = spec, str(values["data"]), checkpoint, values["noise"]
        self.out, self.truth = spec.held, None
        A, y, self.known = (spec.arrays[name] for name in ("A", "y", "known"))
        if values["centered"] and A.ndim == 3:
            y, self.known = (scipy.fft.ifftshift(side, axes=(1, 2)) for side in (y, self.known))
        power = 2 if self.data == "intensity" else 1
        size = float(np.sqrt(np.mean(y[~self.out][self.known[~self.out]] ** (2 / power))))
        rms = float(np.sqrt(np.mean(np.abs(A[~self.out]) ** 2)))
        self.image = A.shape[1:] if A.ndim == 3 else ()
        # The operator's transforms are unnormalized, like numpy's fft2.
        self.unit = size / rms * (math.sqrt(math.prod(self.image)) if values["norm"] == "ortho" else 1.0)
        self.all = A / rms, y / size**power
        self._data = self.part(~self.out)
        self.shape = self.A.shape

    def part(self, chosen: Mask) -> tuple[Any, Array]:
        """Return A and y of some rows, or patterns."""
        A, y = (frozen(np.ascontiguousarray(side[chosen])) for side in self.all)
        if not self.image:
            return A, y
        known, operator = self.known[chosen], CodedFourier(A.astype(np.complex128), self.image)
        if not known.all():
            operator = aslinearoperator(eye_array(known.size, format="csr")[known.ravel()]) @ operator
        return operator, y[known]

    def held(self) -> tuple[Any, Array]:
        """Return A and the magnitudes of held-out rows."""
        A, y = self.part(self.out)
        return A, y if self.data == "magnitude" else np.sqrt(y)

    def score(self, estimate: Vector) -> dict[str, float]:
        """Return the relative residual norm of the given and of the held-out magnitudes."""
        parts = {"misfit": (self.A, self.magnitude), **({"held_out_misfit": self.held()} if self.out.any() else {})}
        return {name: relative(np.abs(A @ estimate), y) for name, (A, y) in parts.items()}

    def compared(self, x: Vector) -> Comparison:
        """Return the relative error of held-out magnitudes, with a zero estimate as the baseline."""
        A, magnitude = self.held()
        off = np.abs(A @ (np.ravel(x) / self.unit)) - magnitude
        size = float(np.mean(magnitude**2)) or 1.0
        return Comparison.of("relative error", off**2 / size, np.ones(len(off)), root=True)

    def recovered(self, estimate: Vector) -> Vector:
        """Return the signal (p,), or the image, in your units, up to a phase."""
        return (estimate * self.unit).reshape(self.image or -1)


@dataclass(frozen=True, kw_only=True)
class MagnitudesSpec(DataSpec):
    """Your magnitudes or intensities."""

    models, problem = (PhaseRetrieval,), MagnitudesProblem
    free: ClassVar[tuple[str, ...]] = ("data", "noise")
    sizes: ClassVar[tuple[str, ...]] = ("m", "p", "field")
    data_metrics = METRICS

    norm: Annotated[str, choice("backward", "ortho", help="numpy's norm of the Fourier transforms")] = "backward"
    centered: Annotated[bool, Parameter(meaning="frequency 0 in the center of patterns")] = False

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:
        """Return A (m, p) and y (m,), or masks A (count, h, w) and patterns y (count, h, w)."""
        require_none(Z, "magnitudes")
        if 3 in (dimensions(y), dimensions(X)):
            patterns, masks = numbers("y", y, 3, gaps=True), numbers("X", X, 3, complex_too=True)
            if patterns.shape != masks.shape:
                got = f"{masks.shape}"
                raise InputError("X", f"a mask for each pattern, of shape {patterns.shape}", got, "give X = masks")
            h, w = masks.shape[1:]
            if not 2 <= h * w <= 10_000:
                raise InputError("X", "masks of 2 to 10,000 pixels", f"{h} x {w}", "bin or cut the patterns")
            known = ~np.isnan(patterns)
            return {"A": masks, "y": np.where(known, patterns, 0.0), "known": known}
        arrays = measured(y, X=numbers("X", X, 2, complex_too=True))
        if arrays["X"].shape[1] < 2:
            raise InputError("X", "at least 2 columns", 1, "a single number is |y| / |a|")
        return {"A": arrays["X"], "y": arrays["y"], "known": np.ones(len(arrays["y"]), dtype=bool)}

    def judgement(self, scores: Mapping[str, float]) -> str:
        """State the convention of patterns, and hint at intensities."""
        unknown = np.count_nonzero(~self.arrays["known"])
        words = f"lrlab ignores {unknown:,} unknown pixels. " if unknown else ""
        if self.arrays["A"].ndim == 3:
            origin = "in the center" if self.centered else "at the first pixel"
            words += f"lrlab reads patterns as |fft2(mask x image)|, norm {self.norm}, frequency 0 {origin}. "
        if self.values()["data"] == "magnitude" and scores.get("misfit", 0.0) > 0.05:
            words += "No signal fits these magnitudes well. If they are intensities, set data=intensity. "
        return words.strip()

    def lacking(self, rank: int) -> str:  # noqa: D102
        few = self.measurements <= self.degrees_of_freedom
        return f"{self.measurements:,} measurements for {self.degrees_of_freedom:,} degrees of freedom" if few else ""

    @property
    def data_bytes(self) -> int:
        """Memory of the data; patterns behind masks need no matrix."""
        return 5 * self.packed.nbytes if self.arrays["A"].ndim == 3 else super().data_bytes

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        A, y, known = (arrays[name] for name in ("A", "y", "known"))
        if y.min() < 0:
            raise InputError("y", "magnitudes or intensities, none below 0", float(y.min()), "set noise below 0 to 0")
        if not known[given].any():
            raise InputError("y", "known at some pixels", "nan alone", "give the patterns")
        if not y[given].any() or not A[given].any():
            raise InputError("y", "other than 0 somewhere, and A too", "only zeros", "give the measurements")
        field = "complex" if np.iscomplexobj(A) or A.ndim == 3 else "real"
        return {"m": int(known[given].sum()), "p": math.prod(A.shape[1:]), "field": field}
