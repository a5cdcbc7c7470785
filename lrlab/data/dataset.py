"""The data set that all label solvers read: features, positive labels, and the known labels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Indices, Matrix, Vector
from lrlab.linalg import places_in
from lrlab.parameters import InputError

Names = tuple[str, ...]
CSR = ("data", "indices", "indptr", "shape")
Places = tuple[Indices, ...]
"""Rows and columns of entries of a table, as numpy's `nonzero` returns them."""


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
        sizes = {"feature_names": self.d, "label_names": self.L}
        for name, size in sizes.items():
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

    def noted(self, notes: Iterable[str]) -> Self:
        """Return the same data with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def names(self) -> Names:
        """Names of the labels, or else their numbers in the file."""
        return self.label_names or tuple(str(j + self.counts_from[1]) for j in range(self.L))

    def rows(self, chosen: Indices | slice) -> Self:
        """Return the data of some rows."""
        known = None if self.observed is None else self.observed[chosen]
        return replace(self, X=self.X[chosen], Y=self.Y[chosen], observed=known)


def dataset_of(
    X: Any, y: Any, observed: Any = None, feature_names: Names | None = None, label_names: Names | None = None
) -> Dataset:
    """Return the data of features X (n, d) and labels y (n, L): 1, 0 or -1, nan if unknown; either may be sparse."""
    X = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
    Y: Any = csr_array(y) if issparse(y) else np.asarray(y)
    values = np.asarray(Y.data if issparse(Y) else Y)
    if Y.ndim != 2 or values.dtype.kind not in "fiub" or not np.isin(values[~np.isnan(values)], (-1, 0, 1)).all():
        raise InputError("y", "a table of 1, 0 and -1, nan if unknown", "other values", "give each label a column")
    if np.isnan(values).any():
        known = csr_array(~np.isnan(Y.toarray() if issparse(Y) else Y))
        observed = known if observed is None else csr_array(known.multiply(observed))
    return Dataset(X, pattern((Y > 0).nonzero(), Y.shape), observed, feature_names, label_names)


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


def matching(data: Dataset, like: Dataset | None) -> Dataset:
    """Return the data with the columns of the training data `like`, in their order; InputError for other columns."""
    if like is None:
        return data
    features = _order("features", data.d, data.feature_names, like.d, like.feature_names)
    labels = _order("labels", data.L, data.label_names, like.L, like.label_names)
    if features is not None:
        data = replace(data, X=data.X[:, features], feature_names=like.feature_names)
    if labels is not None:
        known = None if data.observed is None else data.observed[:, labels]
        data = replace(data, Y=data.Y[:, labels], observed=known, label_names=like.label_names)
    for table in filter(issparse, (data.X, data.Y, data.observed)):
        table.sort_indices()
    return data


def _order(what: str, size: int, names: Names | None, wanted_size: int, wanted: Names | None) -> Indices | None:
    """Return the places of the wanted names, None if they are in order or either side has no names."""
    if size != wanted_size:
        expected = f"of {wanted_size} {what}, like the other file"
        raise InputError("file", expected, size, f"give both files the same {what}")
    if names is None or wanted is None or names == wanted:
        return None
    places = {name: place for place, name in enumerate(names)}
    absent = next((name for name in wanted if name not in places), None)
    if absent is not None or len(places) < len(names):
        mine = next((name for name in names if name not in set(wanted)), "one of them twice")
        expected = f'of the same {what} as the other file, including "{absent}"'
        raise InputError("file", expected, mine, "use the same names in both files")
    return np.array([places[name] for name in wanted])
