"""Reads multi-label svmlight with scikit-learn: `1,5 3:0.5 17:1` per row, its labels first.

Features and labels count from 0 if a 0 occurs in this file or in the other one, else from 1; `base` overrides this. A
row states its positive labels, so that all labels are observed.

The format of the extreme classification repository has a line `n d L` before n such rows, which count from 0. A blank
row has neither labels nor features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import io
import re
from bisect import bisect_left

import numpy as np
from scipy.sparse import csr_array

from lrlab.data.dataset import Dataset, LabelChoice
from lrlab.data.files import Source
from lrlab.models.multilabel_problem import pattern
from lrlab.parameters import InputError, counted

FORM = "`labels,labels index:value index:value ...` in increasing order of index"
END = 2**31 - 1
"""Bound on indices and labels."""
SIZES = re.compile(r"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+", re.ASCII)
"""The first line of the extreme classification repository's format, which no row of svmlight matches."""
PAIRS = re.compile(r"[\d,]*+(\s++\d++:\S*+)++\s*+(#.*)?|", re.ASCII)
"""A row of pairs, or an empty line."""


def parsed(rows: list[str]) -> tuple[csr_array, csr_array] | None:
    """Return features and labels of rows, None if a row is wrong."""
    # Importing scikit-learn takes a second, which other formats do not need.
    from sklearn.datasets import load_svmlight_file

    text = "\n".join(rows)
    try:
        X, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True, zero_based=True)
    except (ValueError, OverflowError):
        return None
    flat, counts = np.array([label for row in labels for label in row]), [len(row) for row in labels]
    readable = len(labels) == len(rows) and "_" not in text and np.isfinite(X.data).all() and (X.indices < END).all()
    if not (readable and ((flat >= 0) & (flat < END) & (flat == np.round(flat))).all()):
        return None
    X.eliminate_zeros()
    places, shape = (np.repeat(np.arange(len(rows)), counts), flat.astype(np.int64)), int(flat.max(initial=-1)) + 1
    return csr_array(X), pattern(csr_array((np.ones(len(flat)), places), shape=(len(rows), shape)))


def read_lines(source: Source) -> tuple[csr_array, csr_array, tuple[int, ...]]:
    """Return features X and positive labels Y by the file's numbers, CSR, and the sizes that the file states."""
    lines = [line.partition("#")[0].strip() for line in source.lines()[0]]
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
    if tables := parsed(rows):
        return *tables, sizes
    bad = bisect_left(range(len(rows) - 1), True, key=lambda k: parsed(rows[: k + 1]) is None)
    large = [index for index in re.findall(r"(\d+):", rows[bad]) if int(index) >= END]
    need, got = (f"indices below {END} in all columns", large[0]) if large else (FORM, rows[bad])
    raise source.refuse(numbers[bad] + 1, need, got, "write labels as whole numbers from 0, or responses as CSV")


def read_svmlight(
    source: Source, choice: LabelChoice | None, like: Dataset | None, other: Source | None, base: int | None
) -> Dataset:
    """Read a svmlight file. choice: the number of labels, or their names in order; other: the second file, if any."""
    X, Y, sizes = read_lines(source)
    # Numbers count from 0, or from 1 if no 0 occurs in either file.
    files = [(X, Y), *([read_lines(other)[:2]] if other and base is None else [])]
    bases = [min(int(table.indices.min(initial=1)) for table in side) for side in zip(*files, strict=True)]
    bases = [*like.counts_from] if like else [0, 0] if sizes else bases if base is None else [base, base]
    said = (len(choice.names) or choice.count) if choice else 0
    if said and sizes and said != sizes[2]:
        raise InputError("labels", f"{counted(sizes[2], 'label')}, as the file says", said, "name all labels, or none")
    # A feature may be 0 in all rows. A matrix without values is one column wide.
    ends = [X.shape[1] if X.nnz else 0, Y.shape[1]]
    d, L = (like.d, like.L) if like else sizes[1:] or (ends[0] - bases[0], said or ends[1] - bases[1])
    if d < 1 or L < 1:
        raise source.refuse(1, f"at least one {'label' if d > 0 else 'feature'} in the file", "none", f"write {FORM}")
    if sizes and ends[0] > d:
        raise source.refuse(1, f"indices below {d}", str(ends[0] - 1), "correct the number of features")
    lows = [int(table.indices.min(initial=first)) for table, first in zip((X, Y), bases, strict=True)]
    if lows[0] < bases[0] or lows[1] < bases[1] or ends[1] > bases[1] + L:
        need = f"labels that count from {bases[1]} to {bases[1] + L - 1}, and indices from {bases[0]}"
        got = f"labels {lows[1]} to {ends[1] - 1}, indices from {lows[0]}"
        raise InputError("file", need, got, "give both files at once, or say base=0 or base=1")
    source.require_columns(d + L)
    extra = len(np.unique(X.indices[X.indices >= bases[0] + d]))
    left = f"lrlab leaves out {counted(extra, 'feature')} of {source.path.name} that no training row has."
    X, Y = (table[:, first : first + size] for table, first, size in zip((X, Y), bases, (d, L), strict=True))
    X.resize(X.shape[0], d)
    Y.resize(X.shape[0], L)
    return Dataset(X, Y, None, None, (choice and choice.names) or None, (bases[0], bases[1]), (left,) if extra else ())


def is_svmlight(source: Source) -> bool:
    """Return whether the first line has pairs of index and value, or states sizes above such a line."""
    first, second, *_ = [*source.lines()[0][:2], "", ""]
    return PAIRS.fullmatch(second if SIZES.fullmatch(first) else first) is not None
