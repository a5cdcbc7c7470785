"""The reader's position: lesson, step, answer and view are in the address, so that a reload keeps them."""

from dataclasses import dataclass

import streamlit as st

from lrlab import lessons
from lrlab.lessons.definition import Lesson
from lrlab.parameters import Parameter, counted
from lrlab.ui.shared import cards
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets.permalink import Permalink

NOT_YET = -1
DRAW = Card(
    "learn",
    "Draw the phase transition",
    "Draw the 50% success contour; then lrlab fills the diagram below your line.",
    {"lesson": "draw-the-transition"},
    "lesson-draw-the-transition",
    [("about 2 minutes", "gray")],
)
"""Card of the diagram to draw on; it has no steps."""
GOES = "learn:goes"
"""Session key of the figure whose slider moves to the question's case, until it arrives."""


@dataclass(frozen=True)
class Place:
    """The position of the reader.

    step: 0, 1, ...; the closing is the last. answer: the choice taken, -1 before it. teaching: the teacher's view.
    """

    step: int
    answer: int
    teaching: bool


def chosen(link: Permalink) -> str:
    """Return the lesson that the address names, "" if it names none."""
    names = ("", DRAW.address["lesson"], *lessons.lessons())
    return str(link.held(Parameter(meaning="a lesson", name="lesson", kind=str, default="", choices=names)))


def show_cards(link: Permalink) -> None:
    """Show a card for each lesson, and for the diagram to draw on."""
    known = [*(lesson_card(name) for name in lessons.lessons()), DRAW]
    cards.show(known, lambda card: open_lesson(link, card.address["lesson"]))


def lesson_card(name: str) -> Card:
    """Return the card of a lesson."""
    one = lessons.load(name)
    questions, answered = sum(step.question is not None for step in one.steps), len(_answered(name))
    badges = [(f"about {counted(one.minutes, 'minute')}", "gray")]
    if answered:
        badges.append(("done", "green") if answered == questions else (f"{answered} of {questions} answered", "blue"))
    return Card("learn", one.title, one.summary, {"lesson": name}, f"lesson-{name}", badges)


def _answered(name: str) -> set[int]:
    """Return the steps of a lesson whose questions were answered in this session."""
    steps: set[int] = st.session_state.setdefault("learn:answered", {}).setdefault(name, set())
    return steps


def next_lesson(lesson: Lesson) -> Lesson | None:
    """Return the lesson that follows one; None after the last."""
    known = list(lessons.lessons().values())
    return next(iter(known[known.index(lesson) + 1 :]), None)


def find(link: Permalink, lesson: Lesson) -> Place:
    """Return the position that the address or the session holds, and write it into the address."""
    last = len(lesson.steps) + 1
    step = _number(link, "step", "step of the lesson", 1, last)
    question = lesson.steps[step - 1].question if step < last else None
    answer = _number(link, "answer", "number of the choice, 0 for none", 0, len(question.choices) if question else 0)
    teaching = Parameter(meaning="large type, and no controls", name="teacher", kind=bool, default=False)
    return Place(step - 1, answer - 1, bool(link.held(teaching)))


def _number(link: Permalink, name: str, meaning: str, low: int, high: int) -> int:
    if not low <= st.session_state.get(link.key(name), low) <= high:
        del st.session_state[link.key(name)]
    return int(link.held(Parameter(meaning=meaning, low=low, high=high, name=name, kind=int, default=low)))


def open_lesson(link: Permalink, name: str) -> None:
    """Open a lesson at its first step, or, for "", the cards of all; from a callback."""
    st.session_state[link.key("lesson")] = name
    go(link, 0)


def go(link: Permalink, step: int) -> None:
    """Go to a step (0, 1, ...), from a callback."""
    st.session_state[link.key("step")] = step + 1
    st.session_state[link.key("answer")] = 0


def take(link: Permalink, choice: int, figure: str) -> None:
    """Take a choice of the question (0, 1, ...), from a callback; the figure's slider goes to the question's case."""
    st.session_state[link.key("answer")] = choice + 1
    st.session_state.pop(position(figure), None)
    st.session_state[GOES] = figure
    _answered(st.session_state[link.key("lesson")]).add(st.session_state[link.key("step")])


def position(figure: str) -> str:
    """Return the session key of the position of a figure's slider."""
    return f"{figure}:at"


def teach(link: Permalink, teaching: bool) -> None:
    """Enter or leave the teacher's view; from a callback."""
    st.session_state[link.key("teacher")] = teaching
