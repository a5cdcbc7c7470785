"""Your measurements of a vector: one-bit responses to rows, and magnitudes or intensities, or diffraction patterns.

Responses, X (n, p) and y with two values, suit all solvers of single-index models. Magnitudes |A x| have a matrix A
(m, p), or are diffraction patterns of an image behind masks.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import scipy.fft
from scipy.linalg import null_space
from scipy.optimize import linprog
from scipy.sparse import eye_array
from scipy.sparse.linalg import aslinearoperator

from lrlab.arrays import Array, Intervals, Mask, Vector
from lrlab.data.arrays import dimensions, measured, numbers, rows_of, words_or_numbers
from lrlab.data.low_rank import DEPENDENT, whitening
from lrlab.data.spec import HELD_OUT, Arrays, Comparison, DataProblem, DataSpec
from lrlab.linalg import frozen, relative, unit, varying
from lrlab.losses import LOGISTIC
from lrlab.model_entry import Measure
from lrlab.models.phase_retrieval import PhaseRetrieval, PhaseRetrievalProblem
from lrlab.models.single_index import SingleIndexSpec
from lrlab.operators.coded import CodedFourier
from lrlab.parameters import InputError, Parameter, Value, choice
from lrlab.protocol import Checkpoint, Problem, proceed
from lrlab.solvers.single_index.index_links import IndexLink

OF_RESPONSES = {
    "held_out_log_loss": Measure("log loss of held-out responses", "nats per response, under the estimated link"),
    "held_out_accuracy": Measure("accuracy on held-out responses", "fraction of correct predictions", rising=True),
    "log_loss": Measure("log loss of the responses", "nats per response, on the responses that the solver gets"),
}
REFINEMENT = "link-free-refinement"
MOST_SEPARATED = 300_000
"""Most entries of X for the test for separation, whose linear program then takes about a second."""
OF_MAGNITUDES = {
    "held_out_misfit": Measure("relative error of held-out magnitudes", "1 for a zero estimate"),
    "misfit": Measure("residual norm of magnitudes", "‖ |A x̂| − |A x| ‖ / ‖ |A x| ‖ on the given magnitudes"),
}


class Frame(NamedTuple):
    """A change of basis: rows x become (x - mean) T, T (columns, p). sizes: standard deviations of columns."""

    mean: Array
    T: Array
    sizes: Array

    @classmethod
    def of(cls, X: Array, scaling: str) -> "Frame":
        """Return the frame of rows X (n, columns), which scales or whitens the columns that vary."""
        use = varying(X)
        mean, sizes, eye = X.mean(axis=0), np.where(use, X.std(axis=0), 1.0), np.eye(X.shape[1])[:, use]
        if scaling == "none":
            return cls(np.zeros(len(mean)), eye, np.ones(len(mean)))
        T = eye / sizes[:, None]
        return cls(mean, T @ whitening((X - mean) @ T) if scaling == "whitened" and use.any() else T, sizes)

    def applied(self, X: Array) -> Array:
        """Return rows (n, columns) in the frame (n, p)."""
        return np.asarray((X - self.mean) @ self.T)


class ResponsesProblem(DataProblem, Problem):
    """Your responses, like `SingleIndexProblem` without a ground truth; X is in the coordinates of `frame`."""

    def __init__(self, spec: "ResponsesSpec", checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.link, self.checkpoint = spec, spec.link_function, checkpoint  # type: ignore[attr-defined]
        X, y, out = spec.arrays["X"], spec.arrays["y"], spec.held
        self.frame = Frame.of(X[~out], spec.scaling)
        if spec.scaling == "whitened":
            self.contrasts = frozen(self.frame.sizes[:, None] * self.frame.T)
        self.X, self.y = frozen(self.frame.applied(X[~out])), frozen(y[~out])
        self.given, self.rows_held, self.y_held = frozen(X[~out]), X[out], y[out]
        self.X_held = self.frame.applied(X[out])
        self.shape = self.X.shape
        self.sparsity = spec.values()["sparsity"] or self.shape[1]

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield (X, y)."""
        self.checkpoint(0.0)
        yield self.X, self.y

    def score(self, estimate: Array) -> dict[str, float]:
        """Return log losses of the given and of the held-out responses, under the link fitted to the given ones."""
        link = IndexLink.fitted(self.X, self.y, estimate)
        scores = {"log_loss": float(LOGISTIC.value(self.y * link.log_odds(self.X)).mean())}
        if len(self.y_held):
            eta = link.log_odds(self.X_held)
            scores["held_out_log_loss"] = float(LOGISTIC.value(self.y_held * eta).mean())
            scores["held_out_accuracy"] = float(np.mean((eta > 0) == (self.y_held > 0)))
        return scores

    def standardized(self, b: Array) -> Array:
        """Return a direction (columns,) in columns of standard deviation 1, nan for a constant column.

        Intervals treat the standard deviations of these rows as known. With whitened columns the index of the direction
        has standard deviation 1; otherwise the direction has length 1.
        """
        scaled = np.where(varying(self.given), b * self.frame.sizes, np.nan)
        size = np.std(self.given @ b) if self.contrasts is not None else np.linalg.norm(np.nan_to_num(scaled))
        return scaled / (size or 1.0)

    def recovered(self, estimate: Array) -> Array:
        """Return the direction (columns,) of length 1 in your units."""
        return unit(self.frame.T @ estimate)

    def intervals_of(self, known: Intervals) -> Intervals:
        """Return intervals of all columns, nan for undetermined ones, which the note names."""
        used, words = varying(self.given), [known.note]
        rows = slice(None) if self.contrasts is not None else used
        low, high = (np.full(len(used), np.nan) for _ in range(2))
        low[rows], high[rows] = known.low, known.high
        standard, unknown = Frame.of(self.given, "columns").applied(self.given), ~used
        if separated(standard, self.y):
            unknown[:] = True
            words.append("No intervals: a hyperplane separates the responses, at least in part.")
        elif len(places := np.flatnonzero(used)[dependent(standard)]):
            unknown[places] = True
            columns = ", ".join(str(place + 1) for place in places)
            words.append(f"No intervals for columns {columns}: they are combinations of each other.")
        low[unknown] = high[unknown] = np.nan
        return Intervals(low, high, " ".join(filter(None, words)))

    def compared(self, b: Array) -> Comparison:
        """Return the log loss of held-out responses, with their frequency as the baseline."""
        fraction = np.clip(np.mean(self.y > 0), 1e-6, 1 - 1e-6)
        base = np.where(self.y_held > 0, -np.log(fraction), -np.log1p(-fraction))
        return Comparison.of("log loss", LOGISTIC.value(self.y_held * self.predict(b, self.rows_held)), base)

    def table(self, trace: Any, names: Sequence[str], rows: Sequence[str]) -> pd.DataFrame:
        """Return the direction, its value in columns of standard deviation 1, and the ends of its 95% interval there.

        The table omits constant columns.
        """
        frame = pd.DataFrame(self.saved(trace)).rename(columns={"estimate": "direction"})
        frame.insert(0, "column", names or [str(place + 1) for place in range(len(frame))])
        return frame[np.isfinite(frame["standardized"])].reset_index(drop=True)

    def saved(self, trace: Any) -> dict[str, Vector]:
        """Return the direction and its intervals."""
        known, what = trace.intervals, trace.estimate
        ends = {} if known is None else {"low": known.low, "high": known.high}
        return {"estimate": what, "standardized": self.standardized(what), **ends}

    def predict(self, b: Array, X: Array) -> Array:
        """Return the log-odds of the larger response at rows X (n, columns), along a direction (columns,)."""
        return IndexLink.fitted(self.given, self.y, b).log_odds(X)


