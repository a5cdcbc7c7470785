"""Reads ARFF of Mulan, MEKA and Weka, dense or sparse, and multi-label svmlight.

scipy reads no sparse ARFF and no MEKA labels. A sparse row omits the first value of each attribute: 0 for numbers and
for {0,1}, but 1 for {1,0}. `?` is unknown. Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/

scikit-learn reads svmlight: `1,5 3:0.5 17:1` per row, its labels first. Features and labels count from 0 if a 0 occurs
in this file or in the other one, else from 1; `base` overrides this. A row states its positive labels, so that all
labels are observed. The format of the extreme classification repository has a line `n d L` before n such rows, which
count from 0. A blank row has neither labels nor features. Format: http://manikvarma.org/downloads/XC/XMLRepository.html
"""

import io
import re
from array import array
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array

from lrlab.data.dataset import Dataset, LabelChoice
from lrlab.data.files import COLUMN_BYTES, GROWTH, Source, number, printable
from lrlab.data.tables import require_names
from lrlab.models.multilabel import pattern
from lrlab.parameters import InputError, counted

WORD = re.compile(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|([^\s,{}'"][^\s,{}]*+)""", re.DOTALL)
"""A word in quotes, or without; spaces, commas and braces separate words."""
ATTRIBUTE = re.compile(rf"@attribute\s++({WORD.pattern})\s*+(\{{.*?\}}|[a-z]++)\s*+(%.*)?", re.IGNORECASE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
KINDS = ("numeric", "real", "integer", "label")
NUMBERS: tuple[list[str], ...] = ([], ["0", "1"])
"""Lists of values whose places are the numbers themselves."""
REMEDY = "correct the value, write all rows in one form, and quote values with spaces, commas or braces"
FORM = "`labels,labels index:value index:value ...` in increasing order of index"
END = 2**31 - 1
"""Bound on indices and labels."""
SIZES = re.compile(r"\s*+(\d{1,10}+)\s++(\d{1,10}+)\s++(\d{1,10}+)\s*+", re.ASCII)
"""The first line of the extreme classification repository's format, which no row of svmlight matches."""
PAIRS = re.compile(r"[-+\d.,]*+(\s++(qid|\d++):\S*+)++\s*+(#.*)?|", re.ASCII)
"""A row of pairs, or an empty line."""


class Attribute(NamedTuple):
    """An attribute: its name, its kind, and its listed values (none for numbers)."""

    name: str
    kind: str
    values: dict[str, int]

    def coded(self, word: str) -> float | None:
        """Return a number, or the place of a listed value; nan for `?`, None for another word."""
        return np.nan if word == "?" else self.values.get(word) if self.values else number(word)

    def decoded(self, codes: pd.Series) -> pd.Series:
        """Return codes as numbers, or as categories for a list of other than two numbers."""
        if [*self.values] in NUMBERS:
            return codes
        places, numbers = codes.fillna(-1).astype(int), list(map(number, self.values))
        if len(numbers) == 2 and None not in numbers:
            return pd.Series(np.array([*numbers, np.nan], dtype=np.float64)[places]).astype(codes.dtype)
        return pd.Series(pd.Categorical.from_codes(places, list(self.values)))


def read_arff(source: Source) -> tuple[pd.DataFrame, LabelChoice | None]:
    """Return the rows of a file, and the labels that it states, by attributes of type label or by MEKA's `-C n`.

    Columns of listed values are categories, or numbers if there are two numbers. A sparse file has sparse columns.
    """
    whole = {k: line for k, text in enumerate(source.lines()[0], 1) if (line := text.strip()) and line[0] != "%"}
    marks = {k: line.split(maxsplit=1)[0].lower() for k, line in whole.items() if line[0] == "@"}
    start = next((k for k, mark in marks.items() if mark == "@data"), 0)
    header = {k: line for k, line in whole.items() if k < start or not start}
    source.require_few(sum(marks.get(k) == "@attribute" for k in header), "attributes")
    if other := next((k for k in header if marks.get(k) not in ("@attribute", "@relation")), 0):
        remedy = "remove the line, or put @data on a separate line before the first row"
        raise source.refuse(other, "@relation, @attribute, @data or a % comment", whole[other], remedy)
    attributes = [_attribute(source, k, line) for k, line in header.items() if marks[k] == "@attribute"]
    names, rows = [one.name for one in attributes], {k: line for k, line in whole.items() if k > start > 0}
    require_names(source, start, names)
    if not attributes or not rows:
        need = "rows after @data" if attributes and start else "@attribute lines, and @data after the attributes"
        raise source.refuse(start or max(whole, default=0) + 1, need, "nothing", "add them")
    special = sum([*one.values] not in NUMBERS for one in attributes)
    source.require_room(len(rows) * special * GROWTH, "columns of listed values")
    codes = _codes(source, attributes, rows)
    frame = pd.concat([one.decoded(codes[k]) for k, one in enumerate(attributes)], axis=1).set_axis(names, axis=1)
    if labels := tuple(one.name for one in attributes if one.kind == "label"):
        return frame, LabelChoice(labels)
    stated = next(filter(None, (MEKA.search(line) for k, line in header.items() if marks[k] == "@relation")), None)
    return frame, LabelChoice(count=abs(int(stated[1])), first=int(stated[1]) > 0) if stated else None


def _attribute(source: Source, k: int, line: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(line)
    kind = match[5].lower() if match else ""
    if match is None or not (kind.startswith("{") or kind in KINDS):
        need = "`@attribute name numeric` or `@attribute name {value, value}`"
        remedy = "remove attributes of text, dates or tables, and put names with spaces or commas in quotes"
        raise source.refuse(k, need, line, remedy)
    values = _words(source, k, match[5]) if kind.startswith("{") else []
    if len(set(values)) < len(values):
        raise source.refuse(k, "different values between braces", line, "quote values with spaces, commas or braces")
    return Attribute(_words(source, k, match[1])[0], kind, {value: place for place, value in enumerate(values)})


def _words(source: Source, k: int, line: str, group: int = 1) -> list[str]:
    """Return the words of line k, without quotes and escapes; commas, if any, separate groups of words."""
    words, rest = ["".join(groups) for groups in WORD.findall(line)], WORD.sub("", line)
    if rest.removeprefix("{").removesuffix("}").strip(" \t,"):
        raise source.refuse(k, "closed quotes and braces", line, "close quotes, or escape them by a backslash")
    if rest.count(",") not in (0, len(words) // group - 1):
        raise source.refuse(k, "values between all commas", line, REMEDY)
    return [re.sub(r"\\(.)", r"\1", word) for word in words] if "\\" in line else words


def _codes(source: Source, attributes: list[Attribute], rows: dict[int, str]) -> pd.DataFrame:
    """Return numbers, and the places of listed values; nan for `?`, and 0 for whatever a sparse row omits."""
    width, sparse = len(attributes), next(iter(rows.values())).startswith("{")
    source.require_room(width * (COLUMN_BYTES if sparse else len(rows) * GROWTH), "values")
    owners, places, codes = array("q"), array("q"), array("d")
    for owner, (k, row) in enumerate(rows.items()):
        words, at = _words(source, k, row, 2 if sparse else 1), list(range(width))
        if sparse:
            at, words = [int(word) if word.isdecimal() else width for word in words[::2]], words[1::2]
        known = len({*at}) == len(at) == len(words) and max(at, default=0) < width
        if not known or sparse != (row[0] + row[-1] == "{}"):
            pairs = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
            raise source.refuse(k, pairs if sparse else f"{counted(width, 'value')} separated by commas", row, REMEDY)
        for place, word in zip(at, words, strict=True):
            if (code := attributes[place].coded(word)) is None:
                one = "one of its listed values" if attributes[place].values else "a number"
                need = printable(f"{one} for attribute {attributes[place].name[:60]}")
                raise source.refuse(k, need, word, REMEDY)
            codes.append(code)
        places.extend(at)
        owners.extend([owner] * len(at))
    if sparse:
        return pd.DataFrame.sparse.from_spmatrix(csc_array((codes, (owners, places)), shape=(len(rows), width)))
    return pd.DataFrame(np.reshape(codes, (len(rows), width)))


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
