"""The form of lesson files: texts, and steps with an equation, terms, a figure with a slider, and a question.

`figure.kind` names the module of `lrlab.lessons.figures` that computes and draws it. Numbers of texts are not written
but computed: `[[name]]` in a text stands for the number of that name in the step's table `numbers`, which says of what
(`of`, a name that the figure's `numbers` has) and where on the slider (`at`). The number `answer` decides which choice
of a question is right: the one whose range, above `over` and up to `to`, it lies in.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any

from lrlab.models.axes import axes, derived
from lrlab.parameters import Value, declared
from lrlab.protocol import Spec
from lrlab.sweeps.toml_source import Keys

POSITIONS = (int, float, str)
_SERIES = Keys({"label": str, "solver": str, "settings": dict, "spec": dict}, ("label", "solver"))
_SLIDER = Keys(
    {"axis": str, "setting": str, "values": [POSITIONS], "at": POSITIONS, "before": POSITIONS, "label": str},
    ("values", "at"),
)
_FIGURE = {
    "kind": str,
    "model": str,
    "spec": dict,
    "seed": int,
    "trials": int,
    "series": [_SERIES],
    "slider": _SLIDER,
    "measure": str,
    "log_x": bool,
    "log_y": bool,
    "level": float,
    "moment": str,
    "attributes": dict,
    "most": float,
}
_CHOICE = Keys({"text": str, "over": float, "to": float}, ("text",))
_QUESTION = Keys({"text": str, "choices": [_CHOICE], "feedback": str}, ("text", "choices", "feedback"))
NUMBER = Keys({"of": str, "at": POSITIONS}, ("of", "at"))
_STEP = Keys(
    {
        "title": str,
        "text": str,
        "equation": str,
        "terms": [str],
        "question": _QUESTION,
        "numbers": dict,
        "figure": Keys(_FIGURE, ("kind", "model", "slider")),
    },
    ("title", "text"),
)
KEYS = Keys(
    {"title": str, "summary": str, "place": int, "reference": str, "closing": str, "steps": [_STEP]},
    ("title", "summary", "place", "reference", "closing", "steps"),
)
PLACE = re.compile(r"\[\[([\w-]+)\]\]")
"""A number in a text, by its name."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Series:
    """A solver with its settings, on the figure's spec with some parameters of its own."""

    label: str
    solver: str
    settings: tuple[tuple[str, Value], ...] = ()
    spec: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True)
class Slider:
    """The positions of a figure's slider: an axis of the spec, or a setting of the solvers (`setting`).

    before: the position that is shown before the question is answered; None where nothing is.
    """

    name: str
    setting: bool
    values: tuple[Any, ...]
    start: Any
    label: str
    before: Any = None


@dataclass(frozen=True)
class Figure:
    """A live figure: what is computed along the slider, and how it is drawn (`kind`, and `look` by key)."""

    kind: str
    spec: Spec
    series: tuple[Series, ...]
    slider: Slider
    trials: int
    look: tuple[tuple[str, Any], ...] = ()

    @property
    def labels(self) -> list[str]:
        """The labels of its series."""
        return [one.label for one in self.series]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value of `look`."""
        return dict(self.look).get(key, default)

    @property
    def module(self) -> ModuleType:
        """The module of its kind."""
        return import_module(f"lrlab.lessons.figures.{self.kind}")


@dataclass(frozen=True)
class Choice:
    """A choice of a question; it is right where the answer is in (over, to]."""

    text: str
    over: float = float("-inf")
    to: float = float("inf")

    def holds(self, answer: float) -> bool:
        """Return whether the answer lies in its range."""
        return self.over < answer <= self.to


@dataclass(frozen=True)
class Question:
    """A question that comes before the figure: its text, the choices, and what is said once one was taken."""

    text: str
    choices: tuple[Choice, ...]
    feedback: str

    def right(self, answer: float) -> int:
        """Return the number of the choice that holds; -1 where none does."""
        return next((k for k, choice in enumerate(self.choices) if choice.holds(answer)), -1)


@dataclass(frozen=True)
class Step:
    """A step of a lesson; equation, figure and question may be missing."""

    title: str
    text: str
    equation: str = ""
    terms: tuple[str, ...] = ()
    figure: Figure | None = None
    question: Question | None = None
    numbers: Mapping[str, tuple[str, Any]] = field(default_factory=dict)

    def number(self, name: str) -> float:
        """Compute a number of the table `numbers`."""
        of, at = self.numbers[name]
        assert self.figure is not None
        return float(self.figure.module.numbers(self.figure, at)[of])

    def filled(self, text: str) -> str:
        """Return a text with its numbers, to three digits."""
        return PLACE.sub(lambda match: rounded(self.number(match[1])), text)


@dataclass(frozen=True)
class Lesson:
    """A lesson: its name in addresses, texts, and steps; closing sums it up."""

    name: str
    title: str
    summary: str
    place: int
    reference: str
    closing: str
    steps: tuple[Step, ...]


def rounded(number: float) -> str:
    """Return a number as a text says it: three digits, thousands apart, powers of ten where it is tiny."""
    if number and abs(number) < 1e-3:
        mantissa, _, exponent = f"{number:.0e}".partition("e")
        return f"{mantissa}·10{str(int(exponent)).translate(RAISED)}"
    if abs(number) >= 1000:
        return f"{float(f'{number:.3g}'):,.0f}"
    return f"{number:.3g}"


def axis_label(spec: Spec, axis: str) -> str:
    """Return the words for an axis of a spec: the title of a derived quantity, or a parameter's symbol and meaning."""
    if derived(type(spec), axis):
        return axes(type(spec))[axis]
    parameter = declared(type(spec))[axis]
    return f"{parameter.meaning}, {parameter.symbol}"