def dependent(rows: Array) -> Mask:
    """Return which columns (p,) of centered rows (n, p) are exact combinations of others."""
    return np.linalg.norm(null_space(np.linalg.qr(rows, mode="r"), rcond=DEPENDENT), axis=1) > np.sqrt(DEPENDENT)


def separated(rows: Array, y: Array) -> bool:
    """Return whether a hyperplane a + x^T b = 0 separates the signs of y (n,), at least in part, by a linear program.

    rows (n, p): the x, of standard deviation 1 per column.
    """
    if not 0 < rows.size <= MOST_SEPARATED:
        return False
    signed = y[:, None] * np.column_stack([np.ones(len(y)), rows])
    # A box bounds the program; its optimum is 0 unless a hyperplane separates the responses.
    best = linprog(-signed.mean(axis=0), A_ub=-signed, b_ub=np.zeros(len(y)), bounds=(-1.0, 1.0))
    return bool(best.success and -best.fun > 1e-6)


@dataclass(frozen=True, kw_only=True)
class ResponsesSpec(DataSpec):
    """Your one-bit responses, for the recovery of a direction in centered and scaled columns."""

    models, problem = (SingleIndexSpec,), ResponsesProblem
    free: ClassVar[tuple[str, ...]] = ("sparsity", "noise", "flip", "intercept", "threshold", "link")
    sizes: ClassVar[tuple[str, ...]] = ("n", "p")
    data_metrics, usual = OF_RESPONSES, REFINEMENT
    # Predictions hold for simulated designs.
    theory_holds = False

    scaling: Annotated[
        str, choice("columns", "whitened", "none", help="scaled to standard deviation 1, whitened, or unchanged")
    ] = "columns"

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:
        """Return X (n, p) and y (n,), 1 for the larger of two values and -1 for the other."""
        values, X = words_or_numbers(y), numbers("X", X, 2)
        rows_of(values, X=X)
        kinds = np.unique(values)
        if len(kinds) != 2:
            remedy = "code the responses as 0 and 1" if len(kinds) > 2 else "give rows of both classes"
            raise InputError("y", "of two values", "one" if len(kinds) == 1 else f"{len(kinds)} values", remedy)
        return {"X": X, "y": np.where(values == kinds[1], 1.0, -1.0)}

    @classmethod
    def default_solver(cls, X: Any = None, Z: Any = None, **options: object) -> str:
        """Return the refinement, which needs twice as many rows as entries; the mean of y x if there are fewer.

        All columns are entries, unless options say how many.
        """
        shape, sparse = np.shape(X), options.get("sparsity") or options.get("kept")
        few = len(shape) == 2 and not sparse and (1 - HELD_OUT) * shape[0] < 2 * shape[1]
        return "marginal-mean" if few else cls.usual

    @classmethod
    def completed(cls, arrays: Arrays, solver: object, options: Mapping[str, object]) -> dict[str, object]:
        """Return options that whiten columns for the refinement of a dense direction, to get correct intervals.

        With correlated columns, an entry of a direction of length 1 is far from normal. Whitening needs twice as many
        rows as columns, and makes all entries nonzero.
        """
        n, p = arrays["X"].shape
        dense = not any(options.get(name) for name in ("sparsity", "kept"))
        whitened = solver == REFINEMENT and dense and (1 - HELD_OUT) * n > 2 * p
        return {**({"scaling": "whitened"} if whitened else {}), **options}

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        X, y = arrays["X"], arrays["y"]
        if len(np.unique(y[given])) < 2:
            raise InputError("y", "of two values", "one in all rows that are not held out", "give rows of both")
        p = Frame.of(X[given], str(settings["scaling"])).T.shape[1]
        if p < 2:
            raise InputError("X", "a table of at least two columns that vary", p, "add features")
        return {"n": int(given.sum()), "p": p}


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
    data_metrics = OF_MAGNITUDES

    norm: Annotated[str, choice("backward", "ortho", help="numpy's norm of the Fourier transforms")] = "backward"
    centered: Annotated[bool, Parameter(meaning="frequency 0 in the center of patterns")] = False

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:
        """Return A (m, p) and y (m,), or masks A (count, h, w) and patterns y (count, h, w)."""
        if X is None:
            raise InputError("X", "the masks of patterns, or the matrix A", "nothing", "give X, A or masks")
        if 3 in (dimensions(y), dimensions(X)):
            patterns, masks = numbers("y", y, 3, gaps=True), numbers("X", X, 3, complex_too=True)
            if patterns.shape != masks.shape:
                raise InputError("X", f"a mask per pattern, of shape {patterns.shape}", masks.shape, "give X = masks")
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
