"""Multi-label svmlight: `1,5 3:0.5 17:1` a row, labels first (none at all is fine), then features in increasing order.

scikit-learn reads the features, line by line, so that the line at which it fails is the one with the mistake. Features,
and likewise labels, count from 0 if a 0 occurs, else from 1, unless the data to match (`like`) says. A row states every
label that applies: all labels are observed. Of rows to test on (`like`), features that the training rows do not have
are left out.

The extreme classification repository's format has a line `n d L` before n such rows, all counted from 0; a blank row is
an instance without labels and features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import NoReturn

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Indices, Mask, Vector
from lrlab.datasets.dataset import Dataset, pattern
from lrlab.datasets.labels import LabelChoice
from lrlab.datasets.text import WORDS_GROWTH, Line, Source, require_columns, require_room
from lrlab.parameters import InputError

FORM = "`labels,labels index:value index:value ...` in increasing order of index"
END = 2**31 - 1
"""What indices and labels stay below."""
SIZES = re.compile(rb"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+")
"""The first line of the extreme classification repository's format."""


class Rows:
    """The rows of a file: X (n, d), indices as in the file, labels, and the line of each row.

    An open file for scikit-learn's reader, which takes the lines from it without their labels.
    """

    def __init__(self, source: Source, lines: Iterator[Line], blank: bool) -> None:
        """Read all rows; blank: lines without anything are rows, too."""
        # Imported here: scikit-learn takes a second, which other formats do not need.
        from sklearn.datasets import load_svmlight_file

        self.source, self._lines, self._blank = source, lines, blank
        self.line, self.raw = 1, b""
        self._labels, self._counts, self.lines = array("q"), array("q"), array("q")
        try:
            self.X = csr_array(load_svmlight_file(self, zero_based=True)[0])
        except InputError:
            raise
        except OverflowError:
            large = [index for index in re.findall(rb"(\d+):", self.raw) if int(index) > END]
            raise self.refuse(f"indices below {END}", large[0] if large else self.raw, "correct the row") from None
        except ValueError:
            raise self.refuse(FORM, self.raw, "write labels as whole numbers from 0, then pairs") from None
        if not self.lines:
            raise self.refuse("at least one row", "", "add the rows")
        self.labels = np.frombuffer(self._labels, np.int64) if self._labels else np.zeros(0, np.int64)
        self.pointer = np.concatenate([[0], np.cumsum(np.frombuffer(self._counts, np.int64))])
        self.require(np.isfinite(self.X.data), self.X.data, self.X.indptr, "finite values", "scale the features")

    def read(self) -> NoReturn:
        """Refuse: scikit-learn takes what has this method for an open file, and reads it by lines."""
        raise TypeError("read line by line")

    def __iter__(self) -> Iterator[bytes]:
        """Yield the features of each row after a 0 in the place of its labels, which are kept here."""
        for line, raw in self._lines:
            self.line, self.raw = line, raw
            text = raw.partition(b"#")[0]
            first, *rest = text.split(None, 1) or [b""]
            if not (first or self._blank):
                continue
            given = first.split(b",") if first and b":" not in first else []
            if b"_" in text or not all(0 <= float(label) < END and float(label).is_integer() for label in given):
                raise ValueError("no labels, or a number that Python alone reads")
            self._labels.extend(int(float(label)) for label in given)
            self._counts.append(len(given))
            self.lines.append(line)
            yield b"0 " + (b"".join(rest) if given else text)
            if self.source.complete(len(self.lines)):
                return

    def refuse(self, need: str, got: str | bytes, remedy: str) -> InputError:
        """Return the error for the line that was read last."""
        return self.source.refuse(self.line, need, got, remedy)

    def require(self, good: Mask, values: Vector, pointer: Indices, need: str, remedy: str) -> None:
        """Raise InputError with the line of the first value that is not good; pointer: where each row begins."""
        if not good.all():
            place = int(good.argmin())
            row = int(np.searchsorted(pointer, place, side="right")) - 1
            raise self.source.refuse(self.lines[row], need, f"{values[place]:.12g}", remedy)

    def require_range(self, bases: tuple[int, int], ends: tuple[int, int]) -> None:
        """Raise InputError where an index or a label is less than its base, or not less than its end."""
        indices, labels = ("indices", self.X.indices, self.X.indptr), ("labels", self.labels, self.pointer)
        for (what, values, pointer), base, end in zip((indices, labels), bases, ends, strict=True):
            need = f"{what} that count from {base}, like the other file's,"
            self.require(values >= base, values, pointer, need, "count alike in both files")
            remedy = f"correct the row or the number of {what}"
            self.require(values < end, values, pointer, f"{what} below {end}", remedy)

    def dataset(self, bases: tuple[int, int], d: int, L: int, names: tuple[str, ...] | None) -> Dataset:
        """Return the rows with features and labels counted from these bases."""
        owners = np.repeat(np.arange(len(self.lines)), np.diff(self.pointer))
        Y = pattern((owners, self.labels - bases[1]), (len(self.lines), L))
        X = csr_array(self.X[:, bases[0] : bases[0] + d])
        X.resize(len(self.lines), d)
        return Dataset(X, Y, label_names=names, counts_from=bases)


def read_svmlight(source: Source, choice: LabelChoice | None, limit_bytes: int, like: Dataset | None) -> Dataset:
    """Read a svmlight file; labels are a number of labels or their names, by number."""
    rows = Rows(source, source.lines(), blank=False)
    lowest = int(rows.X.indices.min(initial=1)), int(rows.labels.min(initial=1))
    bases = like.counts_from if like else lowest
    names = (choice and choice.names) or (like.label_names if like else None)
    stated = like.L if like else len(names or ()) or (choice.count if choice else 0)
    L = stated or int(rows.labels.max(initial=-1)) + 1 - bases[1]
    # Without any feature scikit-learn gives a column.
    d = like.d if like else rows.X.shape[1] - bases[0] if rows.X.nnz else 0
    if d < 1 or L < 1:
        raise source.refuse(1, f"at least one {'label' if d > 0 else 'feature'} in the file", "none", f"write {FORM}")
    require_columns(source, d + L, limit_bytes)
    rows.require_range(bases, (END + 1, L + bases[1]))
    data = rows.dataset(bases, d, L, names)
    if not (extra := len(np.unique(rows.X.indices[rows.X.indices >= bases[0] + d]))):
        return data
    words = f"Features of {source.path.name} that the training rows do not have are left out: {extra} of them."
    return replace(data, notes=(words,))


def is_extreme(source: Source) -> bool:
    """Say whether the first line holds three whole numbers and nothing else."""
    return any(SIZES.fullmatch(raw) for _, raw in islice(source.lines(), 1))


def read_extreme(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read a file of that repository's format; `labels` may give the names, in the order of their numbers."""
    lines = source.lines()
    line, raw = next(lines, (1, b""))
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
    require_room(source, n * WORDS_GROWTH, limit_bytes, f"{n} rows")
    n = min(n, source.limit or n)
    rows = Rows(source, islice(lines, n), blank=True)
    after = next((row for row in lines if row[1].strip()), None) if not source.limit else None
    if after:
        need, remedy = f"nothing after {n} rows", "correct the number of rows in the first line"
        raise source.refuse(after[0], need, after[1], remedy)
    if len(rows.lines) != n:
        raise source.refuse(line, f"as many rows as it says, {len(rows.lines)},", str(n), "correct the first line")
    rows.require_range((0, 0), (d, L))
    return rows.dataset((0, 0), d, L, names)
