"""Lessons: one TOML file each, and the kinds of live figures that their steps show.

A file is texts, equations, questions and figures, see `definition`; a figure is computed when it is shown, by the
package's own solvers and theory, from small problems that take well under a second.
"""

import re
from functools import cache
from importlib.resources import files

from lrlab.lessons.definition import Lesson, read
from lrlab.parameters import require_known

ENTRY = re.compile(r"^- \*\*(?P<names>[^*]+)\*\*: (?P<words>.+)$", re.MULTILINE)
"""A line of the glossary."""


@cache
def lessons() -> dict[str, Lesson]:
    """Return all lessons by name, in their order."""
    paths = [file for file in files(__name__).iterdir() if file.name.endswith(".toml")]
    readings = [read(file.name.removesuffix(".toml"), file.read_text(encoding="utf-8")) for file in paths]
    return {lesson.name: lesson for lesson in sorted(readings, key=lambda lesson: (lesson.place, lesson.name))}


def load(name: str) -> Lesson:
    """Return a lesson; InputError for an unknown name."""
    require_known(name, lessons(), what="lesson")
    return lessons()[name]


@cache
def terms() -> dict[str, str]:
    """Return the explanation of each term of glossary.md; a line may have several terms."""
    text = files(__name__).joinpath("glossary.md").read_text(encoding="utf-8")
    return {
        name.partition(" (")[0].strip().lower(): match["words"]
        for match in ENTRY.finditer(text)
        for name in match["names"].split(",")
    }
