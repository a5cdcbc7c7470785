"""Multi-label svmlight: `1,5 3:0.5 17:1` a row, labels first (none at all is fine), then features in increasing order.

Rows are checked one at a time, so that an error names its line, and converted many at a time. Features, and likewise
labels, count from 0 if a 0 occurs, else from 1, unless the data to match (`like`) says. A row states every label that
applies: all labels are observed. Of rows to test on (`like`), features that the training rows do not have are left out.

The extreme classification repository's format has a line `n d L` before n such rows, all counted from 0; a blank row is
an instance without labels and features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.sparse import csr_array

from lrlab.datasets.dataset import Dataset, pattern
from lrlab.datasets.labels import LabelChoice
from lrlab.datasets.text import NUMBER, WORDS_GROWTH, Source, require_columns, require_room
from lrlab.datasets.unpacking import PIECE_BYTES
from lrlab.parameters import InputError

ROW = re.compile(
    rb"\s*+(?:(?P<labels>I(?:,I)*+)(?=\s|\Z))?+\s*+(?:qid:\d++)?+\s*+(?P<pairs>(?:(?P<last>\d{1,10}+):N(?:\s++|\Z))*+)"
    rb"(?:#.*)?+".replace(b"I", rb"\d{1,9}+(?:\.0*+)?+").replace(b"N", NUMBER),
    re.DOTALL,
)
FORM = "labels,labels index:value index:value ..."
INDEX_END = 2**31 - 1
SIZES = re.compile(rb"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+")
"""The first line of the extreme classification repository's format."""


class CheckedRows:
    """The rows of a file that are well formed: their labels, and their pairs as numbers.

    `end` is what labels and indices must stay below; blank rows are rows without anything, or skipped.
    """

    def __init__(self, source: Source, lines: Iterator[tuple[int, bytes]], end: tuple[int, int], blank: bool) -> None:
        self.source, self.end = source, end
        self.line, self.raw, self.numbers = 0, b"", array("q")
        self.labels, self.counts = array("i"), array("q")
        self.last, self.zeros = -1, [0, 0]
        """The largest index, and the lines where index 0 and label 0 first occur."""
        self._indices, self._values, self._sizes = array("i"), array("d"), array("q")
        waiting, size = list[bytes](), 0
        for self.line, self.raw in lines:
            match = ROW.fullmatch(self.raw)
            if match is None:
                raise self.refuse(f"`{FORM}`", "write labels as whole numbers from 0, then pairs")
            if not blank and not (match["labels"] or match["pairs"]):
                continue
            self._note(match)
            waiting.append(match["pairs"])
            if source.complete(len(self.counts)):
                break
            if (size := size + len(match["pairs"])) > PIECE_BYTES:
                self._convert(waiting)
                waiting, size = [], 0
        self._convert(waiting)
        if not self.counts:
            raise self.refuse("at least one row", "add the rows", "")

    def _note(self, match: re.Match[bytes]) -> None:
        labels = [int(label.partition(b".")[0]) for label in match["labels"].split(b",")] if match["labels"] else []
        last = int(match["last"]) if match["last"] else -1
        for what, largest, end in (("labels", max(labels, default=-1), self.end[1]), ("indices", last, self.end[0])):
            if largest >= end:
                raise self.refuse(f"{what} below {end}", f"correct the row or the number of {what}", str(largest))
        smallest = int(match["pairs"].partition(b":")[0]) if match["pairs"] else -1, min(labels, default=-1)
        self.zeros = [line or (self.line if low == 0 else 0) for line, low in zip(self.zeros, smallest, strict=True)]
        self.last = max(self.last, last)
        self.labels.extend(labels)
        self.counts.append(len(labels))
        self.numbers.append(self.line)
        self._sizes.append(match["pairs"].count(b":"))

    def _convert(self, rows: list[bytes]) -> None:
        """Add the pairs of some rows, the last ones noted."""
        text = b" ".join(rows).replace(b":", b" ")
        numbers = np.fromstring(text, sep=" ") if text.strip() else np.zeros(0)
        indices, values = numbers[::2], numbers[1::2]
        first = len(self._sizes) - len(rows)
        owners = np.repeat(np.arange(first, len(self._sizes)), self._sizes[first:])
        falling = np.flatnonzero((np.diff(indices) <= 0) & (np.diff(owners) == 0))[:1]
        infinite = np.flatnonzero(~np.isfinite(values))[:1]
        if len(falling):
            got = f"{indices[falling[0]]:.0f} before {indices[falling[0] + 1]:.0f}"
            line = self.numbers[owners[falling[0]]]
            raise self.source.refuse(line, "pairs index:value in increasing order of index", got, "sort the pairs")
        if len(infinite):
            line = self.numbers[owners[infinite[0]]]
            raise self.source.refuse(line, "finite values", "a larger one", "scale the features")
        self._indices.frombytes(indices.astype(np.intc).tobytes())
        self._values.frombytes(values.tobytes())

    def refuse(self, need: str, remedy: str, got: str | bytes | None = None) -> InputError:
        """Return the error for the row that is being read."""
        return self.source.refuse(self.line or 1, need, self.raw if got is None else got, remedy)

    def features(self, base: int, d: int) -> tuple[csr_array, int]:
        """Return X (n, d), indices counting from `base`, and the number of features beyond d, which are left out."""
        indices = np.array(self._indices, dtype=np.intc) - np.intc(base)
        pointer = np.concatenate([[0], np.cumsum(np.array(self._sizes, dtype=np.int64))])
        inside = indices < d
        extra = len(np.unique(indices[~inside]))
        if extra:
            pointer = np.concatenate([[0], np.cumsum(inside)])[pointer]
        return csr_array((np.array(self._values)[inside], indices[inside], pointer), shape=(len(self.counts), d)), extra

    def positives(self, base: int, L: int) -> csr_array:
        """Return Y (n, L), labels counting from `base`; refuse the first label beyond L."""
        labels = np.array(self.labels, dtype=np.intc) - np.intc(base)
        pointer = np.concatenate([[0], np.cumsum(np.array(self.counts, dtype=np.int64))])
        beyond = np.flatnonzero(labels >= L)[:1]
        if len(beyond):
            row = np.searchsorted(pointer, beyond[0], side="right") - 1
            need, remedy = f"labels below {L + base}", "name all labels, or give their number"
            raise self.source.refuse(self.numbers[row], need, str(labels[beyond[0]] + base), remedy)
        return pattern((np.repeat(np.arange(len(self.counts)), np.diff(pointer)), labels), (len(self.counts), L))


