"""The data set that all label solvers read: features, positive labels, and the known labels; and scales of features."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Indices, Matrix, Vector
from lrlab.data.npz import Names, names_of
from lrlab.linalg import mean_squares, places_in, varying
from lrlab.parameters import InputError

CSR = ("data", "indices", "indptr", "shape")
Places = tuple[Indices, ...]
"""Rows and columns of entries of a table, as numpy's `nonzero` returns them."""
SCALINGS = ("auto", "none", "deviations", "rows")
MEANING = (
    "how features are scaled: deviations, each divided by its standard deviation; rows, each row to length 1; none; "
    "auto takes deviations if most values are not 0, else for numbers among words, 0 or 1"
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features X (n, d), dense or CSR, and labels Y (n, L), CSR with a 1 per positive label.

    observed: CSR with True per known label, None if all are known. A known label is positive or negative.
    feature_names, label_names: None if the file has none. counts_from: the number of the first feature and of the
    first label in files that number them. notes: sentences on data that lrlab left out.
    """

    X: Matrix
    Y: csr_array
    observed: csr_array | None = None
    feature_names: Names | None = None
    label_names: Names | None = None
    counts_from: tuple[int, int] = (0, 0)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise InputError for parts that do not fit each other."""
        if self.X.shape[0] != self.Y.shape[0]:
            raise InputError("Y", f"of as many rows as X, {self.X.shape[0]}", self.Y.shape[0], "give each row labels")
        if self.observed is not None:
            if self.observed.shape != self.Y.shape:
                raise InputError("observed", f"of the size {self.Y.shape} of Y", self.observed.shape, "mark each label")
            if (places_in(self.Y, self.observed) < 0).any():
                raise InputError("observed", "true at every positive label", "false at some", "mark them as observed")
        for name, size in {"feature_names": self.d, "label_names": self.L}.items():
            if (names := getattr(self, name)) is not None and len(names) != size:
                raise InputError(name, f"{size} names", len(names), "name each column once, or none")

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """The number of features."""
        return self.X.shape[1]

    @property
    def L(self) -> int:
        """The number of labels."""
        return self.Y.shape[1]

    @property
    def names(self) -> Names:
        """Names of the labels, or else their numbers in the file."""
        return self.label_names or tuple(str(j + self.counts_from[1]) for j in range(self.L))

    def noted(self, notes: Iterable[str]) -> Self:
        """Return the same data with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def rows(self, chosen: Indices | slice) -> Self:
        """Return the data of some rows."""
        known = None if self.observed is None else self.observed[chosen]
        return replace(self, X=self.X[chosen], Y=self.Y[chosen], observed=known)

    def joined(self, other: Self) -> Self:
        """Append the rows of another data set with the same columns."""
        rows, known = [self, other], None
        if self.observed is not None or other.observed is not None:
            marks = [
                csr_array(np.ones(one.Y.shape, dtype=bool)) if one.observed is None else one.observed for one in rows
            ]
            known = sparse.vstack(marks, format="csr")
        X = sparse.vstack([self.X, other.X], format="csr") if issparse(self.X) else np.vstack([self.X, other.X])
        return replace(self, X=X, Y=sparse.vstack([self.Y, other.Y], format="csr"), observed=known)

    def arrays(self) -> dict[str, Vector]:
        """Return everything but the notes as arrays by name."""
        tables = {"X": self.X, "Y": self.Y, "observed": self.observed}
        arrays = {key: array for name, table in tables.items() for key, array in table_arrays(name, table).items()}
        names = {name: getattr(self, name) for name in ("feature_names", "label_names")}
        arrays |= {name: np.array(words, dtype=np.str_) for name, words in names.items() if words is not None}
        return arrays | {"counts_from": np.array(self.counts_from)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Vector]) -> Self:
        """Return the data of `arrays`."""
        first, label = (int(k) for k in arrays["counts_from"])
        X, Y, observed = (table_of(arrays, name) for name in ("X", "Y", "observed"))
        return cls(X, Y, observed, names_of(arrays, "feature_names"), names_of(arrays, "label_names"), (first, label))


def dataset_of(X: Any, y: Any, feature_names: Names | None = None, label_names: Names | None = None) -> Dataset:
    """Return the data of features X (n, d) and labels y (n, L): 1, 0 or -1, nan if unknown; either may be sparse."""
    X = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
    Y: Any = csr_array(y) if issparse(y) else np.asarray(y)
    values = np.asarray(Y.data if issparse(Y) else Y)
    if Y.ndim != 2 or values.dtype.kind not in "fiub" or not np.isin(values[~np.isnan(values)], (-1, 0, 1)).all():
        raise InputError("y", "a table of 1, 0 and -1, nan if unknown", "other values", "give each label a column")
    known = csr_array(~np.isnan(Y.toarray() if issparse(Y) else Y)) if np.isnan(values).any() else None
    return Dataset(X, pattern((Y > 0).nonzero(), Y.shape), known, feature_names, label_names)


def table_arrays(name: str, table: Matrix) -> dict[str, Vector]:
    """Return a dense table, or the parts of a sparse one, as arrays by name; nothing for None."""
    if not issparse(table):
        return {} if table is None else {name: table}
    parts = (table.data, table.indices, table.indptr, np.array(table.shape))
    return {f"{name}_{part}": array for part, array in zip(CSR, parts, strict=True)}


def table_of(arrays: Mapping[str, Vector], name: str) -> Matrix:
    """Return the table of `table_arrays`, or None."""
    if name in arrays or f"{name}_data" not in arrays:
        return arrays.get(name)
    data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in CSR)
    return csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))


def pattern(places: Places, shape: tuple[int, ...]) -> csr_array:
    """Return the CSR matrix with 1 at these places, which may repeat."""
    Y = csr_array((np.ones(len(places[0])), places), shape=shape)
    Y.sum_duplicates()
    Y.data[:] = 1.0
    return Y


def matching(data: Dataset, like: Dataset) -> Dataset:
    """Return the data with the columns of the training data `like`, in their order; InputError for other columns."""
    features = _order("features", data.d, data.feature_names, like.d, like.feature_names)
    labels = _order("labels", data.L, data.label_names, like.L, like.label_names)
    known = None if data.observed is None else data.observed[:, labels]
    parts: dict[str, Any] = {"X": data.X[:, features], "Y": data.Y[:, labels], "observed": known}
    for table in filter(issparse, parts.values()):
        table.sort_indices()
    return replace(data, **parts, feature_names=like.feature_names, label_names=like.label_names)


def _order(what: str, size: int, names: Names | None, wanted_size: int, wanted: Names | None) -> Indices | slice:
    """Return the places of the wanted names, or all places if they are in order or either side has no names."""
    if size != wanted_size:
        raise InputError("file", f"of {wanted_size} {what}, like the other file", size, f"give the same {what}")
    if names is None or wanted is None or names == wanted:
        return slice(None)
    places = {name: place for place, name in enumerate(names)}
    if absent := next((name for name in wanted if name not in places), ""):
        raise InputError("file", f"of the same {what} as the other file", f"no {absent}", "use the same names in both")
    return np.array([places[name] for name in wanted])


class Scaling(NamedTuple):
    """A scaling of features: its name, one of `SCALINGS` except auto, and the divisors `units` (d,) or none.

    It does not center, so that sparse features stay sparse; intercepts replace centering.
    """

    name: str = "none"
    units: Array = np.zeros(0)

    @staticmethod
    def of(X: Matrix, name: str) -> "Scaling":
        """Return the scaling for training rows X (n, d)."""
        if name != "auto":
            return Scaling(name, deviations(X)) if name == "deviations" else Scaling(name)
        filled = X.count_nonzero(axis=0) if issparse(X) else np.count_nonzero(X, axis=0)
        if filled.sum() > X.shape[0] * X.shape[1] / 2:
            return Scaling("deviations", deviations(X))
        # Among rare words, only numbers such as an income have a unit.
        words = (np.asarray(X.sum(axis=0)).ravel() == filled) & (mean_squares(X) == filled / X.shape[0])
        numbers = (filled > X.shape[0] / 2) & ~words
        return Scaling("deviations", np.where(numbers, deviations(X), 1.0)) if numbers.any() else Scaling()

    def applied(self, X: Matrix) -> Matrix:
        """Return scaled rows (n, d); a row of zeros stays zero."""
        if self.name == "deviations":
            return csr_array(X.multiply(1.0 / self.units)) if issparse(X) else X / self.units
        if self.name == "rows":
            # Importing scikit-learn takes a second, which other scalings do not need.
            from sklearn.preprocessing import normalize

            return csr_array(normalize(X)) if issparse(X) else normalize(X)
        return X


def deviations(X: Matrix) -> Array:
    """Return the standard deviation of each feature (d,), 1 for a constant one."""
    if not issparse(X):
        return np.where(varying(X), X.std(axis=0), 1.0)
    mean, squares = np.asarray(X.mean(axis=0)).ravel(), mean_squares(X)
    variance = squares - mean**2
    # For a constant, rounding leaves a small difference of squares.
    return np.where(variance > 1e-12 * squares, np.sqrt(np.maximum(variance, 0.0)), 1.0)
