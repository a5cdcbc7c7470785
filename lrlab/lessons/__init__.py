"""Lessons: one TOML file each, with texts, and steps with an equation, terms, a figure with a slider, and a question.

A figure is computed when it is shown, by the package's own solvers and theory, from small problems that take well under
a second; `figure.kind` names its class in `lrlab.lessons.figures`. Numbers of texts are not written but computed:
`[[name]]` in a text stands for the number of that name in the step's table `numbers`, which says of what (`of`, a name
that the figure's `numbers` has) and where on the slider (`at`). The number `answer` decides which choice of a question
is right: the one whose range, above `over` and up to `to`, it lies in. A wrong choice has a sentence `why`: what speaks
for it, and where that goes wrong. Before the answer the figure shows the position `before` of the slider, without the
series that the question names in `hidden`; after it the position that was asked.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.figures.numbers import rounded
from lrlab.lessons.figure import Figure, Series, Slider
from lrlab.parameters import require_known

ENTRY = re.compile(r"^- \*\*(?P<names>[^*]+)\*\*: (?P<words>.+)$", re.MULTILINE)
"""A line of the glossary."""
PLACE = re.compile(r"\[\[([\w-]+)\]\]")
"""A number in a text, by its name."""
WORDS_PER_MINUTE, MINUTES_TO_PREDICT, MINUTES_TO_LOOK = 120, 1.5, 0.25
"""Of texts with formulas; for a question and its slider; for a slider without a question."""


class Choice(NamedTuple):
    """A choice of a question; it is right if the answer is in (over, to]. why: the reply to a wrong choice."""

    text: str
    over: float = float("-inf")
    to: float = float("inf")
    why: str = ""


@dataclass(frozen=True)
class Question:
    """A question that comes before the figure: its text, the choices, and the reply to a choice.

    hidden: the labels of the series that appear only then.
    """

    text: str
    choices: Sequence[Choice]
    feedback: str
    hidden: Sequence[str] = ()

    def right(self, answer: float) -> int:
        """Return the number of the choice that holds; -1 if none does."""
        return next((k for k, choice in enumerate(self.choices) if choice.over < answer <= choice.to), -1)


@dataclass(frozen=True)
class Step:
    """A step of a lesson; equation, figure and question may be missing. The first paragraph of the text is visible."""

    title: str
    text: str
    equation: str = ""
    terms: Sequence[str] = ()
    figure: Figure | None = None
    question: Question | None = None
    numbers: Mapping[str, tuple[str, Any]] = field(default_factory=dict)

    @property
    def lead(self) -> str:
        """The first paragraph of the text."""
        return self.text.partition("\n\n")[0]

    @property
    def more(self) -> str:
        """The other paragraphs, which are folded away; "" for none."""
        return self.text.partition("\n\n")[2]

    @property
    def start(self) -> Any:
        """First position of the figure's slider: at the case that the question asks for, if there is one."""
        assert self.figure is not None
        slider = self.figure.slider
        return self.numbers["answer"][1] if self.question else slider.values[0] if slider.at is None else slider.at

    @cached_property
    def before(self) -> Figure | None:
        """The figure that is shown before the question is answered: without the answer."""
        if self.figure is None or self.question is None:
            return None
        known = [one for one in self.figure.series if one.label not in self.question.hidden]
        return replace(self.figure, series=known)

    def number(self, name: str) -> float:
        """Compute a number of the table `numbers`."""
        of, at = self.numbers[name]
        assert self.figure is not None
        return float(self.figure.numbers(at)[of])

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
    steps: Sequence[Step]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that its figures show, in their order."""
        return tuple(dict.fromkeys(step.figure.spec.model for step in self.steps if step.figure))

    @property
    def minutes(self) -> int:
        """About how long it takes, in minutes."""
        words = sum(len(f"{step.text} {step.question.text if step.question else ''}".split()) for step in self.steps)
        steps = sum(MINUTES_TO_PREDICT if step.question else MINUTES_TO_LOOK for step in self.steps)
        return round(words / WORDS_PER_MINUTE + steps)


def read(name: str, text: str) -> Lesson:
    """Return the lesson of a TOML text. Tests check that the parts of each lesson fit each other."""
    content = _stripped(tomllib.loads(text))
    return Lesson(name=name, **{**content, "steps": [_step(_stripped(table)) for table in content["steps"]]})


def _stripped(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with texts without the space around them."""
    return {key: value.strip() if isinstance(value, str) else value for key, value in table.items()}


def _step(table: dict[str, Any]) -> Step:
    table["numbers"] = {name: (one["of"], one["at"]) for name, one in table.get("numbers", {}).items()}
    if "figure" in table:
        table["figure"] = _figure(**table["figure"])
    if "question" in table:
        question = _stripped(table["question"])
        table["question"] = Question(**{**question, "choices": [Choice(**choice) for choice in question["choices"]]})
    return Step(**table)


def _figure(
    kind: str, model: str, slider: Any, spec: Mapping[str, Any] = {}, series: Sequence[Any] = (), **given: Any
) -> Figure:
    # Only a lesson that is shown waits for pandas.
    from lrlab.lessons.figures import KINDS

    compared = [Series(**one) for one in series]
    return KINDS[kind](kind, catalog.spec(model, **spec), Slider(**slider), series=compared, **given)


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
