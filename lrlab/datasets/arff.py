r"""ARFF, dense or sparse, with the labels among its attributes (Mulan, MEKA, Weka).

A sparse row leaves out whatever is the first value of its attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. A
label `?` is not observed; a feature `?` is refused. Feature columns are one an attribute of numbers; an attribute of
words has one 0/1 column for each of its values but the first, which keeps sparse rows sparse.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lrlab.datasets.arff_header import feature_coding, label_coding, read_header
from lrlab.datasets.arff_rows import Rows, Table, read_rows
from lrlab.datasets.dataset import Dataset, Names, assemble
from lrlab.datasets.labels import FORMS, LabelChoice
from lrlab.datasets.text import GROWTH, Source, require_room
from lrlab.parameters import InputError


class Layout(NamedTuple):
    """Where attributes go: a label's column or -1; a feature's first column, and whether it is one of words."""

    label: NDArray[np.intc]
    start: NDArray[np.int64]
    words: NDArray[np.bool_]
    feature_names: Names
    label_names: Names


def read_arff(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read an ARFF file line by line."""
    lines = source.lines()
    header = read_header(source, lines)
    choice = choice or header.meka_labels()
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which attributes are labels")
    labels = choice.places([attribute.name for attribute in header.attributes], source)
    codings = [feature_coding(attribute) for attribute in header.attributes]
    for place in labels:
        codings[place] = label_coding(header.attributes[place], source)
    table = Table(source, header, labels, codings)
    layout = _layout(table)
    rows = read_rows(table, lines)
    return _sparse_dataset(table, layout, rows, limit_bytes) if rows.sparse else _dense_dataset(layout, rows)


def _layout(table: Table) -> Layout:
    attributes, names = table.header.attributes, []
    label = np.full(table.width, -1, dtype=np.intc)
    label[table.labels] = np.arange(len(table.labels))
    start, words = np.zeros(table.width, dtype=np.int64), np.zeros(table.width, dtype=bool)
    for place in np.flatnonzero(label < 0):
        start[place], words[place] = len(names), attributes[place].is_words
        name = attributes[place].name
        names += [f"{name}={value}" for value in attributes[place].values[1:]] if words[place] else [name]
    return Layout(label, start, words, tuple(names), tuple(attributes[place].name for place in table.labels))


def _dense_dataset(layout: Layout, rows: Rows) -> Dataset:
    values = rows.values.reshape(len(rows.counts), len(layout.label))
    if layout.words.any():
        X = np.zeros((len(values), len(layout.feature_names)))
        for place in np.flatnonzero(layout.label < 0):
            _fill(X, layout, place, values[:, place])
    else:
        X = values[:, layout.label < 0]
    marks = values[:, np.argsort(layout.label, kind="stable")[len(layout.label) - len(layout.label_names) :]]
    positive, unknown = np.nonzero(marks > 0), np.nonzero(np.isnan(marks))
    return _named(X, positive, unknown, layout)


def _fill(X: NDArray[np.float64], layout: Layout, place: int, values: NDArray[np.float64]) -> None:
    """Write the columns of one attribute: its numbers, or a 1 for each row whose word is not the first."""
    if layout.words[place]:
        others = np.flatnonzero(values)
        X[others, layout.start[place] + values[others].astype(np.int64) - 1] = 1.0
    else:
        X[:, layout.start[place]] = values


def _sparse_dataset(table: Table, layout: Layout, rows: Rows, limit_bytes: int) -> Dataset:
    n = len(rows.counts)
    places = np.repeat(np.arange(n, dtype=np.intc), rows.counts), rows.attributes, rows.values
    row, attribute, value = _completed(table, *places, n, limit_bytes)
    label = layout.label[attribute]
    positive, unknown = (label >= 0) & (value > 0), (label >= 0) & np.isnan(value)
    if unknown.any():
        require_room(table.source, n * len(table.labels) * GROWTH, limit_bytes, "a mask of the labels")
    labels = [(row[chosen], label[chosen]) for chosen in (positive, unknown)]
    chosen = (label < 0) & (value != 0)
    row, attribute, value = row[chosen], attribute[chosen], value[chosen]
    words = layout.words[attribute]
    column = layout.start[attribute]
    column[words] += value[words].astype(np.int64) - 1
    X = csr_array((np.where(words, 1.0, value), (row, column)), shape=(n, len(layout.feature_names)))
    X.sort_indices()
    return _named(X, *labels, layout)


def _completed(table: Table, row, attribute, value, n: int, limit_bytes: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return rows, attributes and values with those added that a sparse row leaves out though they are not zero."""
    omitted = np.array([coding.omitted for coding in table.codings])
    special = np.flatnonzero(omitted)
    if not len(special):
        return row, attribute, value
    require_room(table.source, n * len(special) * GROWTH, limit_bytes, "values that are not zero where left out")
    order = np.full(table.width, -1)
    order[special] = np.arange(len(special))
    given = order[attribute] >= 0
    absent = np.ones((n, len(special)), dtype=bool)
    absent[row[given], order[attribute[given]]] = False
    more_rows, more = np.nonzero(absent)
    more = special[more]
    parts = (row, more_rows), (attribute, more), (value, omitted[more])
    return tuple(np.concatenate(part) for part in parts)


def _named(X, positive, unknown, layout: Layout) -> Dataset:
    names = {"feature_names": layout.feature_names, "label_names": layout.label_names}
    return assemble(X, positive, unknown, len(layout.label_names), **names)
