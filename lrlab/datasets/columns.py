"""Columns of tables: which number a field becomes, and the data set that the numbers of all columns make.

A column of words has a column of 0 and 1 for each of its words, named `column=word`; a gap is none of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets.dataset import Dataset, Names, assemble
from lrlab.datasets.text import UNKNOWN, Source, label_value, number, printable, require_room

MOST_WORDS = 1000
"""Different words of a column that does not list them: one with more names its rows."""


@dataclass(slots=True)
class Column:
    """A column of features or of labels, by default of numbers.

    codes: the numbers of its values, if these are listed: places of words, labels (1, 0, nan for an unknown one), or 0
    and 1. is_words: whether each value has a column of its own. what: what its format calls it, `line`: where it is
    declared.
    """

    name: str
    is_label: bool = False
    codes: dict[str, float] | None = None
    is_words: bool = False
    what: str = "in column"
    line: int = 1

    def code(self, field: str) -> float | None:
        """Return the number of a field, nan for an unknown label, None for anything else that cannot stand here."""
        if self.codes is None:
            return label_value(field) if self.is_label else number(field)
        value = self.codes.get(field)
        if value is None and (written := number(field)) is not None and written.is_integer():
            return self.codes.get(str(int(written)))
        return value

    @property
    def need(self) -> str:
        """What a field must be."""
        if self.codes is not None:
            return f"one of its listed values {self.what} {printable(self.name)[:60]}"
        return f"{'1, 0 or nothing' if self.is_label else 'a number'} {self.what} {printable(self.name)[:60]}"

    def remedy(self, field: str) -> str:
        """Say what to do about a field that it cannot have."""
        if not field.strip() or field.strip() == "?":
            return "fill the value in, or remove the row"
        return "check which columns are labels" if self.is_label else "write a number with a decimal point"

    @property
    def features(self) -> list[str]:
        """Names of the features that it gives."""
        return [f"{self.name}={word}" for word in self.codes or ()] if self.is_words else [self.name]


@dataclass(slots=True)
class WordColumn(Column):
    """A column of words that its file does not list; closed: those of another file alone have columns."""

    closed: bool = False

    def code(self, field: str) -> float | None:
        """Return the place of a word, nan for a gap or one that is not known, None for one too many."""
        known, word = self.codes, field.strip()
        assert known is not None
        if word not in known and word.lower() not in UNKNOWN and not self.closed:
            if len(known) == MOST_WORDS:
                return None
            known[word] = float(len(known))
        return known.get(word, math.nan)

    @property
    def need(self) -> str:
        """How many words it may have."""
        return f"at most {MOST_WORDS:,} different words in column {printable(self.name)[:60]}"

    def remedy(self, field: str) -> str:
        """Say what to do about more."""
        return "remove the column if it names the rows"


def is_word(field: str) -> bool:
    """Return whether a field is neither a number nor a gap."""
    word = field.strip()
    if word.lower() in UNKNOWN or not any(mark.isalpha() for mark in word):
        return False
    try:
        # Numbers that are not taken, such as inf or 1_0, are no words either.
        float(word)
    except ValueError:
        return True
    return False


def coded(source: Source, line: int, fields: Sequence[str], columns: Sequence[Column]) -> list[float]:
    """Return a row of fields as numbers; InputError where one cannot stand in its column."""
    codes = [column.code(field) for column, field in zip(columns, fields, strict=True)]
    values = [code for code in codes if code is not None]
    if len(values) < len(codes):
        column, field = next(pair[1:] for pair in zip(codes, columns, fields, strict=True) if pair[0] is None)
        raise source.refuse(line, column.need, field, column.remedy(field))
    return values


def dense_dataset(
    source: Source, columns: Sequence[Column], labels: Sequence[int], values: Array, limit_bytes: int
) -> Dataset:
    """Return the data of values (n, columns): labels at these places, in this order, and features at all others."""
    features = [(place, column) for place, column in enumerate(columns) if not column.is_label]
    names: Names = tuple(name for _, column in features for name in column.features)
    require_room(source, 8 * len(values) * len(names), limit_bytes, "features")
    X, places = values[:, [place for place, _ in features]], list(labels)
    if any(column.is_words for _, column in features):
        one_hot = [
            X[:, [j]] == np.arange(len(column.codes or ())) if column.is_words else X[:, [j]]
            for j, (_, column) in enumerate(features)
        ]
        X = np.hstack(one_hot, dtype=float)
    marks = values[:, places]
    label_names = tuple(columns[place].name for place in places)
    return assemble(X, np.nonzero(marks > 0), np.nonzero(np.isnan(marks)), len(places), (names, label_names))
