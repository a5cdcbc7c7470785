"""The extreme classification repository's format: a line `n d L`, then n rows `1,5 3:0.5 17:1`, all counted from 0.

A blank row is an instance without labels and features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import re
from collections.abc import Iterator
from itertools import islice

from scipy.sparse import csr_array

from lrlab.datasets.dataset import Dataset
from lrlab.datasets.labels import LabelChoice
from lrlab.datasets.svmlight import INDEX_END, CheckedRows
from lrlab.datasets.text import WORDS_GROWTH, Source, require_room

SIZES = re.compile(rb"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+")


def is_extreme(source: Source) -> bool:
    """Say whether the first line holds three whole numbers and nothing else."""
    return any(SIZES.fullmatch(raw) for _, raw in islice(source.lines(), 1))


def read_extreme(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read a file line by line; `labels` may give the names, in the order of their numbers."""
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
    # A blank row is one byte of the file, and more in memory.
    require_room(source, n * WORDS_GROWTH, limit_bytes, f"{n} rows")
    rows = CheckedRows(source, _counted(source, lines, n), (d, L), blank=True)
    X = rows.features()
    if len(rows.counts) != n:
        raise source.refuse(line, f"as many rows as it says, {len(rows.counts)},", str(n), "correct the first line")
    X = csr_array((X.data, X.indices, X.indptr), shape=(n, d))
    return Dataset(X, rows.positives(0, L), label_names=names)


def _counted(source: Source, lines: Iterator[tuple[int, bytes]], n: int) -> Iterator[tuple[int, bytes]]:
    yield from islice(lines, n)
    for line, raw in lines:
        if raw.strip():
            raise source.refuse(line, f"nothing after {n} rows", raw, "correct the number of rows in the first line")