def read_svmlight(source: Source, choice: LabelChoice | None, limit_bytes: int, like: Dataset | None) -> Dataset:
    """Read a svmlight file line by line; labels are a number of labels or their names, by number."""
    names = choice.names if choice and choice.names else None
    L = len(names) if names else choice.count if choice else 0
    base_x, base_y = like.counts_from if like else (1, 1)
    rows = CheckedRows(source, source.lines(), (INDEX_END, (like.L if like else L or INDEX_END) + base_y), blank=False)
    base_x, base_y = like.counts_from if like else (int(not line) for line in rows.zeros)
    L = like.L if like else L or max(rows.labels, default=-1) + 1 - base_y
    for what, line, base in zip(("indices", "labels"), rows.zeros, (base_x, base_y), strict=True):
        if line and base:
            need = f"{what} that count from 1, like the other file's,"
            raise source.refuse(line, need, "0", "count alike in both files")
    d = like.d if like else rows.last + 1 - base_x
    if d < 1 or L < 1:
        raise source.refuse(1, f"at least one {'label' if d > 0 else 'feature'} in the file", "none", f"write `{FORM}`")
    require_columns(source, d + L, limit_bytes)
    X, extra = rows.features(base_x, d)
    names = names or (like.label_names if like else None)
    words = f"Features of {source.path.name} that the training rows do not have are left out: {extra} of them."
    data = Dataset(X, rows.positives(base_y, L), label_names=names, counts_from=(base_x, base_y))
    return replace(data, notes=(words,)) if extra else data


def is_extreme(source: Source) -> bool:
    """Say whether the first line holds three whole numbers and nothing else."""
    return any(SIZES.fullmatch(raw) for _, raw in islice(source.lines(), 1))


def read_extreme(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read a file of that repository's format; `labels` may give the names, in the order of their numbers."""
    lines = source.lines()
    line, raw = next(lines, (1, b""))
    match = SIZES.fullmatch(raw)
    n, d, L = (int(size) for size in match.groups()) if match else (0, 0, 0)
    if match is None or not n or not L or max(n, d, L) >= INDEX_END:
        raise source.refuse(line, "the numbers of rows, features and labels", raw, "write them in the first line")
    names = choice.names if choice and choice.names else None
    stated = len(names or ()) or (choice.count if choice else 0) or L
    if stated != L:
        raise source.refuse(line, f"{stated} labels, as many as were named,", str(L), "name all labels, or none")
    require_columns(source, d + L, limit_bytes)
    # A blank row is one byte of the file, and more in memory.
    require_room(source, n * WORDS_GROWTH, limit_bytes, f"{n} rows")
    n = min(n, source.limit or n)
    rows = CheckedRows(source, _counted(source, lines, n), (d, L), blank=True)
    if len(rows.counts) != n:
        raise source.refuse(line, f"as many rows as it says, {len(rows.counts)},", str(n), "correct the first line")
    return Dataset(rows.features(0, d)[0], rows.positives(0, L), label_names=names)


def _counted(source: Source, lines: Iterator[tuple[int, bytes]], n: int) -> Iterator[tuple[int, bytes]]:
    yield from islice(lines, n)
    for line, raw in lines if not source.limit else ():
        if raw.strip():
            raise source.refuse(line, f"nothing after {n} rows", raw, "correct the number of rows in the first line")
