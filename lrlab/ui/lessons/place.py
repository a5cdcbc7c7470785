"""Where a person is in a lesson: step, answer and view are in the address, so that a reload keeps them."""

from dataclasses import dataclass

import streamlit as st

from lrlab.lessons.definition import Lesson
from lrlab.parameters import Parameter, Value
from lrlab.ui.widgets.permalink import Permalink

NOT_YET = -1


@dataclass(frozen=True)
class Place:
    """The step shown (0, 1, ...; the closing comes last), the choice taken (-1: none yet), the teacher's view."""

    step: int
    answer: int
    teaching: bool


def find(link: Permalink, lesson: Lesson) -> Place:
    """Return the place that the address or the session says, and record it in the address."""
    last = len(lesson.steps) + 1
    step = int(_value(link, "step", "step of the lesson", 1, last, 1))
    question = lesson.steps[step - 1].question if step < last else None
    choices = len(question.choices) if question else 0
    answer = int(_value(link, "answer", "choice that was taken, 0 for none", 0, choices, 0))
    teaching = Parameter(meaning="large type, and no controls", name="teacher", kind=bool, default=False)
    key = link.key("teacher")
    if key not in st.session_state:
        st.session_state[key] = link.value("teacher", teaching)
    link.put("teacher", st.session_state[key], teaching)
    return Place(step - 1, answer - 1, bool(st.session_state[key]))


def _value(link: Permalink, name: str, meaning: str, low: int, high: int, default: int) -> Value:
    parameter = Parameter(meaning=meaning, low=low, high=high, name=name, kind=int, default=default)
    key = link.key(name)
    if key not in st.session_state or not low <= st.session_state[key] <= high:
        st.session_state[key] = link.value(name, parameter)
    link.put(name, st.session_state[key], parameter)
    value: Value = st.session_state[key]
    return value


def open_lesson(link: Permalink, name: str) -> None:
    """Open a lesson at its first step, or, for "", the cards of all; from a callback."""
    st.session_state[link.key("lesson")] = name
    go(link, 0)


def go(link: Permalink, step: int) -> None:
    """Go to a step (0, 1, ...), from a callback."""
    st.session_state[link.key("step")] = step + 1
    st.session_state[link.key("answer")] = 0


def take(link: Permalink, choice: int) -> None:
    """Take a choice of the question, from a callback."""
    st.session_state[link.key("answer")] = choice + 1


def teach(link: Permalink, on: bool) -> None:
    """Enter or leave the teacher's view, from a callback."""
    st.session_state[link.key("teacher")] = on
