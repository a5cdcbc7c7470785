"""The data set that all label solvers read, units of its features, and the choice of label columns of a file.

An XML file, a list of names, or a count at either end chooses the columns.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Indices, Matrix
from lrlab.data.arrays import dimensions, numbers
from lrlab.data.files import Names, Source
from lrlab.linalg import mean_squares
from lrlab.models.multilabel import pattern
from lrlab.parameters import InputError, counted, nearest

SCALINGS = ("auto", "none", "deviations")
MEANING = (
    "how features are scaled: deviations, each divided by its standard deviation; none; auto takes deviations if most "
    "values are not 0, else for numbers among words, 0 or 1"
)
Labels = str | Path | int | Iterable[str] | None

FORMS = "an XML file, a text file of names, names separated by commas, last:N or first:N"
COUNT = re.compile(r"(?:(first|last):)?([0-9]{1,9})", re.ASCII)


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
        for name, size in {"feature_names": self.d, "label_names": self.L}.items():
            if (names := getattr(self, name)) is not None and len(names) != size:
                raise InputError(name, counted(size, "name"), len(names), "name each column once, or none")

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

    def rows(self, chosen: Indices | slice) -> Self:
        """Return the data of some rows."""
        known = None if self.observed is None else self.observed[chosen]
        return replace(self, X=self.X[chosen], Y=self.Y[chosen], observed=known)


def dataset_of(
    X: Any, y: Any, feature_names: Names | None = None, label_names: Names | None = None, notes: Names = ()
) -> Dataset:
    """Return the data of features X (n, d) and labels y (n, L): 1, 0 or -1, nan if unknown; either may be sparse."""
    X = csr_array(X.tocoo(), dtype=np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
    Y: Any = csr_array(y) if issparse(y) else np.asarray(y if dimensions(y) == 2 else 0)
    if Y.dtype == object:
        Y = numbers("y", Y, 2, gaps=True)
    values = np.asarray(Y.data if issparse(Y) else Y)
    if Y.ndim != 2 or values.dtype.kind not in "fiub" or not np.isin(values[~np.isnan(values)], (-1, 0, 1)).all():
        raise InputError("y", "a table of 1, 0 and -1, nan if unknown", "other values", "give each label a column")
    known = csr_array(~np.isnan(Y.toarray() if issparse(Y) else Y)) if np.isnan(values).any() else None
    return Dataset(X, pattern(Y > 0), known, feature_names, label_names, notes=notes)


def matching(data: Dataset, like: Dataset) -> Dataset:
    """Return the data with the columns of the training data `like`, in their order; InputError for other columns."""
    features = _places("features", data.feature_names, data.d, like.feature_names, like.d)
    labels = _places("labels", data.label_names, data.L, like.label_names, like.L)
    known = None if data.observed is None else data.observed[:, labels]
    tables: dict[str, Any] = {"X": data.X[:, features], "Y": data.Y[:, labels], "observed": known}
    for table in filter(issparse, tables.values()):
        table.sort_indices()
    return replace(data, **tables, feature_names=like.feature_names, label_names=like.label_names)


def _places(what: str, names: Names | None, size: int, wanted: Names | None, wanted_size: int) -> Indices | slice:
    """Return the places of the wanted columns by their names, or all places if a side has no names."""
    if size != wanted_size:
        raise InputError("file", f"of {wanted_size} {what}, like the other file", size, f"give the same {what}")
    if names is None or wanted is None or names == wanted:
        return slice(None)
    repeated = next((name for side in (names, wanted) for name, times in Counter(side).items() if times > 1), None)
    if repeated is not None:
        need = "of different names, because lrlab matches the columns of two files by name"
        raise InputError(what, need, f"{repeated} twice", "rename one of the columns")
    places = pd.Index(names).get_indexer(wanted)
    if (places < 0).any():
        got = f"no {wanted[int(np.argmin(places))]}"
        raise InputError("file", f"of the same {what} as the other file", got, "use the same names in both")
    return np.asarray(places)


def units_of(X: Matrix, scaling: str) -> Array:
    """Return the divisors (d,) of features for training samples X (n, d), (0,) for none. scaling: one of `SCALINGS`.

    lrlab does not center features, so that sparse ones stay sparse; intercepts replace centering.
    """
    if scaling == "none":
        return np.zeros(0)
    # Importing scikit-learn takes a second, which readers do not need.
    from sklearn.preprocessing import StandardScaler

    deviations = np.asarray(StandardScaler(with_mean=False).fit(X).scale_)
    filled = X.count_nonzero(axis=0) if issparse(X) else np.count_nonzero(X, axis=0)
    if scaling == "deviations" or filled.sum() > X.shape[0] * X.shape[1] / 2:
        return deviations
    # Among rare words, only numbers such as an income have a unit.
    words = (np.asarray(X.sum(axis=0)).ravel() == filled) & (mean_squares(X) == filled / X.shape[0])
    numbers = (filled > X.shape[0] / 2) & ~words
    return np.where(numbers, deviations, 1.0) if numbers.any() else np.zeros(0)


def in_units(X: Matrix, units: Array) -> Matrix:
    """Return rows X (n, d) divided by the `units` of their columns, if any."""
    if not units.size:
        return X
    return csr_array(X.multiply(1.0 / units)) if issparse(X) else X / units


class LabelChoice(NamedTuple):
    """Names of labels, or a count of columns at one end."""

    names: tuple[str, ...] = ()
    count: int = 0  # type: ignore[assignment]
    first: bool = False

    def places(self, columns: Sequence[str], *, optional: bool) -> list[int]:
        """Return the places of the labels in a file's columns, in the order of the choice. optional: may be absent."""
        index = {name: place for place, name in enumerate(columns)}
        forms = [next((form for form in _forms(name) if form in index), "") for name in self.names]
        if optional and not any(forms):
            return []
        for name, form in zip(self.names, forms, strict=True):
            if not form:
                # Searching millions of names is slow.
                remedy = nearest(name, tuple(columns[:5000])) or "remove the label, or add its column to the data file"
                raise InputError("labels", "the name of a column of the data file, each once", name, remedy)
        edge = self.count if self.first else max(0, len(columns) - self.count)
        ends = range(edge) if self.first else range(edge, len(columns))
        places = [index[form] for form in forms] if self.names else list(ends)
        if len(set(places)) < len(places) or max(self.count, len(places)) >= len(columns):
            expected, got = f"fewer than the {len(columns)} columns of the file", self.count or len(places)
            raise InputError("labels", expected, got, "name each once, and leave at least one feature")
        return places


