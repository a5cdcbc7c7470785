"""Your measurements of a low-rank matrix: bilinear and quadratic forms, and some of the entries of a matrix."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, diags_array, issparse
from scipy.sparse.linalg import lsqr

from lrlab import lowrank
from lrlab.arrays import Array, Mask, Vector
from lrlab.data.arrays import measured, numbers, rows_of
from lrlab.data.spec import Arrays, Comparison, DataProblem, DataSpec
from lrlab.linalg import frozen, relative
from lrlab.lowrank import LowRank
from lrlab.model_entry import Measure
from lrlab.models.completion import InductiveCompletion
from lrlab.models.low_rank_problem import LowRankProblem
from lrlab.models.network import PolynomialNetwork
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.operators.entries import Entries
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import RankOne, SymmetricRankOne
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, proceed

METRICS = {
    "held_out_misfit": Measure("relative error of held-out measurements", "1 for a zero estimate"),
    "misfit": Measure(
        "residual norm  ‖A(Ŵ) − b‖ / ‖b‖", "relative distance between the measurements of the estimate and yours"
    ),
    "guessed_rank": Measure("rank", "rank that solvers get", constant=True),
}
DEPENDENT = 1e-10
"""Singular value, relative to the largest one, below which columns are linearly dependent."""
FAR_APART = 10.0
"""Ratio of the root mean squares of columns above which lrlab scales each column of a matrix."""
SIDES = (("X", "rows"), ("Z", "columns"))


def whitening(X: Array) -> Array:
    """Return T (columns, d) such that the columns of X T, X (m, columns), are orthogonal and of mean square 1.

    This changes the recovered matrix linearly and preserves its rank. It drops dependent columns.
    """
    sizes = np.sqrt(np.mean(X**2, axis=0))
    units = np.where(sizes > 0, sizes, 1.0)
    _, s, Vt = np.linalg.svd(X / units, full_matrices=False)
    used = s > DEPENDENT * s[0]
    return np.asarray(Vt[used].T / s[used] * np.sqrt(len(X)) / units[:, None])


def with_constant(X: Array, constant: bool) -> Array:
    """Return X (m, d), with a column of ones before it if `constant`."""
    return np.column_stack([np.ones(len(X)), X]) if constant else X


@dataclass(frozen=True, kw_only=True)
class LowRankSpec(DataSpec):
    """Your measurements of a low-rank matrix."""

    data_metrics = METRICS

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return a sentence on the rank that held-out measurements chose."""
        if not scores.get("guessed_rank") or self.values()["rank_guess"] != "held-out":
            return ""
        return f"lrlab chose rank {scores['guessed_rank']:g}: it best predicts a held-out tenth of the given numbers."

    def lacking(self, rank: int) -> str:  # noqa: D102
        unknowns = self.unknowns(rank)  # type: ignore[attr-defined]
        few = self.measurements < unknowns
        return f"{self.measurements:,} measurements for {unknowns:,} degrees of freedom" if few else ""


