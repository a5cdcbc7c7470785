"""Multi-label svmlight: `1,5 3:0.5 17:1` per row, labels first (none at all is fine), read by scikit-learn.

Features, and likewise labels, count from 0 if a 0 occurs in this file or in the one beside it, else from 1; a base that
is given decides instead. A row states every label that applies: all labels are observed. Of rows to test on, features
that the training rows do not have are left out.

The extreme classification repository's format has a line `n d L` before n such rows, all counted from 0; a blank row is
a sample without labels and features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import io
import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Indices
from lrlab.data.dataset import Dataset, pattern
from lrlab.data.labels import LabelChoice
from lrlab.data.source import GROWTH, WORDS_GROWTH, Source, require_columns, require_room

FORM = "`labels,labels index:value index:value ...` in increasing order of index"
END = 2**31 - 1
"""What indices and labels stay below."""
SIZES = re.compile(rb"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+")
"""The first line of the extreme classification repository's format."""


class Rows(NamedTuple):
    """The rows of a file: X (n, d), indices as in the file, labels and the rows that have them, lines of all rows."""

    X: csr_array
    labels: Indices
    owners: Indices
    lines: list[int]

    @property
    def lowest(self) -> tuple[int, int]:
        """The lowest index of a feature and of a label, at most 1."""
        return int(self.X.indices.min(initial=1)), int(self.labels.min(initial=1))


def parsed(lines: list[bytes]) -> tuple[csr_array, list[tuple[float, ...]]]:
    """Return features and labels of lines; ValueError or OverflowError if one is wrong."""
    # scikit-learn takes a second to import, which other formats do not need.
    from sklearn.datasets import load_svmlight_file

    X, labels = load_svmlight_file(io.BytesIO(b"\n".join(lines)), multilabel=True, zero_based=True)
    flat = np.array([label for row in labels for label in row])
    if len(labels) != len(lines) or not np.isfinite(X.data).all() or (X.indices >= END).any():
        raise ValueError("rows that are none, or values that are not finite")
    if len(flat) and not ((flat >= 0) & (flat < END) & (flat == np.round(flat))).all():
        raise ValueError("labels that are not whole numbers from 0")
    return csr_array(X), labels


def read_lines(source: Source, blank: bool, skip: int = 0, most: int = 0) -> Rows:
    """Return the rows of a file; blank: whether lines without anything are rows, too."""
    lines, numbers = list[bytes](), list[int]()
    for line, raw in source.lines():
        text = raw.partition(b"#")[0]
        if line > skip and (blank or text.strip()):
            if b"_" in text:
                raise source.refuse(line, FORM, raw, "write labels as whole numbers from 0, then pairs")
            lines.append(text if text.strip() else b"0:0")
            numbers.append(line)
            if source.complete(len(lines)) or 0 < most < len(lines):
                break
    if not lines:
        raise source.refuse(1, "at least one row", "", "add the rows")
    try:
        X, labels = parsed(lines)
    except (ValueError, OverflowError):
        bad = first_bad(lines)
        large = [index for index in re.findall(rb"(\d+):", lines[bad]) if int(index) >= END]
        need = f"indices below {END}" if large else FORM
        got = large[0] if large else lines[bad]
        raise source.refuse(numbers[bad], need, got, "write labels as whole numbers from 0, then pairs") from None
    X.eliminate_zeros()
    counts = [len(row) for row in labels]
    flat = np.array([label for row in labels for label in row], dtype=np.int64)
    return Rows(X, flat, np.repeat(np.arange(len(labels)), counts), numbers)


