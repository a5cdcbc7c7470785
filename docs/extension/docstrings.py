"""Docstrings of the lab in pages: their columns of words and formulas are kept as they are written."""

import re
from typing import Any

COLUMNS = re.compile(r"\S {3,}\S")
"""A line of a table of words: `minimize    F(W) = ...`."""


def keep(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Make a docstring reStructuredText, in place: paragraphs with columns are literal, marks in others are letters."""
    paragraphs = "\n".join(lines).strip().split("\n\n")
    lines[:] = [line for paragraph in paragraphs for line in (*_written(paragraph), "")]


def _written(paragraph: str) -> list[str]:
    own = paragraph.splitlines()
    if any(COLUMNS.search(line) or line.startswith("    ") for line in own):
        return ["::", "", *(f"    {line}" for line in own)]
    parts = re.split(r"(`[^`]+`|\*[a-z ]+\*)", " ".join(line.strip() for line in own))
    return ["".join(_kept(part) if k % 2 else re.sub(r"([\\*|_`])", r"\\\1", part) for k, part in enumerate(parts))]


def _kept(marked: str) -> str:
    return f"`{marked}`" if marked.startswith("`") else marked


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("autodoc-process-docstring", keep)
    return {"parallel_read_safe": True}
