"""The rows of an ARFF file as numbers: plain rows converted whole, all others value by value."""

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices, Mask
from lrlab.datasets.arff_header import COMMA, END, VALUE, Header, word_of
from lrlab.datasets.columns import Column, coded
from lrlab.datasets.text import NUMBER, Line, Source

# Rows of plain numbers, which are nearly all rows: recognised whole, converted whole.
PLAIN_SPARSE = re.compile(rb"\{\s*+(?:\d{1,9}\s++N\s*+(?:,\s*+\d{1,9}\s++N\s*+)*+)?+\}".replace(b"N", NUMBER))
PLAIN_DENSE = re.compile(rb"N(?:(?:\s*+,\s*+|\s++)N)*+".replace(b"N", NUMBER))
OPENING = re.compile(r"\{?\s*+(\})?", re.ASCII)
INDEX = re.compile(r"(\d{1,9})\s++", re.ASCII)
SEPARATOR = re.compile(r"\s*+,\s*+|\s++", re.ASCII)


class ArffRows(NamedTuple):
    """The rows as numbers: how many values each has, columns (of sparse rows) and values, row after row."""

    sparse: bool
    counts: Indices
    columns: Indices
    values: Array


def read_rows(source: Source, header: Header, lines: Iterator[Line]) -> ArffRows:
    """Read all rows, which must be of one form, sparse or dense."""
    counts, places, numbers, sparse = array("q"), array("i"), array("d"), None
    plain = not any(column.is_words for column in header.attributes)
    binary = np.array([column.is_label or column.codes is not None for column in header.attributes])
    for line, raw in lines:
        row = raw.strip()
        if not row or row.startswith(b"%"):
            continue
        braced = row.startswith(b"{")
        if sparse is not None and braced != sparse:
            need = "rows like the first one, " + ("{index value, ...}" if sparse else "value, value, ...")
            raise source.refuse(line, need, row, "write all rows in one form")
        sparse = braced
        parsed = _plain_row(row, braced, binary) if plain else None
        indices, values = parsed or _careful_row(source, header.attributes, line, source.text(line, row), braced)
        counts.append(len(values))
        numbers.frombytes(values.tobytes())
        if sparse:
            places.frombytes(indices.tobytes())
        if source.complete(len(counts)):
            break
    if sparse is None:
        raise source.refuse(header.data_line, "rows after @data", "none", "add the rows")
    return ArffRows(sparse, np.array(counts, np.int64), np.array(places, np.intc), np.array(numbers, np.float64))


def _plain_row(row: bytes, braced: bool, binary: Mask) -> tuple[Indices, Array] | None:
    """Return columns and values of a row of plain numbers, or None for one that needs a closer look."""
    if not (PLAIN_SPARSE if braced else PLAIN_DENSE).fullmatch(row):
        return None
    text = row[1:-1].strip() if braced else row
    # numpy reads a number from white space alone.
    numbers = np.fromstring(text.replace(b",", b" "), sep=" ") if text else np.zeros(0)
    if not braced and len(numbers) != len(binary):
        return None
    indices = numbers[::2].astype(np.intc) if braced else np.arange(len(binary), dtype=np.intc)
    values = numbers[1::2] if braced else numbers
    if braced and len(indices) and (indices[-1] >= len(binary) or not (np.diff(indices) > 0).all()):
        return None
    marks = values[binary[indices]]
    return (indices, values) if np.isfinite(values).all() and (marks * (marks - 1) == 0).all() else None


def _careful_row(
    source: Source, columns: Sequence[Column], line: int, text: str, braced: bool
) -> tuple[Indices, Array]:
    """Return columns and values of any row, and refuse a broken one at the place of the error."""
    width = len(columns)
    need = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
    need = need if braced else f"{width} values separated by commas"
    remedy = "quote values with spaces, commas or braces" if braced else "give one value for each attribute"
    given, separator = dict[int, float](), COMMA if braced else SEPARATOR
    opening = OPENING.match(text)
    assert opening is not None
    place, closed = opening.end() if braced else 0, braced and opening[1] is not None
    while not closed:
        head = INDEX.match(text, place) if braced else None
        index = int(head[1]) if head else width if braced else len(given)
        word = VALUE.match(text, head.end() if head else place)
        if word is None or index >= width or index in given:
            got = text[place : place + 80] if braced or index < width else f"more than {index} values"
            raise source.refuse(line, need, got, remedy)
        given[index] = _value(source, line, columns[index], word)
        after = separator.match(text, word.end())
        closed = bool(after and after[1] == "}") if braced else END.fullmatch(text, word.end()) is not None
        if not closed and after is None:
            raise source.refuse(line, need, text[word.end() : word.end() + 80], remedy)
        place = after.end() if after else word.end()
    if not END.fullmatch(text, place):
        raise source.refuse(line, need, text[place : place + 80], "remove what follows (weights are not read)")
    if not braced and len(given) != width:
        raise source.refuse(line, need, f"{len(given)} values", remedy)
    order = sorted(given)
    return np.array(order, dtype=np.intc), np.array([given[index] for index in order])


def _value(source: Source, line: int, column: Column, word: re.Match[str]) -> float:
    """Return the number of one value; an unknown label is nan."""
    if word[3] == "?" and column.is_label:
        return math.nan
    return coded(source, line, [word_of(word)], [column])[0]
