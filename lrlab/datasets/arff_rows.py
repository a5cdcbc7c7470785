"""The rows of an ARFF file as numbers: plain rows converted whole, all others value by value."""

import math
import re
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lrlab.arrays import Array, Indices, Mask
from lrlab.datasets.arff_header import COMMA, END, VALUE, Coding, Header, after_spaces, word_of
from lrlab.datasets.text import NUMBER, Source, label_value, printable

# Rows of plain numbers, which are nearly all rows: recognised whole, converted whole.
PLAIN_SPARSE = re.compile(rb"\{\s*+(?:\d{1,9}\s++N\s*+(?:,\s*+\d{1,9}\s++N\s*+)*+)?+\}".replace(b"N", NUMBER))
PLAIN_DENSE = re.compile(rb"N(?:(?:\s*+,\s*+|\s++)N)*+".replace(b"N", NUMBER))
INDEX = re.compile(r"(\d{1,9})\s++", re.ASCII)
SEPARATOR = re.compile(r"\s*+,\s*+|\s++", re.ASCII)


class Table(NamedTuple):
    """What the columns mean while rows are read: the labels' places, and every attribute's coding."""

    source: Source
    header: Header
    labels: list[int]
    codings: list[Coding]


class ArffRows(NamedTuple):
    """The rows as numbers: how many values each has, attributes (of sparse rows) and values, row after row."""

    sparse: bool
    counts: Indices
    attributes: Indices
    values: Array


def read_rows(table: Table, lines: Iterator[tuple[int, bytes]]) -> ArffRows:
    """Read all rows, which must be of one form, sparse or dense."""
    counts, attributes, numbers, sparse = array("q"), array("i"), array("d"), None
    plain = all(attribute.plain for attribute in table.header.attributes)
    binary = np.array([attribute.values is not None for attribute in table.header.attributes])
    binary[table.labels] = True
    for line, raw in lines:
        row = raw.strip()
        if not row or row.startswith(b"%"):
            continue
        braced = row.startswith(b"{")
        if sparse is not None and braced != sparse:
            need = "rows like the first one, " + ("{index value, ...}" if sparse else "value, value, ...")
            raise table.source.refuse(line, need, row, "write all rows in one form")
        sparse = braced
        parsed = _plain_row(row, braced, binary) if plain else None
        indices, values = parsed or _careful_row(table, line, table.source.text(line, row), braced)
        counts.append(len(values))
        numbers.frombytes(values.tobytes())
        if sparse:
            attributes.frombytes(indices.tobytes())
        if table.source.complete(len(counts)):
            break
    if sparse is None:
        raise table.source.refuse(table.header.data_line, "rows after @data", "none", "add the rows")
    indices = np.frombuffer(attributes, np.intc) if attributes else np.zeros(0, np.intc)
    values = np.frombuffer(numbers) if numbers else np.zeros(0)
    return ArffRows(sparse, np.frombuffer(counts, np.int64), indices, values)


def _plain_row(row: bytes, braced: bool, binary: Mask) -> tuple[NDArray, NDArray] | None:
    """Return attributes and values of a row of plain numbers, or None for one that needs a closer look."""
    if not (PLAIN_SPARSE if braced else PLAIN_DENSE).fullmatch(row):
        return None
    text = row[1:-1].strip() if braced else row
    # numpy reads a number from white space alone.
    numbers = np.fromstring(text.replace(b",", b" "), sep=" ") if text else np.zeros(0)
    if braced:
        indices, values = numbers[::2].astype(np.intc), numbers[1::2]
        if len(indices) and (indices[-1] >= len(binary) or not (np.diff(indices) > 0).all()):
            return None
        marks = values[binary[indices]]
    else:
        indices, values = np.zeros(0, np.intc), numbers
        if len(values) != len(binary):
            return None
        marks = values[binary]
    return (indices, values) if np.isfinite(values).all() and (marks * (marks - 1) == 0).all() else None


def _careful_row(table: Table, line: int, text: str, braced: bool) -> tuple[NDArray, NDArray]:
    """Return attributes and values of any row, and refuse a broken one at the place of the error."""
    width = len(table.codings)
    need = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
    need = need if braced else f"{width} values separated by commas"
    remedy = "quote values with spaces, commas or braces" if braced else "give one value for each attribute"
    values, indices, given = array("d"), array("i"), bytearray(width)
    place = after_spaces(text, int(braced))
    closed = braced and text.startswith("}", place)
    place += closed
    while not closed:
        index, start = len(values), place
        if braced:
            head = INDEX.match(text, place)
            index, start = (int(head[1]), head.end()) if head else (width, place)
        word = VALUE.match(text, start)
        if word is None or index >= width or given[index]:
            got = text[place : place + 80] if braced or index < width else f"more than {index} values"
            raise table.source.refuse(line, need, got, remedy)
        given[index] = 1
        indices.append(index)
        values.append(_value(table, line, index, word))
        after = (COMMA if braced else SEPARATOR).match(text, word.end())
        closed = bool(after and after[1] == "}") if braced else END.fullmatch(text, word.end()) is not None
        if not closed and after is None:
            raise table.source.refuse(line, need, text[word.end() : word.end() + 80], remedy)
        place = after.end() if after else word.end()
    if not END.fullmatch(text, place):
        raise table.source.refuse(line, need, text[place : place + 80], "remove what follows (weights are not read)")
    if not braced and len(values) != width:
        raise table.source.refuse(line, need, f"{len(values)} values", remedy)
    order = np.argsort(np.array(indices, dtype=np.intc), kind="stable")
    return np.array(indices, dtype=np.intc)[order], np.array(values, dtype=np.float64)[order]


def _value(table: Table, line: int, index: int, word: re.Match[str]) -> float:
    """Return the number of one value; an unknown label is nan."""
    text, attribute, coding = word_of(word), table.header.attributes[index], table.codings[index]
    if word[3] == "?" and coding.is_label:
        return math.nan
    code = label_value(text) if coding.is_label and coding.codes is None else coding.code(text)
    if code is None:
        name = printable(attribute.name)[:60]
        kinds = "one of its listed values" if attribute.values else "0 or 1" if coding.is_label else "a number"
        remedy = "fill the value in, or remove the row" if word[3] == "?" else "correct the value"
        raise table.source.refuse(line, f"{kinds} for attribute {name}", text[:80], remedy)
    return code
