"""HTML pages of presets: files that need no other file."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Template

from lrlab.presets.definition import Preset
from lrlab.presets.papers import paper_of
from lrlab.presets.result import Result, counts, lines

PAGE = Template(files("lrlab.presets").joinpath("page.html").read_text(encoding="utf-8"), autoescape=True)
Part = tuple[Preset, Any, str]
"""A preset in a report, its result or shipped result, and how lrlab computed it, or why it could not (None)."""


def page(preset: Preset, result: Result) -> str:
    """Return the page of a preset: title, explanation, panels side by side if the page is wide, captions."""
    return PAGE.render(title=preset.title, parts=[(preset, result, "")], command=command(preset))


def command(preset: Preset) -> str:
    """Return the command that computes a preset."""
    at = "" if preset.at is None else f" --at {preset.at:g}"
    return f"python -m lrlab paper {preset.name}{' --quick' if preset.quick else ''}{at}"


def pages(title: str, parts: Sequence[Part]) -> str:
    """Return the page of several presets: a table of verdicts, then the panels of each."""
    judged = [line for _, result, _ in parts if result for line in lines(result.table)]
    return PAGE.render(title=title, parts=parts, judged=judged, counts=counts(judged), lines=lines, paper_of=paper_of)
