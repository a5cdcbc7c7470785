"""Reads multi-label svmlight with scikit-learn: `1,5 3:0.5 17:1` per row, its labels first.

Features and labels count from 0 if a 0 occurs in this file or in the other one, else from 1; `base` overrides this. A
row states its positive labels, so that all labels are observed.

The format of the extreme classification repository has a line `n d L` before n such rows, which count from 0. A blank
row has neither labels nor features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import io
import re
from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Indices
from lrlab.data.dataset import Dataset, pattern
from lrlab.data.files import Source
from lrlab.data.labels import LabelChoice
from lrlab.parameters import InputError

FORM = "`labels,labels index:value index:value ...` in increasing order of index"
END = 2**31 - 1
"""Bound on indices and labels."""
SIZES = re.compile(r"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+", re.ASCII)
"""The first line of the extreme classification repository's format, which no row of svmlight matches."""
PAIRS = re.compile(r"[\d,]*+(\s++\d++:\S*+)++\s*+(#.*)?|", re.ASCII)
"""A row of pairs, or an empty line."""


class Rows(NamedTuple):
    """The rows of a file: X (n, d) by the file's indices, all labels with their rows, and the sizes that it states."""

    X: csr_array
    labels: Indices
    owners: Indices
    sizes: tuple[int, ...] = ()

    @property
    def lowest(self) -> tuple[int, int]:
        """The first numbers of features and of labels: 0, or 1 if no 0 occurs."""
        return (0, 0) if self.sizes else (int(self.X.indices.min(initial=1)), int(self.labels.min(initial=1)))


def parsed(rows: list[str]) -> tuple[csr_array, list[tuple[float, ...]]]:
    """Return features and labels of rows; ValueError or OverflowError for a wrong row."""
    # Importing scikit-learn takes a second, which other formats do not need.
    from sklearn.datasets import load_svmlight_file

    text = "\n".join(rows)
    X, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True, zero_based=True)
    flat = np.array([label for row in labels for label in row])
    if len(labels) != len(rows) or "_" in text or not np.isfinite(X.data).all() or (X.indices >= END).any():
        raise ValueError("rows or values that cannot be read")
    if len(flat) and not ((flat >= 0) & (flat < END) & (flat == np.round(flat))).all():
        raise ValueError("labels that are not whole numbers from 0")
    return csr_array(X), labels


def wrong(rows: list[str]) -> bool:
    """Return whether one of the rows cannot be read."""
    try:
        return not parsed(rows)
    except (ValueError, OverflowError):
        return True


def read_lines(source: Source) -> Rows:
    """Return the rows of a file."""
    lines = [line.partition("#")[0].strip() for line in source.lines()]
    stated = SIZES.fullmatch(lines[0])
    sizes = tuple(map(int, stated.groups())) if stated else ()
    if sizes:
        if not (sizes[0] and sizes[2]) or max(sizes) >= END:
            raise source.refuse(1, "the numbers of rows, features and labels", lines[0], "write them in the first line")
        source.require_columns(sizes[1] + sizes[2])
        while len(lines) > sizes[0] + 1 and not lines[-1]:
            lines.pop()
        if len(lines) != sizes[0] + 1:
            raise source.refuse(1, f"as many rows as it says, {len(lines) - 1},", lines[0], "correct the first line")
    numbers = [k for k, line in enumerate(lines) if (k > 0 if sizes else line)]
    rows = [lines[k] or "0:0" for k in numbers]
    if not rows:
        raise source.refuse(1, "at least one row", "", "add the rows")
    try:
        X, labels = parsed(rows)
    except (ValueError, OverflowError):
        bad = bisect_left(range(len(rows) - 1), True, key=lambda k: wrong(rows[: k + 1]))
        large = [index for index in re.findall(r"(\d+):", rows[bad]) if int(index) >= END]
        need, got = (f"indices below {END} in all columns", large[0]) if large else (FORM, rows[bad])
        raise source.refuse(numbers[bad] + 1, need, got, "write labels as whole numbers from 0, then pairs") from None
    X.eliminate_zeros()
    flat = np.array([label for row in labels for label in row], dtype=np.int64)
    return Rows(X, flat, np.repeat(np.arange(len(labels)), [len(row) for row in labels]), sizes)


def read_svmlight(
    source: Source, choice: LabelChoice | None, like: Dataset | None, other: Source | None, base: int | None
) -> Dataset:
    """Read a svmlight file. choice: the number of labels, or their names in order; other: the second file, if any."""
    rows = read_lines(source)
    bases: Any = rows.lowest if base is None or rows.sizes else (base, base)
    if like:
        bases = like.counts_from
    elif other and base is None:
        bases = tuple(map(min, rows.lowest, read_lines(other).lowest))
    said = (len(choice.names) or choice.count) if choice else 0
    if said and rows.sizes and said != rows.sizes[2]:
        raise InputError("labels", f"{rows.sizes[2]} labels, as the file says", said, "name all labels, or none")
    n, stored = rows.X.shape[0], rows.X.shape[1] if rows.X.nnz else 0
    _, d, L = rows.sizes or (n, stored - bases[0], said or int(rows.labels.max(initial=-1)) + 1 - bases[1])
    d, L = (like.d, like.L) if like else (d, L)
    if d < 1 or L < 1:
        raise source.refuse(1, f"at least one {'label' if d > 0 else 'feature'} in the file", "none", f"write {FORM}")
    if rows.sizes and stored > d:
        raise source.refuse(1, f"indices below {d}", str(stored - 1), "correct the number of features")
    low, high = int(rows.labels.min(initial=bases[1])), int(rows.labels.max(initial=bases[1]))
    if low < bases[1] or high >= bases[1] + L or rows.X.indices.min(initial=bases[0]) < bases[0]:
        need = f"labels that count from {bases[1]} to {bases[1] + L - 1}, and indices from {bases[0]}"
        got = f"labels {low} to {high}, indices from {rows.X.indices.min(initial=bases[0])}"
        raise InputError("file", need, got, "give both files at once, or say base=0 or base=1")
    source.require_columns(d + L)
    X = csr_array(rows.X[:, bases[0] : bases[0] + d])
    X.resize(n, d)
    Y = pattern((rows.owners, rows.labels - bases[1]), (n, L))
    data = Dataset(X, Y, label_names=(choice and choice.names) or None, counts_from=bases)
    extra = len(np.unique(rows.X.indices[rows.X.indices >= bases[0] + d]))
    note = f"lrlab leaves out {extra} features of {source.path.name} that no training row has."
    return data.noted([note] if extra else [])


def is_svmlight(source: Source) -> bool:
    """Return whether the first line has pairs of index and value, or states sizes above such a line."""
    first, second, *_ = [*source.lines()[:2], "", ""]
    return PAIRS.fullmatch(second if SIZES.fullmatch(first) else first) is not None