def _forms(name: str) -> tuple[str, ...]:
    """Return a name, and the name without the quotes and escapes of ARFF."""
    bare = name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name
    return name, re.sub(r"\\(.)", r"\1", name), re.sub(r"\\(.)", r"\1", bare)


def choose_labels(labels: Labels) -> LabelChoice | None:
    """Return the choice of label columns, from a file if `labels` names one; None without labels."""
    if labels is None:
        return None
    if (counted := COUNT.fullmatch(str(labels))) and int(counted[2]) > 0:
        return LabelChoice(count=int(counted[2]), first=counted[1] == "first")
    if counted or not isinstance(labels, str | Path | Iterable):
        raise InputError("labels", FORMS, labels, 'for example "last:6" or "first:6"')
    if isinstance(labels, str) and not os.path.exists(labels) and ("," in labels or not Path(labels).suffix):
        labels = map(str.strip, labels.split(","))
    names = tuple(_listed(Path(labels)) if isinstance(labels, str | Path) else labels)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError("labels", "one or more names", names, "list the names of label columns")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError("labels", "names, each once", name, "name each label once")
    return LabelChoice(names)


def _listed(path: Path) -> list[str]:
    """Return the names in a text file, one per line, or in Mulan's XML, nested or flat."""
    if path.suffix.lower() != ".xml":
        return [line.strip() for line in Source(path, "label list").lines()[0] if line.strip()]
    source = Source(path, "label XML")
    with source.whole("well-formed label XML", 'write <labels><label name="..."/></labels> in UTF-8'):
        root = ElementTree.fromstring(source.content())
    return [element.get("name", "") for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
