"""Features of users or items: a CSV with a row `name,feature,feature,...` for each, numbers or words.

A column with words has a column of 0 and 1 for each word that two members share; `|` separates the words of a field, as
in Drama|Comedy. A column of numbers may have gaps (empty, `?`, NA), which become its mean.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets.table import Row, csv_rows, require_width
from lrlab.datasets.text import LIMIT_BYTES, UNKNOWN, Source, number, require_room

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
    table = _Table(Source(Path(path), f"{what} features CSV"), what, limit_bytes)
    columns = like or table.columns()
    require_room(table.source, 8 * len(table.members) * len(columns), limit_bytes, "features")
    targets: dict[int, dict[str, int]] = {}
    for j, (name, word) in enumerate(columns):
        targets.setdefault(table.place(name), {})[word] = j
    values = np.zeros((len(table.members), len(columns)))
    for (line, row), record in zip(table.rows(), values, strict=True):
        for place, target in targets.items():
            if "" in target:
                record[target[""]] = table.value(line, row, place)
                continue
            for word in _words(row[place]) & target.keys():
                record[target[word]] = 1.0
    return Features(table.members, values if like else _filled(values), columns)


class _Table:
    """A file that is read twice: first to see which columns are words, then for its values."""

    def __init__(self, source: Source, what: str, limit_bytes: int) -> None:
        self.source, self.what, self.limit = source, what, limit_bytes
        source.check_size(limit_bytes)
        self.members: dict[str, int] = {}
        first: Row = (1, [])
        self.words: list[Counter[str]] = []
        self.numbers: list[int] = []
        for line, row in csv_rows(source, limit_bytes):
            if not self.words:
                first = line, row
                if len(row) < 2:
                    need = f"the {what}'s name and at least one feature"
                    raise source.refuse(line, need, ",".join(row), "add the features")
                self.words, self.numbers = [Counter() for _ in row], [0] * len(row)
                continue
            self._count(line, row)
        self.heading = self._is_heading(first[1])
        if first[1] and not self.heading:
            self._count(*first)
        self.names: dict[str, int] = {}
        for j, field in enumerate(first[1]):
            title = (self.heading and field.strip()) or str(j + 1)
            if title in self.names:
                raise source.refuse(first[0], "names of columns that differ", title, "rename one of the two columns")
            self.names[title] = j
        if not self.members:
            raise source.refuse(1, f"at least one {what}", "none", "add rows name, feature, feature, ...")
        if not self.heading:
            # Counted last, it stands first.
            self.members = {name: i for i, name in enumerate(row[0].strip() for _, row in self.rows())}

    def _count(self, line: int, row: Sequence[str]) -> None:
        require_width(self.source, line, list(row), len(self.words))
        name = row[0].strip()
        if name in self.members:
            raise self.source.refuse(line, f"each {self.what} once", name, "remove one of the two rows")
        self.members[name] = len(self.members)
        for j, field in enumerate(row[1:], 1):
            if number(field) is not None:
                self.numbers[j] += 1
            self.words[j].update(_words(field))

    def _is_heading(self, row: Sequence[str]) -> bool:
        """Whether a first row names the columns: it has no numbers, and no word that its column has again."""
        if not row or any(number(field) is not None for field in row[1:]):
            return False
        return not any(word in self.words[j] for j, field in enumerate(row[1:], 1) for word in _words(field))

    def rows(self) -> Iterator[Row]:
        """Yield the rows of members again."""
        rows = csv_rows(self.source, self.limit)
        if self.heading:
            next(rows)
        return rows

    def columns(self) -> Columns:
        """Return a column per column of numbers, and per word that two members share."""
        columns, lone = [], 0
        for name, j in list(self.names.items())[1:]:
            words = sum(self.words[j].values())
            if words == self.numbers[j]:
                columns.append(Column(name, ""))
                continue
            lone = lone or j
            columns += [Column(name, word) for word, count in self.words[j].items() if count > 1]
        if columns:
            return tuple(columns)
        line, row = next((line, row) for line, row in self.rows() if number(row[lone]) is None)
        need = f"a number, or a word that two {self.what}s share, in column {lone + 1}"
        raise self.source.refuse(line, need, row[lone], "write a number with a decimal point, or take another column")

    def place(self, name: str) -> int:
        """Return the place of a column of an earlier table in this one."""
        if name in self.names:
            return self.names[name]
        if name.isdigit() and 1 < int(name) <= len(self.names):
            return int(name) - 1
        raise self.source.refuse(1, f"a column {name[:60]}, which the model was fitted with,", "none", "add it")

    def value(self, line: int, row: Sequence[str], place: int) -> float:
        """Return a number, nan for a gap."""
        value = number(row[place])
        if (value is None and row[place].strip().lower() not in UNKNOWN) or abs(value or 0.0) > LARGEST:
            need = f"a number of a size up to {LARGEST:g} in column {place + 1}"
            raise self.source.refuse(line, need, row[place], "write a number with a decimal point")
        return np.nan if value is None else value


def _words(field: str) -> set[str]:
    """Return the words of a field; none of one that is unknown."""
    words = {word.strip() for word in field.split("|")}
    return {word for word in words if word.lower() not in UNKNOWN}


def _filled(values: Array) -> Array:
    """Return values with the mean of its column for each nan, 0 in a column without any number."""
    gaps = np.isnan(values)
    if gaps.any():
        counts = np.maximum((~gaps).sum(axis=0), 1)
        values = np.where(gaps, np.where(gaps, 0.0, values).sum(axis=0) / counts, values)
    return values
