"""Your matrix with missing entries: W, or X W Z^T with features, plus biases of rows and columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.linalg import lsqr

from lrlab import lowrank
from lrlab.arrays import Array, Mask, Vector
from lrlab.data.arrays import numbers, rows_of
from lrlab.data.forms import LowRankData, LowRankSpec, whitening
from lrlab.data.spec import Arrays, Comparison
from lrlab.linalg import frozen
from lrlab.lowrank import LowRank
from lrlab.models.completion import InductiveCompletion
from lrlab.operators.entries import Entries
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, proceed

FAR_APART = 10.0
"""Ratio of the root mean squares of columns above which lrlab scales each column."""
SIDES = (("X", "rows"), ("Z", "columns"))


class MatrixProblem(LowRankData):
    """Given entries of a matrix, minus their mean and the biases of rows and columns if requested."""

    operator: Entries
    mean: float
    biases: Array
    scales: Array

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        super().__init__(spec, checkpoint)
        self.bases = [whitening(self.arrays[k]) if k in self.arrays else None for k in "XZ"]
        self.sides = [T if T is None else frozen(self.arrays[k] @ T) for k, T in zip("XZ", self.bases, strict=True)]

    def target(self) -> Array:
        """Return the entries (measured,) minus mean and biases, divided by the scales of their columns (n2,).

        Biases of rows and columns (n1 + n2,) solve ridge regression of the centered entries with penalty 1. Scales are
        root mean squares of the given entries in a column if these differ by FAR_APART between columns, else 1.
        """
        (n1, n2), given = self.spec.table, ~self.out
        rows, columns, y = (self.arrays[name] for name in ("rows", "columns", "y"))
        self.mean, self.biases = 0.0, np.zeros(n1 + n2)
        if self.spec.biases:
            self.mean, m = float(y[given].mean()), int(given.sum())
            places = np.repeat(np.arange(m), 2), np.column_stack([rows, n1 + columns])[given].ravel()
            design = csr_array((np.ones(2 * m), places), shape=(m, n1 + n2))
            self.biases = lsqr(design, y[given] - self.mean, damp=1.0, atol=1e-10, btol=1e-10)[0]
        centered = y - self.mean - self.biases[rows] - self.biases[n1 + columns]
        squares = np.bincount(columns[given], centered[given] ** 2, n2)
        sizes = np.sqrt(squares / np.maximum(np.bincount(columns[given], minlength=n2), 1))
        far = "Z" not in self.arrays and sizes.max() > FAR_APART * min(sizes[sizes > 0], default=np.inf)
        self.scales = np.where(sizes > 0, sizes, 1.0) if far else np.ones(n2)
        return np.asarray(centered / self.scales[columns])

    def operator_of(self, chosen: Mask) -> Entries:  # noqa: D102
        (n1, n2), (X, Z) = self.spec.table, self.sides
        free = (n1 if X is None else 1) * (n2 if Z is None else 1)
        rows, columns = self.arrays["rows"][chosen], self.arrays["columns"][chosen]
        return Entries(X, Z, (n1, n2), rows, columns, free / int(chosen.sum()))

    def recovered(self, estimate: LowRank) -> LowRank:
        """Return W in your units."""
        left, right = (F if T is None else T @ F for F, T in zip((estimate.left, estimate.V), self.bases, strict=True))
        right = right if self.bases[1] is not None else right * self.scales[:, None]
        return lowrank.from_product(left * self.unit, right)

    def compared(self, W: LowRank) -> Comparison:
        """Return the root mean squared error on held-out entries, with their mean as the baseline."""
        rows, columns, y = (self.arrays[name][self.out] for name in ("rows", "columns", "y"))
        off, scales = self.fitted(W)[rows, columns] - y, self.scales[columns]
        mean = float(self.arrays["y"][~self.out].mean())
        return Comparison.of("root mean squared error", (off / scales) ** 2, ((y - mean) / scales) ** 2, root=True)

    def completed(self, W: LowRank) -> Array:
        """Return the whole matrix (n1, n2): your entries unchanged, the others from mean, biases and X W Z^T.

        Unknown entries are nan in a row or column that has neither features nor given entries.
        """
        table, given = self.fitted(W), ~self.out
        for (k, at), part in zip(SIDES, (table, table.T), strict=True):
            if k not in self.arrays:
                part[np.bincount(self.arrays[at][given], minlength=len(part)) == 0] = np.nan
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

    def fitted(self, W: LowRank) -> Array:
        """Return mean, biases and X W Z^T (n1, n2)."""
        left, right = (self.arrays[k] @ F if k in self.arrays else F for k, F in zip("XZ", (W.left, W.V), strict=True))
        of_rows, of_columns = np.split(self.biases, [len(left)])
        return np.asarray(self.mean + of_rows[:, None] + of_columns + left @ right.T)


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
        if issparse(y) or isinstance(y, tuple):
            rows, columns, values, size = _triples(y)
        else:
            table = numbers("y", y, 2, gaps=True)
            rows, columns = np.nonzero(~np.isnan(table))
            values, size = table[rows, columns], np.array(table.shape)
        for axis, (name, of) in enumerate((("X", "rows"), ("Z", "columns"))):
            if name in features and (count := len(features[name])) != size[axis]:
                # The last rows of triples may have no entry.
                if not isinstance(y, tuple) or count < size[axis]:
                    raise InputError(
                        name, f"features of all {size[axis]} {of} of the matrix", count, "give each its own"
                    )
                size[axis] = count
        if len(values) < 2:
            raise InputError("y", "at least 2 known entries", len(values), "give more entries")
        return {"rows": rows, "columns": columns, "y": values, "size": size, **features}

    @classmethod
    def default_solver(cls, X: Any = None, Z: Any = None) -> str:  # noqa: D102
        return "gauss-newton" if X is None and Z is None else "altmin"

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return the choice of the rank, and the number of rows and columns without data."""
        empty = int((self.counts == 0).sum())
        nothing = f"{empty:,} rows or columns have neither entries nor features: they stay nan."
        return " ".join(filter(None, [super().judgement(scores), nothing if empty else ""]))

    @property
    def counts(self) -> Vector:
        """Numbers of given entries of all rows and columns without features."""
        sides = zip(SIDES, self.arrays["size"], strict=True)
        bare = [np.bincount(self.arrays[of][~self.held], minlength=n) for (k, of), n in sides if k not in self.arrays]
        return np.concatenate([[], *bare])

    @property
    def measurements(self) -> int:
        """Number of given entries."""
        return int((~self.held).sum())

    def lacking(self, rank: int) -> str:  # noqa: D102
        fewest = min(self.counts[self.counts > 0], default=math.inf)
        few = f"a row or column has {fewest:g} given entries, fewer than the rank" if fewest < rank else ""
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


