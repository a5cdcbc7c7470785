"""The header of an ARFF file: attributes with their listed values, and what a value becomes as a number."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lrlab.datasets.columns import Column
from lrlab.datasets.labels import LabelChoice, unescaped
from lrlab.datasets.text import WORDS_GROWTH, Line, Source, label_value, require_room

FLAGS = re.ASCII | re.DOTALL | re.IGNORECASE

# A name or value: in single or double quotes, or bare; a backslash keeps the next character from having a meaning.
WORD = r"""(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|((?:[^\s,{}%'"\\]|\\.)(?:[^\s,{}%\\]|\\.)*+))"""
END = re.compile(r"\s*+(?:%.*)?", FLAGS)
VALUE = re.compile(WORD, FLAGS)
ATTRIBUTE = re.compile(rf"\s*+@attribute\s++{WORD}\s*+(\{{\s*+|[a-z]++|)", FLAGS)
COMMA = re.compile(r"\s*+(,|\})\s*+", FLAGS)
KEYWORD = re.compile(rb"\s*+@([a-z]++)", re.IGNORECASE)
DATA = re.compile(rb"^\s*+@data\b", re.IGNORECASE | re.MULTILINE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)


class Header(NamedTuple):
    """All that stands before the rows: the relation, attributes with the places of their values, the line of @data."""

    relation: str
    attributes: list[Column]
    data_line: int

    def meka_labels(self) -> LabelChoice | None:
        """Return the labels that MEKA states in the relation: -C n for the first n attributes, -C -n for the last."""
        stated = MEKA.search(self.relation)
        count = int(stated[1]) if stated else 0
        return LabelChoice(count=abs(count), first=count > 0) if count else None


def read_header(source: Source, lines: Iterator[Line], limit_bytes: int) -> Header:
    """Read up to and including the line `@data`."""
    relation, named, line, size = "", dict[str, Column](), 1, 0
    for line, raw in lines:
        size += len(raw)
        require_room(source, size * WORDS_GROWTH, limit_bytes, "names and values")
        keyword = KEYWORD.match(raw)
        word = keyword[1].lower() if keyword else b""
        if word == b"attribute":
            column = _attribute(source, line, raw)
            if column.name in named:
                need = f"a name other than that of line {named[column.name].line}"
                raise source.refuse(line, need, column.name, "rename one of the two attributes")
            named[column.name] = column
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


def _attribute(source: Source, line: int, raw: bytes) -> Column:
    text = source.text(line, raw)
    match = ATTRIBUTE.match(text)
    kind = match[4].lower().strip() if match else ""
    if match and kind in ("numeric", "real", "integer", "{"):
        codes = _values(source, line, text, match.end()) if kind == "{" else None
        return Column(word_of(match), codes=codes, what="for attribute", line=line)
    need = "`@attribute name numeric` or `@attribute name {value, value}`"
    remedy = "remove attributes of text, dates or tables" if kind else "put names with spaces or commas in quotes"
    raise source.refuse(line, need, raw, remedy)


def _values(source: Source, line: int, text: str, place: int) -> dict[str, float]:
    """Return the places of the values that are listed in braces."""
    values, separator = dict[str, float](), ""
    while separator != "}":
        value = VALUE.match(text, place)
        after = COMMA.match(text, value.end()) if value else None
        if value is None or after is None or word_of(value) in values:
            need = "different values between braces, separated by commas,"
            raise source.refuse(line, need, text[place:] or text, "quote values with spaces, commas, % or braces")
        values[word_of(value)] = float(len(values))
        separator, place = after[1], after.end()
    if not END.fullmatch(text, place):
        raise source.refuse(line, "nothing after the closing brace", text[place:], "remove the rest of the line")
    return values


def word_of(match: re.Match[str]) -> str:
    """Return a matched name or value without quotes and escapes."""
    return unescaped(next((group for group in match.groups()[:3] if group is not None), ""))


def as_feature(column: Column) -> Column:
    """Return the column of a feature: 0 and 1 are numbers, all other listed values are words."""
    column.is_words = column.codes is not None and not set(column.codes) <= {"0", "1"}
    if column.codes is not None and not column.is_words:
        column.codes = {value: float(value) for value in column.codes}
    return column


def as_label(column: Column, source: Source) -> Column:
    """Return the column of a label: 1 for values that say yes, 0 for no, nan for unknown ones; refuse all others."""
    column.is_label = True
    if column.codes is not None:
        known = {value: label_value(value) for value in column.codes}
        column.codes = {value: code for value, code in known.items() if code is not None}
        if strange := [value for value, code in known.items() if code is None]:
            need = f"a label of values 0 and 1 (or false and true) for {column.name}"
            raise source.refuse(column.line, need, strange[0], "check which attributes are labels")
    return column
