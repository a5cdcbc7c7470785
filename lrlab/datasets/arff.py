r"""ARFF, dense or sparse, with the labels among its attributes (Mulan, MEKA, Weka).

A sparse row leaves out whatever is the first value of its attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. A
label `?` is not observed; a feature `?` is refused. Feature columns are one an attribute of numbers; an attribute of
listed values other than 0 and 1 has one 0/1 column for each of them, also where these look like numbers.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lrlab.arrays import Indices, Mask
from lrlab.datasets.arff_header import DATA, feature_coding, label_coding, read_header
from lrlab.datasets.arff_rows import ArffRows, Table, read_rows
from lrlab.datasets.dataset import Dataset, Names, assemble
from lrlab.datasets.labels import FORMS, LabelChoice
from lrlab.datasets.text import GROWTH, Source, require_room
from lrlab.parameters import InputError


class Layout(NamedTuple):
    """The first column of each attribute, features before labels, and which attributes are nominal features."""

    column: NDArray[np.intc]
    nominal: Mask
    feature_names: Names
    label_names: Names

    @property
    def is_label(self) -> Mask:
        """Which attributes are labels."""
        return self.column >= len(self.feature_names)


def read_arff(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read an ARFF file line by line."""
    source.require_few(b"\n,", "attributes and values", end=DATA)
    lines = source.lines()
    header = read_header(source, lines, limit_bytes)
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
    attributes, names = table.header.attributes, list[str]()
    labels = {place: order for order, place in enumerate(table.labels)}
    column, nominal = np.zeros(len(table.codings), dtype=np.intc), np.zeros(len(table.codings), dtype=bool)
    for place, attribute in enumerate(attributes):
        if place in labels:
            continue
        column[place], nominal[place] = len(names), not attribute.plain
        listed = [f"{attribute.name}={value}" for value in (attribute.values or ())]
        names += listed if nominal[place] else [attribute.name]
    for place, order in labels.items():
        column[place] = len(names) + order
    return Layout(column, nominal, tuple(names), tuple(attributes[place].name for place in labels))


def _dense_dataset(layout: Layout, rows: ArffRows) -> Dataset:
    values = rows.values.reshape(len(rows.counts), len(layout.column))
    marks = np.empty((len(values), len(layout.label_names)))
    marks[:, layout.column[layout.is_label] - len(layout.feature_names)] = values[:, layout.is_label]
    if not layout.nominal.any():
        return _named(values[:, ~layout.is_label], np.nonzero(marks > 0), np.nonzero(np.isnan(marks)), layout)
    X = np.zeros((len(values), len(layout.feature_names)))
    for place in np.flatnonzero(~layout.is_label):
        if layout.nominal[place]:
            X[np.arange(len(X)), layout.column[place] + values[:, place].astype(np.intp) - 1] = 1.0
        else:
            X[:, layout.column[place]] = values[:, place]
    return _named(X, np.nonzero(marks > 0), np.nonzero(np.isnan(marks)), layout)


def _sparse_dataset(table: Table, layout: Layout, rows: ArffRows, limit_bytes: int) -> Dataset:
    n, d, L = len(rows.counts), len(layout.feature_names), len(layout.label_names)
    values, columns = rows.values, layout.column[rows.attributes]
    if layout.nominal.any():
        nominal = layout.nominal[rows.attributes]
        columns[nominal] += values[nominal].astype(np.intc) - 1
        values[nominal] = 1.0
    pointer = np.concatenate([[0], np.cumsum(rows.counts)])
    whole = csr_array((values, columns, pointer), shape=(n, d + L))
    special = np.flatnonzero([coding.omitted != 0 for coding in table.codings])
    if len(special):
        require_room(table.source, n * len(special) * GROWTH, limit_bytes, "values that are not zero where left out")
        whole = whole + _omitted(table, layout, rows, special)
    whole.eliminate_zeros()
    X, marks = whole[:, :d], whole[:, d:].tocoo()
    X.sort_indices()
    positive, unknown = marks.data > 0, np.isnan(marks.data)
    if unknown.any():
        require_room(table.source, n * L * GROWTH, limit_bytes, "a mask of the labels")
    return _named(X, (marks.row[positive], marks.col[positive]), (marks.row[unknown], marks.col[unknown]), layout)


def _omitted(table: Table, layout: Layout, rows: ArffRows, special: Indices) -> csr_array:
    """Return what sparse rows leave out though it is not zero, in the columns of `special` attributes."""
    n, order = len(rows.counts), np.full(len(table.codings), -1)
    order[special] = np.arange(len(special))
    given = np.flatnonzero(order[rows.attributes] >= 0)
    absent = np.ones((n, len(special)), dtype=bool)
    absent[np.repeat(np.arange(n, dtype=np.intc), rows.counts)[given], order[rows.attributes[given]]] = False
    where, which = np.nonzero(absent)
    # Of nominal features what is left out is the first value, whose column comes first.
    omitted = np.array([1.0 if layout.nominal[place] else table.codings[place].omitted for place in special])
    width = len(layout.feature_names) + len(layout.label_names)
    return csr_array((omitted[which], (where, layout.column[special[which]])), shape=(n, width))


def _named(X, positive, unknown, layout: Layout) -> Dataset:
    return assemble(X, positive, unknown, len(layout.label_names), (layout.feature_names, layout.label_names))