class LowRankData(DataProblem, LowRankProblem):
    """A `LowRankProblem` of your measurements, divided by `unit`, without a ground truth.

    operator_all: the operator of all measurements, with held-out ones; values (measured,): the measurements for
    solvers. bases: the change to your units for each side of the matrix (one if it is symmetric), None for none.
    sizes: units (measured,) of compared errors.
    """

    sizes: Any = 1.0

    def __init__(self, spec: Any, checkpoint: Checkpoint, operator: Operator, values: Array, bases: list[Any]) -> None:
        self.spec, self.truth, self.checkpoint, self.out = spec, None, checkpoint, spec.held
        self.operator_all, self.bases = operator, bases
        self.unit = float(np.sqrt(np.mean(values[~self.out] ** 2))) or 1.0
        self.b, self.b_held = (frozen(values[chosen] / self.unit) for chosen in (~self.out, self.out))

    def draw(self) -> Operator:
        """Return the measurement operator of the given measurements."""
        return self.operator_all.subset(np.flatnonzero(~self.out))

    @cached_property
    def operator_held(self) -> Operator:
        """The measurement operator of held-out measurements."""
        return self.operator_all.subset(np.flatnonzero(self.out))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the relative residual norm of the given and of the held-out measurements, and the rank."""
        scores = {"misfit": relative(self.operator(estimate), self.b)}
        if self.out.any():
            scores["held_out_misfit"] = relative(self.operator_held(estimate), self.b_held)
        return scores | ({"guessed_rank": float(self.rank)} if "rank" in vars(self) else {})

    def recovered(self, estimate: LowRank) -> LowRank:
        """Return the matrix in your units; its first row and column belong to the constant, if any."""
        if len(self.bases) == 1:
            return lowrank.from_square(self.bases[0] @ estimate.U, estimate.s * self.unit)
        factors = zip((estimate.left * self.unit, estimate.V), self.bases, strict=True)
        left, right = (F if T is None else T @ F for F, T in factors)
        return lowrank.from_product(left, right)

    @abstractmethod
    def fitted(self, W: LowRank) -> Array:
        """Return all measurements (measured,) of a matrix in your units."""

    def compared(self, W: LowRank) -> Comparison:
        """Return the root mean squared error on held-out measurements, with their mean as the baseline."""
        y, out = self.spec.arrays["y"], self.out
        losses, baseline = (((value - y) / self.sizes)[out] ** 2 for value in (self.fitted(W), y[~out].mean()))
        return Comparison.of("root mean squared error", losses, baseline, root=True)


class FormProblem(LowRankData):
    """Measurements x^T W z, or x^T L x without Z, in whitened columns."""

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.given = [spec.arrays[name] for name in ("X", "Z") if name in spec.arrays]
        rows = [with_constant(side, spec.constant) for side in self.given]
        bases = [whitening(side[~spec.held]) for side in rows]
        sides = [side @ T for side, T in zip(rows, bases, strict=True)]
        operator = SymmetricRankOne(*sides) if len(sides) == 1 else RankOne(*sides)
        super().__init__(spec, checkpoint, operator, spec.arrays["y"], bases)

    def fitted(self, W: LowRank) -> Array:  # noqa: D102
        return self.predict(W, *self.given)

    def predict(self, W: LowRank, X: Array, Z: Array | None = None) -> Array:
        """Return the measurements (n,) of rows X (n, d1), with Z (n, d2) unless the matrix is symmetric."""
        sides = [with_constant(side, self.spec.constant) for side in (X, Z) if side is not None]
        return np.asarray(((sides[0] @ W.left) * (sides[-1] @ W.V)).sum(axis=1))


class MatrixProblem(LowRankData):
    """Given entries of a matrix, minus their mean and the biases of rows and columns if requested.

    Scales of columns are root mean squares of their given entries if these differ by FAR_APART between columns, else 1.
    """

    biases: Array

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.arrays, (n1, n2), given = spec.arrays, spec.table, ~spec.held
        rows, columns, y = (self.arrays[name] for name in ("rows", "columns", "y"))
        self.mean, self.biases = _biases(spec, given) if spec.biases else (0.0, np.zeros(n1 + n2))
        values = y - self.mean - self.biases[rows] - self.biases[n1 + columns]
        squares = np.bincount(columns[given], values[given] ** 2, n2)
        sizes = np.sqrt(squares / np.maximum(np.bincount(columns[given], minlength=n2), 1))
        far = "Z" not in self.arrays and sizes.max() > FAR_APART * min(sizes[sizes > 0], default=np.inf)
        scales = np.where(far & (sizes > 0), sizes, 1.0)
        self.sizes = scales[columns]
        bases = [whitening(self.arrays[k]) if k in self.arrays else None for k in "XZ"]
        X, Z = (T if T is None else frozen(self.arrays[k] @ T) for k, T in zip("XZ", bases, strict=True))
        operator = Entries(X, Z, (n1, n2), rows, columns)
        to_units = [bases[0], diags_array(scales) if Z is None else bases[1]]
        super().__init__(spec, checkpoint, operator, values / self.sizes, to_units)

    def whole(self, W: LowRank) -> Array:
        """Return mean, biases and X W Z^T (n1, n2)."""
        left, right = (self.arrays[k] @ F if k in self.arrays else F for k, F in zip("XZ", (W.left, W.V), strict=True))
        of_rows, of_columns = np.split(self.biases, [len(left)])
        return np.asarray(self.mean + of_rows[:, None] + of_columns + left @ right.T)

    def fitted(self, W: LowRank) -> Array:  # noqa: D102
        return self.whole(W)[self.arrays["rows"], self.arrays["columns"]]

    def completed(self, W: LowRank) -> Array:
        """Return the whole matrix (n1, n2): your entries unchanged, the others from mean, biases and X W Z^T.

        Unknown entries are nan in a row or column that has neither features nor given entries.
        """
        table = self.whole(W)
        for k, counts in self.spec.counts.items():
            (table if k == "X" else table.T)[counts == 0] = np.nan
        table[self.arrays["rows"], self.arrays["columns"]] = self.arrays["y"]
        return table

    def parts(self, trace: Any) -> Mapping[str, Vector]:
        """Return the completed matrix."""
        return {"completed matrix": self.completed(trace.estimate)}

    def table(self, trace: Any, names: Sequence[str], rows: Sequence[str]) -> pd.DataFrame:
        """Return the completed matrix with the names of its rows and columns."""
        return pd.DataFrame(self.completed(trace.estimate), index=list(rows) or None, columns=list(names) or None)

    def saved(self, trace: Any) -> dict[str, Vector]:
        """Return the factors and the completed matrix."""
        return {**super().saved(trace), "completed": self.completed(trace.estimate)}


def _biases(spec: Any, given: Mask) -> tuple[float, Array]:
    """Return the mean of given entries, and biases of rows and columns (n1 + n2,): ridge regression with penalty 1."""
    rows, columns, y = (spec.arrays[name][given] for name in ("rows", "columns", "y"))
    mean, places = float(y.mean()), np.column_stack([rows, spec.table[0] + columns]).ravel()
    design = csr_array((np.ones(2 * len(y)), (np.repeat(np.arange(len(y)), 2), places)), (len(y), sum(spec.table)))
    return mean, lsqr(design, y - mean, damp=1.0, atol=1e-10, btol=1e-10)[0]


@dataclass(frozen=True, kw_only=True)
class FormSpec(LowRankSpec):
    """Rows X (m, d1), Z (m, d2) and numbers y (m,) = x^T W z; without Z, x^T L x."""

    models, problem = (RankOneSensing, PolynomialNetwork), FormProblem
    free: ClassVar[tuple[str, ...]] = ("rank", "r", "rank_guess", "assumed_rank")
    sizes: ClassVar[tuple[str, ...]] = ("m", "d1", "d2", "p")

    constant: Annotated[bool, Parameter(meaning="column of ones, which adds a constant and linear terms")] = False

    def lacking(self, rank: int) -> str:  # noqa: D102
        wide = max(self.arrays[k].shape[1] for k in ("X", "Z") if k in self.arrays)
        few = f"{self.measurements:,} measurements for {wide:,} columns" if self.measurements < wide else ""
        return super().lacking(rank) or few

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:  # noqa: D102
        sides = {"X": X, "Z": Z} if issubclass(cls, RankOneSensing) else {"X": X}
        return measured(y, **{name: numbers(name, side, 2) for name, side in sides.items()})

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        if not arrays["y"][given].any():
            raise InputError("y", "other than 0 in some row", "only zeros", "give the measurements")
        rows = [with_constant(arrays[k][given], bool(settings["constant"])) for k in ("X", "Z") if k in arrays]
        sides = [whitening(side).shape[1] for side in rows]
        if not all(sides):
            raise InputError("X", "a column other than 0", "only zeros", "give the measurement vectors")
        m = int(given.sum())
        return {"m": m, "p": sides[0]} if len(sides) == 1 else {"m": m, "d1": sides[0], "d2": sides[1]}


@dataclass(frozen=True, kw_only=True)
class MatrixSpec(LowRankSpec):
    """A matrix (n1, n2) with some known entries; lrlab whitens features of rows and columns for solvers."""

    models, problem = (InductiveCompletion,), MatrixProblem
    free: ClassVar[tuple[str, ...]] = ("rank", "rank_guess", "assumed_rank")
    sizes: ClassVar[tuple[str, ...]] = ("n1", "n2", "d1", "d2")
    # Data have exact `counts`.
    bare_sides = ()

    biases: Annotated[bool, Parameter(meaning="a bias per row and per column, in addition to a common mean")] = False

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:
        """Return rows, columns and y (m,) of known entries in row-major order, the matrix's size, and features."""
        features = {name: numbers(name, side, 2) for name, side in (("X", X), ("Z", Z)) if side is not None}
        rows, columns, values, size = _entries(y)
        for axis, (name, of) in enumerate(SIDES):
            if name in features and (count := len(features[name])) != size[axis]:
                # The last rows of triples may have no entry.
                if not isinstance(y, tuple) or count < size[axis]:
                    need = f"features of all {size[axis]} {of} of the matrix"
                    raise InputError(name, need, count, "give each its own")
                size[axis] = count
        rows_of(values)
        return {"rows": rows, "columns": columns, "y": values, "size": size, **features}

    @classmethod
    def default_solver(cls, X: Any = None, Z: Any = None, **options: object) -> str:  # noqa: D102
        return "gauss-newton" if X is None and Z is None else "altmin"

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return the choice of the rank, and the number of rows and columns without data."""
        empty = sum(int((counts == 0).sum()) for counts in self.counts.values())
        nothing = f"Rows or columns that have neither entries nor features stay nan: {empty:,}."
        return " ".join(filter(None, [super().judgement(scores), nothing if empty else ""]))

    @property
    def counts(self) -> dict[str, Vector]:
        """Numbers of given entries of all rows (X) and columns (Z), unless they have features."""
        sides, given = zip(SIDES, self.arrays["size"], strict=True), ~self.held
        return {k: np.bincount(self.arrays[of][given], minlength=n) for (k, of), n in sides if k not in self.arrays}

    @property
    def measurements(self) -> int:
        """Number of given entries."""
        return int((~self.held).sum())

    def lacking(self, rank: int) -> str:  # noqa: D102
        fewest = min((counts[counts > 0].min() for counts in self.counts.values()), default=math.inf)
        few = f"a row or column has {fewest:g} of the given entries, fewer than the rank" if fewest < rank else ""
        return super().lacking(rank) or few

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        n1, n2 = (int(size) for size in arrays["size"])
        if min(n1, n2) < 2:
            raise InputError("y", "a matrix of at least 2 rows and 2 columns", f"{n1} x {n2}", "give the whole matrix")
        widths = [whitening(arrays[k]).shape[1] if k in arrays else n for k, n in (("X", n1), ("Z", n2))]
        return {
            **{"n1": n1, "n2": n2, "d1": widths[0], "d2": widths[1]},
            "observed": max(1e-4, int(given.sum()) / (n1 * n2)),
            "features": "correlated" if "X" in arrays or "Z" in arrays else "canonical",
        }


def _entries(y: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Return rows, columns and values of known entries in row-major order, and the size.

    y: a table with nan, a sparse matrix, or three vectors: rows, columns (both from 0) and values.
    """
    if isinstance(y, tuple):
        if len(y) != 3:
            raise InputError("y", "three vectors: rows, columns, values", f"{len(y)}", "give three")
        rows, columns, values = (numbers(name, part, 1) for name, part in zip(("rows", "columns", "y"), y, strict=True))
        for name, side in (("rows", rows), ("columns", columns)):
            if (wrong := (side < 0) | (side != np.round(side)) | (side >= 2**31)).any():
                got = f"{side[wrong][0]:g} at position {np.flatnonzero(wrong)[0] + 1}"
                raise InputError(name, f"whole numbers from 0 to {2**31 - 1}", got, "number rows and columns from 0")
        rows_of(values, rows=rows, columns=columns)
        size = rows.max() + 1, columns.max() + 1
    elif issparse(y):
        entries = coo_array(y)
        (rows, columns), values, size = entries.coords, numbers("y", entries.data, 1), entries.shape
    else:
        table = numbers("y", y, 2, gaps=True)
        (rows, columns), size = np.nonzero(~np.isnan(table)), table.shape
        values = table[rows, columns]
    order = np.lexsort((columns, rows))
    rows, columns = (np.asarray(part)[order].astype(np.int64) for part in (rows, columns))
    twice = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        got = f"row {rows[at]}, column {columns[at]} twice"
        raise InputError("y", "one value per entry", got, "keep the last, or their mean")
    return rows, columns, values[order], np.array(size).astype(np.int64)
