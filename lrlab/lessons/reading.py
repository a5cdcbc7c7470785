"""Reads the glossary and lesson files, which it checks as a whole: every mistake is one sentence."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from lrlab import catalog
from lrlab.lessons.definition import PLACE, Choice, Figure, Lesson, Question, Series, Slider, Step
from lrlab.lessons.figures import KINDS, job
from lrlab.models.axes import axes, derived
from lrlab.parameters import InputError, declared, require_known
from lrlab.protocol import Spec
from lrlab.sweeps.toml import KeyPath, Keys, Source, make_spec

POSITIONS = (int, float, str)
_SERIES = Keys({"label": str, "solver": str, "settings": dict, "spec": dict}, ("label", "solver"))
_SLIDER = Keys(
    {"axis": str, "setting": str, "values": [POSITIONS], "label": str} | dict.fromkeys(("at", "before"), POSITIONS),
    ("values",),
)
_SHAPE = {"kind": str, "model": str, "spec": dict, "seed": int, "trials": int, "series": [_SERIES], "slider": _SLIDER}
_LOOK = {"measure": str, "log_x": bool, "log_y": bool, "level": float, "moment": str, "attributes": dict, "most": float}
_FIGURE = Keys({**_SHAPE, **_LOOK}, ("kind", "model", "slider"))
_CHOICE = Keys({"text": str, "over": float, "to": float, "why": str}, ("text",))
_QUESTION = Keys({"text": str, "choices": [_CHOICE], "feedback": str, "hidden": [str]}, ("text", "choices", "feedback"))
NUMBER = Keys({"of": str, "at": POSITIONS}, ("of", "at"))
_TEXTS = dict.fromkeys(("title", "text", "equation"), str)
_STEP = Keys({**_TEXTS, "terms": [str], "question": _QUESTION, "numbers": dict, "figure": _FIGURE}, ("title", "text"))
_LESSON = {**dict.fromkeys(("title", "summary", "reference", "closing"), str), "place": int, "steps": [_STEP]}
LESSON = Keys(_LESSON, tuple(_LESSON))
"""The keys of lesson files."""
ENTRY = re.compile(r"^- \*\*(?P<names>[^*]+)\*\*: (?P<words>.+)$", re.MULTILINE)
"""A line of the glossary."""


@cache
def terms() -> dict[str, str]:
    """Return the explanation of each term of glossary.md; a line may have several terms."""
    text = files(__package__).joinpath("glossary.md").read_text(encoding="utf-8")
    return {
        name.partition(" (")[0].strip().lower(): match["words"]
        for match in ENTRY.finditer(text)
        for name in match["names"].split(",")
    }


def read(name: str, text: str) -> Lesson:
    """Return the lesson of a file's text; InputError, with the path of the key, if it has another form."""
    source = Source(text, "lesson file", f"{name}.toml")
    source.check(LESSON, "a lesson")
    steps = tuple(_step(source, ("steps", k)) for k in range(len(source.content["steps"])))
    for part in ("equation", "question"):
        if not any(getattr(step, part) for step in steps):
            sentence = InputError(part, "in one step of a lesson or more", "none", f"add {part} to a step")
            raise source.located(sentence, ("steps",))
    return Lesson(name=name, **{**_stripped(source.content), "steps": steps})


def _stripped(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with texts without the space around them, and tables and lists as tuples."""
    kinds: dict[type, Callable[[Any], Any]] = {str: str.strip, dict: lambda value: tuple(value.items()), list: tuple}
    return {key: kinds.get(type(value), lambda value: value)(value) for key, value in table.items()}


def _step(source: Source, path: KeyPath) -> Step:
    table = source.paths[path]
    for k, term in enumerate(table.get("terms", ())):
        with source.locate((*path, "terms", k), path):
            require_known(term, terms(), what="term")
    figure = _figure(source, (*path, "figure")) if "figure" in table else None
    question = _question(source, (*path, "question"), figure) if "question" in table else None
    numbers = {}
    for key in table.get("numbers", {}):
        here = (*path, "numbers", key)
        source.check(NUMBER, "a number", here)
        of, at = source.paths[here]["of"], source.paths[here]["at"]
        if figure is None:
            raise source.located(InputError(key, "missing without a figure", of, "add a figure"), here)
        with source.locate(here):
            require_known(of, tuple(figure.names), what="of")
        numbers[key] = (of, at)
    step = Step(**{**_stripped(table), "figure": figure, "question": question, "numbers": numbers})
    used = [step.text]
    if question:
        used += [question.text, question.feedback, *(choice.why for choice in question.choices)]
    for key in [match[1] for text in used for match in PLACE.finditer(text)] + (["answer"] if question else []):
        with source.locate(path):
            require_known(key, tuple(numbers), what="number")
    return step


def _question(source: Source, path: KeyPath, figure: Figure | None) -> Question:
    table = source.paths[path]
    if figure is None:
        raise source.located(InputError("question", "next to a figure that answers it", "none", "add a figure"), path)
    choices = tuple(Choice(**choice) for choice in table["choices"])
    if len(choices) < 2:
        raise source.located(InputError("choices", "2 or more", len(choices), "add a choice"), (*path, "choices"))
    if figure.slider.before is None:
        error = InputError("slider", "with before, which is shown until the answer", "none", "add before to the slider")
        raise source.located(error, path)
    for k, label in enumerate(table.get("hidden", ())):
        with source.locate((*path, "hidden", k), path):
            require_known(label, tuple(figure.labels), what="series")
    return Question(**{**_stripped(table), "choices": choices})


def _figure(source: Source, path: KeyPath) -> Figure:
    table = source.paths[path]
    with source.locate((*path, "kind"), path):
        require_known(table["kind"], KINDS, what="kind")
    with source.locate((*path, "spec"), path):
        spec = make_spec({key: table[key] for key in ("model", "spec", "seed") if key in table})
    series = tuple(Series(**_stripped(one)) for one in table.get("series", ()))
    look = tuple((key, value) for key, value in _stripped(table).items() if key in _LOOK)
    slider = _slider(source, (*path, "slider"), spec)
    figure = Figure(table["kind"], spec, series, slider, int(table.get("trials", 1)), look)
    with source.locate((*path, "measure"), path):
        if "measure" in table:
            require_known(table["measure"], tuple(catalog.family(spec.model).measures), what="measure")
    for at in slider.values:
        for k, one in enumerate(series):
            with source.locate((*path, "series", k), (*path, "slider"), path):
                job(figure, one, at)
    with source.locate(path):
        figure.module.check(figure)
    return figure


def _slider(source: Source, path: KeyPath, spec: Spec) -> Slider:
    table = source.paths[path]
    name, setting = table.get("axis", table.get("setting", "")), "setting" in table
    if not setting:
        with source.locate((*path, "axis"), path):
            require_known(name, axes(type(spec)), what="axis")
    for key in ("at", "before"):
        if key in table and table[key] not in table["values"]:
            error = InputError(key, "one of the values of the slider", table[key], "take one of them")
            raise source.located(error, (*path, key))
    label = table.get("label") or (name if setting else _axis_label(spec, name))
    values = tuple(table["values"])
    return Slider(name, setting, values, table.get("at", values[0]), label, table.get("before"))


def _axis_label(spec: Spec, axis: str) -> str:
    """Return the words for an axis of a spec: the title of a derived quantity, or a parameter's symbol and meaning."""
    if derived(type(spec), axis):
        return axes(type(spec))[axis]
    parameter = declared(type(spec))[axis]
    return f"{parameter.meaning}, {parameter.symbol}"
