"""Shows a lesson: its steps, text and equations beside a live figure, a question before it, and the closing."""

from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from lrlab.lessons.definition import Lesson, Question, Step
from lrlab.lessons.terms import terms
from lrlab.ui.lessons import live_figure, place
from lrlab.ui.lessons.place import Place
from lrlab.ui.widgets.permalink import Permalink

STYLE = Path(__file__).parents[1] / "assets" / "lesson.css"
TEACHING = Path(__file__).parents[1] / "assets" / "teacher.css"
WIDTHS = [2, 3]
"""Text takes 40% of the width, the figure 60%."""


def show(link: Permalink, lesson: Lesson) -> None:
    """Show the step of the address, below the steps of the lesson and above the buttons that lead on."""
    at = place.find(link, lesson)
    st.html(STYLE)
    if at.teaching:
        st.html(TEACHING)
    _bar(link, lesson, at)
    if at.step == len(lesson.steps):
        _closing(lesson)
    else:
        _step(link, lesson, at)
    _leading(link, lesson, at)


def _bar(link: Permalink, lesson: Lesson, at: Place) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="learn-bar"):
        for k in range(len(lesson.steps) + 1):
            last = k == len(lesson.steps)
            title = "Summary" if last else f"{k + 1}"
            words = "What to take away" if last else lesson.steps[k].title
            st.button(
                title, key=f"learn-step-{k}", type=_look(k == at.step), help=words, on_click=place.go, args=(link, k)
            )
        st.space("stretch")
        st.button("All lessons", key="learn-cards", type="tertiary", on_click=place.open_lesson, args=(link, ""))
        words = "Leave the teacher's view" if at.teaching else "Teacher's view"
        st.button(words, key="learn-teach", type="tertiary", on_click=place.teach, args=(link, not at.teaching))


def _look(chosen: bool) -> Literal["primary", "secondary"]:
    return "primary" if chosen else "secondary"


def _step(link: Permalink, lesson: Lesson, at: Place) -> None:
    step = lesson.steps[at.step]
    text, figure = st.columns(WIDTHS, gap="large")
    answered = step.question is None or at.answer > place.NOT_YET
    with text.container(key="learn-text"):
        st.header(step.title, anchor=False)
        st.markdown(step.filled(step.text))
        if step.equation:
            st.latex(step.equation)
        _terms(step)
        if step.question:
            _question(link, step, step.question, at)
    with figure:
        if step.figure and answered:
            live_figure.show(step.figure, f"learn.{lesson.name}.{at.step}", large=at.teaching)
        elif step.figure:
            live_figure.show_before(step.figure, f"learn.{lesson.name}.{at.step}", large=at.teaching)


def _terms(step: Step) -> None:
    if step.terms:
        with st.container(horizontal=True, vertical_alignment="center", key="learn-terms"):
            for term in step.terms:
                with st.popover(term, type="tertiary"):
                    st.markdown(f"**{term.capitalize()}**: {terms()[term]}")


def _question(link: Permalink, step: Step, question: Question, at: Place) -> None:
    with st.container(border=True, key="learn-question"):
        st.markdown(f"**{question.text}**")
        with st.container(horizontal=True):
            for k, choice in enumerate(question.choices):
                look, key = _look(k == at.answer), f"learn-choice-{k}"
                st.button(choice.text, key=key, type=look, on_click=place.take, args=(link, k))
        if at.answer > place.NOT_YET:
            right = question.right(step.number("answer"))
            word = "Yes." if at.answer == right else f"No: {question.choices[right].text}."
            st.markdown(f"**{word}** {step.filled(question.feedback)}")


def _closing(lesson: Lesson) -> None:
    with st.container(width=760, key="learn-text"):
        st.header("What to take away", anchor=False)
        st.markdown(lesson.closing)
        st.caption(lesson.reference)


def _leading(link: Permalink, lesson: Lesson, at: Place) -> None:
    with st.container(horizontal=True, key="learn-leading"):
        to = partial(st.button, on_click=place.go)
        to("Back", key="learn-back", disabled=at.step == 0, args=(link, at.step - 1))
        if at.step < len(lesson.steps):
            to("Next", key="learn-next", type="primary", args=(link, at.step + 1))
        else:
            st.button("To all lessons", key="learn-all", type="primary", on_click=place.open_lesson, args=(link, ""))
