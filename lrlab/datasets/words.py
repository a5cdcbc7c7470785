"""Columns of words in CSV files of rows: each word becomes a column of 0 and 1."""

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets.dataset import Names
from lrlab.datasets.text import UNKNOWN, Source

MOST_WORDS = 1000
"""Different words of a column: one with more names its rows."""

Levels = dict[int, dict[str, int]]
"""Words of columns, by the places of both."""


def levels_of(first: list[str], features: list[int], columns: Names, known: Names | None) -> Levels:
    """Return the columns of words with those that are known: of the first row, or of the features of other rows."""
    if known is None:
        return {place: {} for place in features if first[place : place + 1] and is_word(first[place])}
    levels: Levels = {}
    for place in features:
        head = f"{columns[place]}="
        if columns[place] not in known and (own := [name[len(head) :] for name in known if name.startswith(head)]):
            levels[place] = {word: code for code, word in enumerate(own)}
    return levels


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


class WordColumns:
    """Columns of words: their codes while a file is read, and columns of 0 and 1 for them in the end."""

    def __init__(self, levels: Levels, closed: bool) -> None:
        """Take the words that are known, and whether there are no others."""
        self.levels, self.closed = levels, closed

    def coded(self, source: Source, line: int, row: list[str], columns: Names) -> list[str]:
        """Return a row with the places of its words instead of them, -1 for a gap or one that is not known."""
        if not self.levels:
            return row
        row = list(row)
        for place, known in self.levels.items():
            word = row[place].strip()
            if word not in known and word.lower() not in UNKNOWN and not self.closed:
                if len(known) == MOST_WORDS:
                    need = f"at most {MOST_WORDS:,} different words in column {columns[place][:60]}"
                    raise source.refuse(line, need, "more", "remove the column if it names the rows")
                known[word] = len(known)
            row[place] = str(known.get(word, -1))
        return row

    def require_words(self, source: Source, line: int, x: Array, features: list[int], columns: Names) -> None:
        """Raise InputError for a column with numbers in most rows but a word in this line; x holds the words' codes."""
        if self.closed:
            return
        positions = {place: position for position, place in enumerate(features)}
        for place, known in self.levels.items():
            numbers = [code for word, code in known.items() if not is_word(word)]
            if 2 * np.isin(x[:, positions[place]], numbers).sum() > len(x):
                need = f"a number in column {columns[place][:60]}, as in most rows,"
                raise source.refuse(line, need, next(iter(known)), "correct it, or write words in all rows")

    def width(self, features: list[int]) -> int:
        """Return the number of columns in the end."""
        return sum(len(self.levels[place]) if place in self.levels else 1 for place in features)

    def expanded(self, x: Array, features: list[int], columns: Names) -> tuple[Array, Names]:
        """Return the features with a column for each word in the place of its codes, and their names."""
        if not self.levels:
            return x, tuple(columns[place] for place in features)
        parts, names = list[Array](), list[str]()
        for values, place in zip(x.T, features, strict=True):
            words = self.levels.get(place)
            parts.append(values[:, None] if words is None else values[:, None] == np.arange(len(words)))
            names += [columns[place]] if words is None else [f"{columns[place]}={word}" for word in words]
        return np.hstack(parts, dtype=float), tuple(names)
