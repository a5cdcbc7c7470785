"""Reads multi-label svmlight with scikit-learn: `1,5 3:0.5 17:1` per row, its labels first.

Features and labels count from 0 if a 0 occurs in this file or in the other one, else from 1; `base` overrides this. A
row states its positive labels, so that all labels are observed.

The format of the extreme classification repository has a line `n d L` before n such rows, which count from 0. A blank
row has neither labels nor features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import io
import re
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Indices
from lrlab.data.dataset import Dataset, pattern
from lrlab.data.files import GROWTH, Source, split_lines
from lrlab.data.labels import LabelChoice
from lrlab.parameters import InputError

FORM = "`labels,labels index:value index:value ...` in increasing order of index"
END = 2**31 - 1
"""Bound on indices and labels."""
SIZES = re.compile(r"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+", re.ASCII)
"""The first line of the extreme classification repository's format, which no row of svmlight matches."""


class Rows(NamedTuple):
    """The rows of a file: X (n, d) by the file's indices, all labels with their rows, and the line of each row."""

    X: csr_array
    labels: Indices
    owners: Indices
    lines: list[int]

    @property
    def lowest(self) -> tuple[int, int]:
        """The lowest index of a feature and of a label, at most 1."""
        return int(self.X.indices.min(initial=1)), int(self.labels.min(initial=1))

    def dataset(self, source: Source, bases: tuple[int, int], d: int, L: int, choice: LabelChoice | None) -> Dataset:
        """Return the rows with d features and L labels that count from these bases; further features are dropped."""
        owners = np.repeat(np.arange(self.X.shape[0]), np.diff(self.X.indptr))
        for what, values, of, base, end in (
            ("indices", self.X.indices, owners, bases[0], END),
            ("labels", self.labels, self.owners, bases[1], bases[1] + L),
        ):
            if (wrong := (values < base) | (values >= end)).any():
                at, need = int(wrong.argmax()), f"{what} that count from {base}, below {end},"
                remedy = "give both files at once, or say base=0 or base=1"
                raise source.refuse(self.lines[int(of[at])], need, f"{values[at]}", remedy)
        source.require_columns(d + L)
        n = self.X.shape[0]
        X = csr_array(self.X[:, bases[0] : bases[0] + d])
        X.resize(n, d)
        Y = pattern((self.owners, self.labels - bases[1]), (n, L))
        data = Dataset(X, Y, label_names=(choice and choice.names) or None, counts_from=bases)
        extra = len(np.unique(self.X.indices[self.X.indices >= bases[0] + d]))
        note = f"lrlab leaves out {extra} features of {source.path.name} that no training row has."
        return data.noted([note] if extra else [])


def parsed(lines: list[str]) -> tuple[csr_array, list[tuple[float, ...]]]:
    """Return features and labels of lines; ValueError or OverflowError for a wrong line."""
    # Importing scikit-learn takes a second, which other formats do not need.
    from sklearn.datasets import load_svmlight_file

    text = "\n".join(lines)
    X, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True, zero_based=True)
    flat = np.array([label for row in labels for label in row])
    if len(labels) != len(lines) or "_" in text or not np.isfinite(X.data).all() or (X.indices >= END).any():
        raise ValueError("rows or values that cannot be read")
    if len(flat) and not ((flat >= 0) & (flat < END) & (flat == np.round(flat))).all():
        raise ValueError("labels that are not whole numbers from 0")
    return csr_array(X), labels


def read_lines(source: Source, lines: list[str], first: int = 1, blank: bool = False) -> Rows:
    """Return the rows of lines. first: the number of the first line; blank: whether blank lines are rows."""
    texts = [line.partition("#")[0].strip() for line in lines]
    numbers = [number for number, text in enumerate(texts, first) if blank or text]
    rows = [text or "0:0" for text in texts if blank or text]
    if not rows:
        raise source.refuse(1, "at least one row", "", "add the rows")
    try:
        X, labels = parsed(rows)
    except (ValueError, OverflowError):
        bad = first_bad(rows)
        large = [index for index in re.findall(r"(\d+):", rows[bad]) if int(index) >= END]
        need, got = (f"indices below {END} in all columns", large[0]) if large else (FORM, rows[bad])
        raise source.refuse(numbers[bad], need, got, "write labels as whole numbers from 0, then pairs") from None
    X.eliminate_zeros()
    flat = np.array([label for row in labels for label in row], dtype=np.int64)
    return Rows(X, flat, np.repeat(np.arange(len(labels)), [len(row) for row in labels]), numbers)


def first_bad(lines: list[str]) -> int:
    """Return the place of the first wrong line, by bisection."""
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high) // 2
        try:
            parsed(lines[low : middle + 1])
            low = middle + 1
        except (ValueError, OverflowError):
            high = middle
    return low


def read_svmlight(
    source: Source, choice: LabelChoice | None, like: Dataset | None, other: Source | None, base: int | None
) -> Dataset:
    """Read a svmlight file. choice: the number of labels, or their names in order; other: the second file, if any."""
    lines = source.lines()
    if match := SIZES.fullmatch(lines[0]):
        n, d, L = (int(size) for size in match.groups())
        return _sized(source, lines, n, d, L, choice)
    rows = read_lines(source, lines)
    bases: Any = (base, base) if base is not None else rows.lowest
    if like:
        bases = like.counts_from
    elif other and base is None:
        bases = tuple(map(min, rows.lowest, read_lines(other, other.lines()).lowest))
    stated = like.L if like else (len(choice.names) or choice.count) if choice else 0
    L = stated or int(rows.labels.max(initial=-1)) + 1 - bases[1]
    # Without any feature scikit-learn returns one column.
    d = like.d if like else rows.X.shape[1] - bases[0] if rows.X.nnz else 0
    if d < 1 or L < 1:
        raise source.refuse(1, f"at least one {'label' if d > 0 else 'feature'} in the file", "none", f"write {FORM}")
    return rows.dataset(source, bases, d, L, choice)


def is_sized(source: Source) -> bool:
    """Return whether the first line states sizes, and the second one has pairs of index and value."""
    lines = [*split_lines(source.text("cp1252")[0]), ""]
    return SIZES.fullmatch(lines[0]) is not None and ":" in lines[1]


def _sized(source: Source, lines: list[str], n: int, d: int, L: int, choice: LabelChoice | None) -> Dataset:
    """Return the rows of a file whose first line states its sizes. choice: names of the labels in order, if any."""
    if not (n and L) or max(n, d, L) >= END:
        raise source.refuse(1, "the numbers of rows, features and labels", lines[0], "write them in the first line")
    if choice and (stated := len(choice.names) or choice.count) != L:
        raise InputError("labels", f"{L} labels, as the file says", stated, "name all labels, or none")
    source.require_columns(d + L)
    source.require_room(n * GROWTH * 4, f"{n} rows")
    while len(lines) > n + 1 and not lines[-1].strip():
        lines.pop()
    if len(lines) != n + 1:
        raise source.refuse(1, f"as many rows as it says, {len(lines) - 1},", str(n), "correct the first line")
    rows = read_lines(source, lines[1:], first=2, blank=True)
    if int(rows.X.indices.max(initial=0)) >= max(d, 1):
        raise source.refuse(1, f"indices below {d}", str(rows.X.indices.max()), "correct the number of features")
    return rows.dataset(source, (0, 0), d, L, choice)