def first_bad(lines: list[bytes]) -> int:
    """Return the place of the first line that cannot be read, by bisection."""
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
    source: Source,
    choice: LabelChoice | None,
    limit_bytes: int,
    like: Dataset | None,
    beside: Source | None = None,
    base: int | None = None,
) -> Dataset:
    """Read a svmlight file; labels are a number of labels or their names, by number."""
    rows = read_lines(source, blank=False)
    bases: Any = (base, base) if base is not None else rows.lowest
    if like:
        bases = like.counts_from
    elif beside and base is None:
        bases = tuple(map(min, rows.lowest, read_lines(beside, blank=False).lowest))
    names = (choice and choice.names) or (like.label_names if like else None)
    stated = like.L if like else len(names or ()) or (choice.count if choice else 0)
    L = stated or int(rows.labels.max(initial=-1)) + 1 - bases[1]
    # Without any feature scikit-learn gives a column.
    d = like.d if like else rows.X.shape[1] - bases[0] if rows.X.nnz else 0
    if d < 1 or L < 1:
        raise source.refuse(1, f"at least one {'label' if d > 0 else 'feature'} in the file", "none", f"write {FORM}")
    require_columns(source, d + L, limit_bytes)
    require_range(source, rows, bases, (END + 1, L + bases[1]))
    data = dataset(rows, bases, d, L, names)
    if not (extra := len(np.unique(rows.X.indices[rows.X.indices >= bases[0] + d]))):
        return data
    return data.noted([f"Features of {source.path.name} that the training rows do not have are left out: {extra}."])


def require_range(source: Source, rows: Rows, bases: tuple[int, int], ends: tuple[int, int]) -> None:
    """Raise InputError if an index or a label is less than its base, or not less than its end."""
    owners = np.repeat(np.arange(rows.X.shape[0]), np.diff(rows.X.indptr))
    indices, labels = ("indices", rows.X.indices, owners), ("labels", rows.labels, rows.owners)
    for (what, values, of), first, end in zip((indices, labels), bases, ends, strict=True):
        low = f"{what} that count from {first}, like the other file's,"
        for wrong, need, remedy in (
            (values < first, low, "give both files at once, or the base by base=0 or base=1"),
            (
                values >= end,
                f"{what} below {end}",
                f"correct the row or the number of {what}, or give base=0 or base=1",
            ),
        ):
            if wrong.any():
                at = int(wrong.argmax())
                raise source.refuse(rows.lines[int(of[at])], need, f"{values[at]}", remedy)


def dataset(rows: Rows, bases: tuple[int, int], d: int, L: int, names: tuple[str, ...] | None) -> Dataset:
    """Return the rows with features and labels counted from these bases."""
    n = rows.X.shape[0]
    X = csr_array(rows.X[:, bases[0] : bases[0] + d])
    X.resize(n, d)
    return Dataset(X, pattern((rows.owners, rows.labels - bases[1]), (n, L)), label_names=names, counts_from=bases)


def is_extreme(source: Source) -> bool:
    """Say whether the first line holds three whole numbers and nothing else."""
    return any(SIZES.fullmatch(raw) for _, raw in [next(source.lines(), (1, b""))])


def read_extreme(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read a file of that repository's format; `labels` may give the names, in the order of their numbers."""
    line, raw = next(source.lines(), (1, b""))
    match = SIZES.fullmatch(raw)
    n, d, L = (int(size) for size in match.groups()) if match else (0, 0, 0)
    if not (n and L) or max(n, d, L) >= END:
        raise source.refuse(line, "the numbers of rows, features and labels", raw, "write them in the first line")
    names = choice.names if choice and choice.names else None
    stated = len(names or ()) or (choice.count if choice else 0) or L
    if stated != L:
        raise source.refuse(line, f"{stated} labels, as many as were named,", str(L), "name all labels, or none")
    require_columns(source, d + L, limit_bytes)
    # A blank row is one byte of the file, and more in memory.
    require_room(source, n * max(GROWTH, WORDS_GROWTH), limit_bytes, f"{n} rows")
    rows = read_lines(source, blank=True, skip=line, most=n)
    if len(rows.lines) > n:
        after, content = next((k, text) for k, text in source.lines() if k == rows.lines[n])
        if content.strip():
            need = f"nothing after {n} rows"
            raise source.refuse(after, need, content, "correct the number of rows in the first line")
        rows = Rows(rows.X[:n], rows.labels, rows.owners, rows.lines[:n])
    if len(rows.lines) != min(n, source.limit or n):
        raise source.refuse(line, f"as many rows as it says, {len(rows.lines)},", str(n), "correct the first line")
    require_range(source, rows, (0, 0), (d, L))
    return replace(dataset(rows, (0, 0), d, L, names), counts_from=(0, 0))
