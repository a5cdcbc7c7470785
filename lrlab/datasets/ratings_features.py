"""Features of users or items: a CSV with a row `name,feature,feature,...` for each, numbers or words.

A column with words has a column of 0 and 1 for each word that two members share; `|` separates the words of a field, as
in Drama|Comedy. A column of numbers may have gaps (empty, `?`, NA), which become its mean.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets.table import Row, csv_rows, require_width
from lrlab.datasets.text import GROWTH, LIMIT_BYTES, UNKNOWN, Source, number, require_room

LARGEST = 1e100
"""Numbers of this size and their squares can be summed."""


class Column(NamedTuple):
    """A feature: the name of its column in the file (its number without a heading), and the word, "" of a number."""

    name: str
    word: str


Columns = tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class Features:
    """Features `values` (n, d) of the members whose rows are `members`, and what each column stands for."""

    members: dict[str, int]
    values: Array
    columns: Columns


def read_features(
    path: str | PathLike[str], what: str, limit_bytes: int = LIMIT_BYTES, like: Columns | None = None
) -> Features:
    """Read features of each `what`, user or item.

    like: the columns of an earlier table, for new members; gaps are then nan.
    """
    source = Source(Path(path), f"{what} features CSV")
    # All fields are held as text at once.
    source.check_size(limit_bytes, 2 * GROWTH)
    rows = list(csv_rows(source, limit_bytes))
    for line, row in rows:
        if len(rows[0][1]) < 2:
            raise source.refuse(line, f"the {what}'s name and at least one feature", ",".join(row), "add the features")
        require_width(source, line, row, len(rows[0][1]))
    heading = _is_heading(rows)
    places = dict[str, int]()
    for j, field in enumerate(rows[0][1] if rows else ()):
        title = (heading and field.strip()) or str(j + 1)
        if title in places:
            raise source.refuse(rows[0][0], "names of columns that differ", title, "rename one of the two columns")
        places[title] = j
    rows, members = rows[heading:], dict[str, int]()
    for line, row in rows:
        name = row[0].strip()
        if name in members:
            raise source.refuse(line, f"each {what} once", name, "remove one of the two rows")
        members[name] = len(members)
    if not members:
        raise source.refuse(1, f"at least one {what}", "none", "add rows name, feature, feature, ...")
    columns = like or _columns(source, what, places, rows)
    require_room(source, 8 * len(rows) * len(columns), limit_bytes, "features")
    values = _values(source, places, rows, columns)
    return Features(members, values if like else _filled(values), columns)


def _is_heading(rows: Sequence[Row]) -> bool:
    """Whether a first row names the columns: it has no numbers, and no word that its column has again."""
    if not rows or any(number(field) is not None for field in rows[0][1][1:]):
        return False
    titles = [_words(field) for field in rows[0][1]]
    return not any(titles[j] & _words(field) for _, row in rows[1:] for j, field in enumerate(row[1:], 1))


def _columns(source: Source, what: str, places: dict[str, int], rows: Sequence[Row]) -> Columns:
    """Return a column per column of numbers, and per word that two members share."""
    columns = list[Column]()
    for name, j in list(places.items())[1:]:
        strange = [row[j] for _, row in rows if number(row[j]) is None and _words(row[j])]
        counts = Counter(word for _, row in rows for word in _words(row[j])) if strange else Counter()
        words = [word for word, count in counts.items() if count > 1] if strange else [""]
        columns += [Column(name, word) for word in words]
    if columns:
        return tuple(columns)
    line, row = next((line, row) for line, row in rows if number(row[1]) is None)
    need = f"a number, or a word that two {what}s share, in column 2"
    raise source.refuse(line, need, row[1], "write a number with a decimal point, or take another column")


def _values(source: Source, places: dict[str, int], rows: Sequence[Row], columns: Columns) -> Array:
    """Return the numbers (n, d) of columns, nan for gaps."""
    values, words = np.zeros((len(rows), len(columns))), dict[int, dict[str, int]]()
    for k, (name, word) in enumerate(columns):
        # Without a heading columns are numbered from 1, the name of the member among them.
        numbered = int(name) if name.isdecimal() and len(name) < 10 else 0
        j = places.get(name, numbered - 1)
        if not 0 < j < len(places):
            raise source.refuse(1, f"a column {name[:60]}, which the model was fitted with,", "none", "add it")
        if word:
            words.setdefault(j, {})[word] = k
        else:
            values[:, k] = [_number(source, line, row[j], j) for line, row in rows]
    for j, known in words.items():
        for record, (_, row) in zip(values, rows, strict=True):
            record[[known[word] for word in _words(row[j]) & known.keys()]] = 1.0
    return values


def _number(source: Source, line: int, field: str, place: int) -> float:
    """Return a number, nan for a gap."""
    value = number(field)
    if (value is None and field.strip().lower() not in UNKNOWN) or abs(value or 0.0) > LARGEST:
        need = f"a number of a size up to {LARGEST:g} in column {place + 1}"
        raise source.refuse(line, need, field, "write a number with a decimal point")
    return np.nan if value is None else value


def _words(field: str) -> set[str]:
    """Return the words of a field; none of one that is unknown."""
    words = {word.strip() for word in field.split("|")}
    return {word for word in words if word.lower() not in UNKNOWN}


def _filled(values: Array) -> Array:
    """Return values with the mean of its column for each nan, 0 in a column without any number."""
    gaps = np.isnan(values)
    sums, counts = np.where(gaps, 0.0, values).sum(axis=0), np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, sums / counts, values)
