"""The header of an ARFF file: attributes, their values, and how a value becomes a number."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lrlab.datasets.labels import LabelChoice, unescaped
from lrlab.datasets.text import WORDS_GROWTH, Source, label_value, number, require_room

FLAGS = re.ASCII | re.DOTALL | re.IGNORECASE

# A name or value: in single or double quotes, or bare; a backslash keeps the next character from having a meaning.
WORD = r"""(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|((?:[^\s,{}%'"\\]|\\.)(?:[^\s,{}%\\]|\\.)*+))"""
END = re.compile(r"\s*+(?:%.*)?", FLAGS)
VALUE = re.compile(WORD, FLAGS)
ATTRIBUTE = re.compile(rf"\s*+@attribute\s++{WORD}\s*+(\{{|[a-z]++|)", FLAGS)
COMMA = re.compile(r"\s*+(,|\})\s*+", FLAGS)
KEYWORD = re.compile(rb"\s*+@([a-z]++)", re.IGNORECASE)
DATA = re.compile(rb"^\s*+@data\b", re.IGNORECASE | re.MULTILINE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
SPACE = re.compile(r"\s*+", re.ASCII)


class Attribute(NamedTuple):
    """A column: its name, the line that declares it, and its values if they are listed (None for numbers)."""

    name: str
    line: int
    values: tuple[str, ...] | None = None

    @property
    def plain(self) -> bool:
        """Whether every value that may occur is written as the number that it stands for.

        Where not, values are listed, and not just 0 and 1: a nominal feature has one 0/1 column for each of them.
        """
        return self.values is None or set(self.values) <= {"0", "1"}


class Coding(NamedTuple):
    """Numbers for the values of an attribute, and for what a sparse row leaves out: the first value, or zero."""

    codes: dict[str, float] | None
    omitted: float = 0.0
    is_label: bool = False

    def code(self, text: str) -> float | None:
        """Return the number of a value, or None if the attribute has no such value."""
        if self.codes is None:
            return number(text)
        value = self.codes.get(text)
        if value is None and (written := number(text)) is not None and written.is_integer():
            return self.codes.get(str(int(written)))
        return value


class Header(NamedTuple):
    """All that stands before the rows."""

    relation: str
    attributes: tuple[Attribute, ...]
    data_line: int

    def meka_labels(self) -> LabelChoice | None:
        """Return the labels that MEKA states in the relation: -C n for the first n attributes, -C -n for the last."""
        stated = MEKA.search(self.relation)
        count = int(stated[1]) if stated else 0
        return LabelChoice(count=abs(count), first=count > 0) if count else None


def after_spaces(text: str, place: int) -> int:
    """Return the first place from `place` on that holds no space."""
    match = SPACE.match(text, place)
    return match.end() if match else place


def read_header(source: Source, lines: Iterator[tuple[int, bytes]], limit_bytes: int) -> Header:
    """Read up to and including the line `@data`."""
    relation, attributes, line, size = "", list[Attribute](), 1, 0
    named_in, shared = dict[str, int](), dict[tuple[str, ...] | None, tuple[str, ...] | None]()
    for line, raw in lines:
        size += len(raw)
        require_room(source, size * WORDS_GROWTH, limit_bytes, "names and values")
        keyword = KEYWORD.match(raw)
        word = keyword[1].lower() if keyword else b""
        if word == b"attribute":
            attribute = _attribute(source, line, raw)
            if attribute.name in named_in:
                need = f"a name other than that of line {named_in[attribute.name]}"
                raise source.refuse(line, need, attribute.name, "rename one of the two attributes")
            named_in[attribute.name] = line
            attributes.append(attribute._replace(values=shared.setdefault(attribute.values, attribute.values)))
        elif word == b"relation":
            relation = source.text(line, raw)
        elif word == b"data":
            if not attributes:
                raise source.refuse(line, "@attribute lines before @data", raw, "declare the columns first")
            return Header(relation, tuple(attributes), line)
        elif raw.strip() and not raw.lstrip().startswith(b"%"):
            remedy = "put @data on a line of its own before the first row" if not word else "remove the line"
            raise source.refuse(line, "@relation, @attribute, @data or a % comment", raw, remedy)
    raise source.refuse(line, "@data after the attributes", "the end of the file", "add a line @data before the rows")


def _attribute(source: Source, line: int, raw: bytes) -> Attribute:
    text = source.text(line, raw)
    match = ATTRIBUTE.match(text)
    kind = match[4].lower() if match else ""
    if match and kind in ("numeric", "real", "integer"):
        return Attribute(word_of(match), line)
    if match and kind == "{":
        return Attribute(word_of(match), line, _values(source, line, text, match.end()))
    need = "`@attribute name numeric` or `@attribute name {value, value}`"
    remedy = "remove attributes of text, dates or tables" if kind else "put names with spaces or commas in quotes"
    raise source.refuse(line, need, raw, remedy)


def _values(source: Source, line: int, text: str, place: int) -> tuple[str, ...]:
    values: dict[str, None] = {}
    separator, place = "", after_spaces(text, place)
    while separator != "}":
        value = VALUE.match(text, place)
        after = COMMA.match(text, value.end()) if value else None
        if value is None or after is None or word_of(value) in values:
            need = "different values between braces, separated by commas,"
            raise source.refuse(line, need, text[place:] or text, "quote values with spaces, commas, % or braces")
        values[word_of(value)] = None
        separator, place = after[1], after.end()
    if not END.fullmatch(text, place):
        raise source.refuse(line, "nothing after the closing brace", text[place:], "remove the rest of the line")
    return tuple(values)


def word_of(match: re.Match[str]) -> str:
    """Return a matched name or value without quotes and escapes."""
    return unescaped(next((group for group in match.groups()[:3] if group is not None), ""))


def feature_coding(attribute: Attribute) -> Coding:
    """Return the numbers of a feature's values: themselves, or of a nominal one their place in the list, from 1."""
    if attribute.values is None:
        return Coding(None)
    # Asked once: it looks at every value.
    nominal = not attribute.plain
    codes = {value: place + 1.0 if nominal else float(value) for place, value in enumerate(attribute.values)}
    return Coding(codes, codes[attribute.values[0]])


def label_coding(attribute: Attribute, source: Source) -> Coding:
    """Return 1 for values that say yes, 0 for those that say no, nan for unknown ones; refuse all others."""
    if attribute.values is None:
        return Coding(None, is_label=True)
    known = {value: label_value(value) for value in attribute.values}
    codes = {value: code for value, code in known.items() if code is not None}
    if len(codes) < len(known):
        strange = next(value for value in known if value not in codes)
        need = f"a label of values 0 and 1 (or false and true) for {attribute.name}"
        raise source.refuse(attribute.line, need, strange, "check which attributes are labels")
    return Coding(codes, codes[attribute.values[0]], is_label=True)
