"""Splits formulas into numbers, names and symbols."""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"\s*(?:([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|([A-Za-z_]\w*)|(.))", re.A
)
SYMBOLS = re.compile(r"\*\*|[<>=!]=|.", re.S)
TYPESET = str.maketrans("\u2212\u00b7\u00d7", "-**")
"""Signs of typeset formulas, and what they are here."""


class Token(NamedTuple):
    """A number, a name or a symbol, and the place of its first character, counted from 1."""

    kind: str
    text: str
    place: int


def read(text: str, place: int) -> tuple[Token, int]:
    """Return the token at a place of a text, from 0, or the end; and the place behind it."""
    match = TOKEN.match(text, place)
    if match is None:
        return Token("end", "the end", len(text) + 1), place
    group = match.lastindex or 1
    kind, start = ("number", "name", "symbol")[group - 1], match.start(group)
    word = match[group] if kind != "symbol" else SYMBOLS.match(text, start)[0]  # type: ignore[index]
    return Token(kind, word, start + 1), start + len(word)