def _triples(y: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the entries of a sparse matrix, or of three vectors: rows, columns (both from 0), values and the size."""
    if issparse(y):
        entries = coo_array(y)
        (rows, columns), values, size = entries.coords, numbers("y", entries.data, 1), np.array(entries.shape)
    else:
        if len(y) != 3:
            raise InputError("y", "three vectors: rows, columns, values", f"{len(y)}", "give three")
        rows, columns = (_whole(name, part) for name, part in zip(("rows", "columns"), y[:2], strict=True))
        values = numbers("y", y[2], 1)
        rows_of(values, rows=rows, columns=columns)
        size = np.array([rows.max() + 1, columns.max() + 1])
    order = np.lexsort((columns, rows))
    rows, columns, values = (np.asarray(part)[order] for part in (rows, columns, values))
    twice = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        got = f"row {rows[at]}, column {columns[at]} twice"
        raise InputError("y", "one value per entry", got, "keep the last, or their mean")
    return rows.astype(np.int64), columns.astype(np.int64), values, size


def _whole(name: str, value: Any) -> Vector:
    """Return indices as whole numbers from 0."""
    places = numbers(name, value, 1)
    wrong = (places < 0) | (places != np.round(places)) | (places >= 2**31)
    if wrong.any():
        got = f"{places[wrong][0]:g} at position {np.flatnonzero(wrong)[0] + 1}"
        raise InputError(name, f"whole numbers from 0 to {2**31 - 1}", got, "number rows and columns from 0")
    return places.astype(np.int64)
