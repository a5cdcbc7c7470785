r"""ARFF, dense or sparse, with the labels among its attributes (Mulan, MEKA, Weka); no library reads sparse ARFF.

A sparse row leaves out whatever is the first value of its attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. A
label `?` is not observed; a feature `?` is refused. An attribute of two listed values is one column of 0 and 1, of more
values a column each; one that nearly names the rows is left out, with a note.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack

from lrlab.arrays import Array, Matrix
from lrlab.data.dataset import Dataset, assemble
from lrlab.data.labels import FORMS, LabelChoice, unescaped
from lrlab.data.source import (
    GROWTH,
    MAX_COLUMNS,
    WORDS_GROWTH,
    Line,
    Source,
    label_value,
    number,
    printable,
    require_room,
)
from lrlab.parameters import InputError

FLAGS = re.ASCII | re.DOTALL | re.IGNORECASE
# A name or value: in single or double quotes, or bare; a backslash keeps the next character from having a meaning.
WORD = r"""(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|((?:[^\s,{}%'"\\]|\\.)(?:[^\s,{}%\\]|\\.)*+))"""
END = re.compile(r"\s*+(?:%.*)?", FLAGS)
VALUE = re.compile(WORD, FLAGS)
ATTRIBUTE = re.compile(rf"\s*+@attribute\s++{WORD}\s*+(\{{\s*+|[a-z]++|)", FLAGS)
SEPARATOR = {True: re.compile(r"\s*+(,|\})\s*+", FLAGS), False: re.compile(r"\s*+,\s*+|\s++", FLAGS)}
INDEX = re.compile(r"(\d{1,9})\s++", re.ASCII)
KEYWORD = re.compile(rb"\s*+@([a-z]++)", re.IGNORECASE)
DATA = re.compile(rb"^\s*+@data\b", re.IGNORECASE | re.MULTILINE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
PLAIN = re.compile(rb"[-+0-9.eE\s,]*+")
NUMBERS, LABEL = ("numeric", "real", "integer"), "label"


class Attribute(NamedTuple):
    """An attribute: its name, the line and kind that declare it, and the values that it lists (none: numbers)."""

    name: str
    line: int
    kind: str
    values: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether its values are numbers, of which a sparse row leaves out 0."""
        return not self.values or self.values == ("0", "1")

    def code(self, word: str, is_label: bool) -> float | None:
        """Return the number of a value: its place among those listed, or itself; None if it cannot stand here."""
        if is_label:
            listed = not self.values or word in self.values or word == "?"
            return label_value(word) if listed else None
        if self.counted:
            return number(word) if not self.values or number(word) in (0, 1) else None
        return float(self.values.index(word)) if word in self.values else None


class Header(NamedTuple):
    """All before the rows: the relation, the attributes, the line of @data."""

    relation: str
    attributes: list[Attribute]
    line: int

    def labels(self) -> LabelChoice | None:
        """Return the labels that the file states: by attributes of type label, or as MEKA does (-C n)."""
        typed = tuple(one.name for one in self.attributes if one.kind == LABEL)
        if typed:
            return LabelChoice(names=typed)
        stated = MEKA.search(self.relation)
        count = int(stated[1]) if stated else 0
        return LabelChoice(count=abs(count), first=count > 0) if count else None


def read_arff(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read an ARFF file."""
    source.require_few(b"\n,", "attributes and values", end=DATA, most=MAX_COLUMNS)
    lines = source.lines()
    header = read_header(source, lines, limit_bytes)
    stated = header.labels()
    if choice is None and stated is None:
        raise InputError("labels", FORMS, "nothing", "say which attributes are labels")
    choice = (
        choice._replace(count=stated.count, first=stated.first)
        if choice and stated and not choice.names and not choice.count
        else choice
    ) or stated
    assert choice is not None
    names = [one.name for one in header.attributes]
    labels = choice.places(names, source)
    for place in labels:
        one = header.attributes[place]
        if strange := next((value for value in one.values if label_value(value) is None), ""):
            need = f"a label of values 0 and 1 (or false and true) for {one.name}"
            raise source.refuse(one.line, need, strange, "check which attributes are labels")
    table = read_values(source, header, lines, set(labels), limit_bytes)
    return _dataset(source, header.attributes, labels, table, limit_bytes)


def read_header(source: Source, lines: Iterator[Line], limit_bytes: int) -> Header:
    """Read up to and including the line `@data`."""
    relation, named, line, size = "", dict[str, Attribute](), 1, 0
    for line, raw in lines:
        size += len(raw)
        require_room(source, size * WORDS_GROWTH, limit_bytes, "names and values")
        keyword = KEYWORD.match(raw)
        word = keyword[1].lower() if keyword else b""
        if word == b"attribute":
            one = _attribute(source, line, raw)
            if one.name in named:
                need = f"a name other than that of line {named[one.name].line}"
                raise source.refuse(line, need, one.name, "rename one of the two attributes")
            named[one.name] = one
        elif word == b"relation":
            relation = source.text(line, raw)
        elif word == b"data":
            if not named:
                raise source.refuse(line, "@attribute lines before @data", raw, "declare the columns first")
            return Header(relation, list(named.values()), line)
        elif raw.strip() and not raw.lstrip().startswith(b"%"):
            remedy = "put @data on a line of its own before the first row" if not word else "remove the line"
            raise source.refuse(line, "@relation, @attribute, @data or a % comment", raw, remedy)
    raise source.refuse(line, "@data after the attributes", "the end of the file", "add a line @data before the rows")


def _attribute(source: Source, line: int, raw: bytes) -> Attribute:
    text = source.text(line, raw)
    match = ATTRIBUTE.match(text)
    kind = match[4].lower().strip() if match else ""
    if match and kind in (*NUMBERS, LABEL, "{"):
        values = _listed(source, line, text, match.end()) if kind == "{" else ()
        return Attribute(_word(match), line, kind, values)
    need = "`@attribute name numeric` or `@attribute name {value, value}`"
    remedy = "remove attributes of text, dates or tables" if kind else "put names with spaces or commas in quotes"
    raise source.refuse(line, need, raw, remedy)


def _listed(source: Source, line: int, text: str, place: int) -> tuple[str, ...]:
    """Return the values that are listed in braces."""
    values, separator = dict[str, None](), ""
    while separator != "}":
        value = VALUE.match(text, place)
        after = SEPARATOR[True].match(text, value.end()) if value else None
        if value is None or after is None or _word(value) in values:
            need = "different values between braces, separated by commas,"
            raise source.refuse(line, need, text[place:] or text, "quote values with spaces, commas, % or braces")
        values[_word(value)] = None
        separator, place = after[1], after.end()
    if not END.fullmatch(text, place):
        raise source.refuse(line, "nothing after the closing brace", text[place:], "remove the rest of the line")
    return tuple(values)


def _word(match: re.Match[str]) -> str:
    """Return a matched name or value without quotes and escapes."""
    return unescaped(next((group for group in match.groups()[:3] if group is not None), ""))


def read_values(source: Source, header: Header, lines: Iterator[Line], labels: set[int], limit_bytes: int) -> Matrix:
    """Return the codes of all values (n, attributes), sparse if the rows are: what they leave out is not stored."""
    attributes, counts, places, values = header.attributes, list[int](), list[Array](), list[Array]()
    plain = all(one.counted for one in attributes)
    binary = np.array([place in labels or bool(one.values) for place, one in enumerate(attributes)])
    sparse = None
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
        indices, codes = parsed or _careful_row(source, attributes, line, source.text(line, row), braced, labels)
        counts.append(len(codes))
        values.append(codes)
        if sparse:
            places.append(indices)
        if source.complete(len(counts)):
            break
    if sparse is None:
        raise source.refuse(header.line, "rows after @data", "none", "add the rows")
    if not sparse:
        return np.array(values, dtype=np.float64)
    pointer = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((np.concatenate(values), np.concatenate(places), pointer), shape=(len(counts), len(attributes)))


def _plain_row(row: bytes, braced: bool, binary: Array) -> tuple[Array, Array] | None:
    """Return places and values of a row of plain numbers, or None for one that needs a closer look."""
    text = row[1:-1] if braced and row.endswith(b"}") else row
    if not PLAIN.fullmatch(text) or b",," in text:
        return None
    try:
        numbers = np.array(text.replace(b",", b" ").split(), dtype=np.float64)
    except ValueError:
        return None
    if braced and (len(numbers) % 2 or text.count(b",") != max(0, len(numbers) // 2 - 1)):
        return None
    places = numbers[::2] if braced else np.arange(len(numbers))
    values = numbers[1::2] if braced else numbers
    if (places != np.round(places)).any() or (not braced and len(values) != len(binary)):
        return None
    if len(places) and not (places[-1] < len(binary) and places[0] >= 0 and (np.diff(places) > 0).all()):
        return None
    marks = values[binary[places.astype(int)]]
    return (places.astype(np.intc), values) if np.isfinite(values).all() and (marks * (marks - 1) == 0).all() else None


def _careful_row(
    source: Source, attributes: list[Attribute], line: int, text: str, braced: bool, labels: set[int]
) -> tuple[Array, Array]:
    """Return places and codes of any row, and refuse a broken one at the place of the error."""
    width = len(attributes)
    need = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
    need = need if braced else f"{width} values separated by commas"
    remedy = "quote values with spaces, commas or braces" if braced else "give one value for each attribute"
    given = dict[int, float]()
    place = len(text) - len(text[1:].lstrip()) if braced else 0
    closed = braced and text[place : place + 1] == "}"
    place += closed
    while not closed:
        head = INDEX.match(text, place) if braced else None
        index = int(head[1]) if head else width if braced else len(given)
        word = VALUE.match(text, head.end() if head else place)
        if word is None or index >= width or index in given:
            got = text[place : place + 80] if braced or index < width else f"more than {index} values"
            raise source.refuse(line, need, got, remedy)
        code = attributes[index].code(_word(word), index in labels)
        if code is None:
            _refuse_value(source, line, attributes[index], _word(word), index in labels)
        given[index] = math.nan if code is None else code
        after = SEPARATOR[braced].match(text, word.end())
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


def _refuse_value(source: Source, line: int, one: Attribute, word: str, is_label: bool) -> None:
    what = "one of its listed values" if one.values else "1, 0 or ?" if is_label else "a number"
    remedy = "check which attributes are labels" if is_label else "write a number with a decimal point"
    remedy = "fill the value in, or remove the row" if word in ("", "?") else remedy
    raise source.refuse(line, f"{what} for attribute {printable(one.name)[:60]}", word, remedy)


def _dataset(
    source: Source, attributes: list[Attribute], labels: list[int], table: Matrix, limit_bytes: int
) -> Dataset:
    """Return features and labels of a table of codes."""
    n, L = table.shape[0], len(labels)
    sparse = not isinstance(table, np.ndarray)
    special = sum(max(1, len(one.values)) for one in attributes if not one.counted)
    require_room(source, n * special * GROWTH // 2, limit_bytes, "columns of listed values")
    parts, names, notes = list[Matrix](), list[str](), list[str]()
    columns = table.tocsc() if sparse else table
    block = list[int]()

    def flush() -> None:
        """Take the numbers before an attribute of words as they are."""
        if block:
            parts.append(columns[:, block])
            names.extend(attributes[place].name for place in block)
            block.clear()

    for place, one in enumerate(attributes):
        if place in labels:
            continue
        if one.counted:
            block.append(place)
            continue
        flush()
        codes = np.zeros(n) if sparse else table[:, place]
        if sparse:
            column = coo_array(columns[:, [place]])
            codes[column.coords[0]] = column.data
        if len(one.values) > 10 and len(np.unique(codes)) > n / 2:
            notes.append(f"Attribute {printable(one.name)[:60]} is nearly unique per row: it is left out.")
            continue
        kept = range(1, 2) if len(one.values) == 2 else range(len(one.values))
        # Of two numbers, as {1,0}, the column is their value.
        values = [number(value) for value in one.values]
        if len(values) == 2 and None not in values:
            parts.append(np.array(values, dtype=np.float64)[codes.astype(int)][:, None])
            names.append(one.name)
        else:
            parts.append((codes[:, None] == np.array(kept)).astype(np.float64))
            names.extend(f"{one.name}={one.values[value]}" for value in kept)
    flush()
    if not parts:
        raise InputError("attributes", "at least one feature", "none", "leave one attribute that is not a label")
    X: Any = csr_array(hstack([csr_array(part) for part in parts])) if sparse else np.hstack(parts)
    marks = np.array(columns[:, labels].todense() if sparse else columns[:, labels], dtype=np.float64)
    if sparse:
        X.eliminate_zeros()
        X.sort_indices()
        omitted = [j for j, place in enumerate(labels) if label_value((attributes[place].values or ("0",))[0]) == 1]
        stored = csr_array((np.ones(table.nnz), table.indices, table.indptr), shape=table.shape)
        for j in omitted:
            marks[stored[:, [labels[j]]].toarray().ravel() == 0, j] = 1.0
    label_names = tuple(attributes[place].name for place in labels)
    require_room(source, n * L * GROWTH // 2, limit_bytes, "a table of the labels")
    data = assemble(X, np.nonzero(marks > 0), np.nonzero(np.isnan(marks)), L, (tuple(names), label_names))
    return data.noted(notes)
