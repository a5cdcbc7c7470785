r"""ARFF, dense or sparse, with the labels among its attributes (Mulan, MEKA, Weka).

A sparse row leaves out whatever is the first value of its attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. A
label `?` is not observed; a feature `?` is refused. Feature columns are one an attribute of numbers; an attribute of
listed values other than 0 and 1 has one 0/1 column for each of them, also where these look like numbers. No library
that the lab needs reads sparse ARFF.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from lrlab.datasets.arff_header import DATA, as_feature, as_label, read_header
from lrlab.datasets.arff_rows import ArffRows, read_rows
from lrlab.datasets.columns import Column, dense_dataset
from lrlab.datasets.dataset import Dataset, assemble
from lrlab.datasets.labels import FORMS, LabelChoice
from lrlab.datasets.text import GROWTH, MAX_COLUMNS, Source, require_room
from lrlab.parameters import InputError


def read_arff(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read an ARFF file line by line."""
    source.require_few(b"\n,", "attributes and values", end=DATA, most=MAX_COLUMNS)
    lines = source.lines()
    header = read_header(source, lines, limit_bytes)
    choice = choice or header.meka_labels()
    if choice is None:
        raise InputError("labels", FORMS, "nothing", "say which attributes are labels")
    columns = header.attributes
    labels = choice.places([column.name for column in columns], source)
    for place in labels:
        as_label(columns[place], source)
    for column in columns:
        if not column.is_label:
            as_feature(column)
    rows = read_rows(source, header, lines)
    if rows.sparse:
        return _sparse_dataset(source, columns, labels, rows, limit_bytes)
    return dense_dataset(source, columns, labels, rows.values.reshape(len(rows.counts), -1), limit_bytes)


def _sparse_dataset(
    source: Source, columns: Sequence[Column], labels: Sequence[int], rows: ArffRows, limit_bytes: int
) -> Dataset:
    names = tuple(name for column in columns if not column.is_label for name in column.features)
    n, d, L = len(rows.counts), len(names), len(labels)
    widths = [0 if column.is_label else len(column.features) for column in columns]
    first = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.intc)
    first[list(labels)] = d + np.arange(L)
    owners, places, values = np.repeat(np.arange(n, dtype=np.intc), rows.counts), first[rows.columns], rows.values
    words = np.array([column.is_words for column in columns])
    if words.any():
        worded = words[rows.columns]
        places[worded] += values[worded].astype(np.intc)
        values[worded] = 1.0
    # Of words what is left out is the first one, whose column comes first.
    omitted = np.array([1.0 if column.is_words else _omitted(column) for column in columns])
    if len(special := np.flatnonzero(omitted != 0)):
        require_room(source, n * len(special) * GROWTH, limit_bytes, "values that are not zero where left out")
        absent = np.ones((n, len(special)), dtype=bool)
        order = np.full(len(columns), -1)
        order[special] = np.arange(len(special))
        given = order[rows.columns] >= 0
        absent[owners[given], order[rows.columns[given]]] = False
        where, which = np.nonzero(absent)
        owners, places = np.append(owners, where), np.append(places, first[special[which]])
        values = np.append(values, omitted[special[which]])
    whole = csr_array((values, (owners, places)), shape=(n, d + L))
    whole.eliminate_zeros()
    whole.sort_indices()
    X, marks = whole[:, :d], whole[:, d:].tocoo()
    positive, unknown = marks.data > 0, np.isnan(marks.data)
    if unknown.any():
        require_room(source, n * L * GROWTH, limit_bytes, "a mask of the labels")
    on, off = ((marks.row[chosen], marks.col[chosen]) for chosen in (positive, unknown))
    return assemble(X, on, off, L, (names, tuple(columns[place].name for place in labels)))


def _omitted(column: Column) -> float:
    """Return the number of what a sparse row leaves out: the first listed value, or zero."""
    return next(iter(column.codes.values())) if column.codes else 0.0
