"""Shows text that comes from outside, from addresses, files and definitions, as text: no Markdown, no HTML."""

import re

import streamlit as st

MARKDOWN = re.compile(
    r"([\\`*\[\]<>$~|]"  # code, emphasis, links, HTML, formulas, tables
    r"|(?<![^\W_])_|_(?![^\W_])"  # emphasis, but not max_iter
    r"|:(?=\w)"  # colors and badges
    r"|^[#+-])"  # headings and lists
)
NUMBERED = re.compile(r"^(\d+)([.)])")
ADDRESS = re.compile(r"(?<=http)(?=:)|(?<=https)(?=:)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
"""Characters inside texts that become links even if they are escaped."""
ESCAPED = re.compile(r"\\(?=[^\w\s])")
JOINER = "\u2060"
"""It is not seen, and no line is broken there."""


def plain(text: object) -> str:
    """Return Markdown that shows a text as it is, in one line: without links, pictures, colors or formulas."""
    line = ADDRESS.sub(JOINER, " ".join(str(text).split()))
    return NUMBERED.sub(r"\1\\\2", MARKDOWN.sub(r"\\\1", line))


def with_code(text: str) -> str:
    """Return Markdown that shows a text as it is, but for words between backticks, which are code."""
    return re.sub(r"\\`(.+?)\\`", lambda code: "`" + ESCAPED.sub("", code[1]) + "`", plain(text))


def show_error(sentence: object) -> None:
    """Show a sentence that names an error; its quotes may come from anywhere."""
    st.error(plain(sentence))


def show_warning(sentence: object) -> None:
    """Show a warning; its quotes may come from anywhere."""
    st.warning(plain(sentence))
