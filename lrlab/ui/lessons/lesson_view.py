"""Shows a lesson: its steps, text and equations next to a live figure, a question before it, and the closing.

Lesson, step, answer and view are in the address, so that a reload keeps them.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from html import escape, unescape
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from lrlab import lessons
from lrlab.lessons import Lesson, Question, Step, terms
from lrlab.lessons.figure import Figure
from lrlab.parameters import Parameter, counted
from lrlab.ui.classroom import room
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import cards, live, page
from lrlab.ui.shared.cards import Card
from lrlab.ui.widgets import plot
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
ASSETS = Path(__file__).parents[1] / "assets"
WIDTHS = [2, 3]
"""Text takes 40% of the width, the figure 60%."""
MARKUP = re.compile(r"[*`$\\]")
"""Marks of Markdown and LaTeX, which are not read out."""


class Place(NamedTuple):
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


_ahead = ThreadPoolExecutor(1, thread_name_prefix="lrlab-lesson")


def show(link: Permalink, lesson: Lesson) -> None:
    """Show the step of the address, below the steps of the lesson and above the buttons that lead on."""
    at = find(link, lesson)
    if at.teaching:
        st.html(ASSETS / "teacher.css")
    _bar(link, lesson, at)
    if at.step < len(lesson.steps):
        _step(link, lesson, at)
    else:
        with st.container(width=760, key="learn-text"):
            st.header("What to take away", anchor=False)
            st.markdown(lesson.closing)
            st.caption(lesson.reference)
            cards.theorems(*lesson.models)
    _leading(link, lesson, at)


def _bar(link: Permalink, lesson: Lesson, at: Place) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="learn-bar"):
        for k in range(len(lesson.steps) + 1):
            last = k == len(lesson.steps)
            title = "Summary" if last else f"{k + 1}"
            words = "What to take away" if last else lesson.steps[k].title
            step = partial(st.button, title, key=f"learn-step-{k}", help=words, on_click=go, args=(link, k))
            step(type="primary" if k == at.step else "secondary")
        st.space("stretch")
        st.button("All lessons", key="learn-cards", type="tertiary", on_click=open_lesson, args=(link, ""))
        words = "Leave the projector view" if at.teaching else "Projector"
        change = partial(st.session_state.__setitem__, link.key("teacher"), not at.teaching)
        st.button(words, key="learn-teach", type="tertiary", on_click=change)
        if at.step < len(lesson.steps):
            room.offer(lesson.title, lambda: room.of_lesson(lesson.name, at.step))


def _step(link: Permalink, lesson: Lesson, at: Place) -> None:
    step = lesson.steps[at.step]
    text, figure = st.columns(WIDTHS, gap="large")
    answered = step.question is None or at.answer > NOT_YET or page.embedded()
    key = f"learn.{lesson.name}.{at.step}"
    with text.container(key="learn-text"):
        st.header(step.title, anchor=False)
        st.markdown(step.filled(step.lead))
        if step.equation:
            st.latex(step.equation)
        if step.more:
            st.expander("More").markdown(step.filled(step.more))
        _terms(step)
        if step.question:
            _question(link, step, step.question, at, key)
    with figure:
        if step.figure and answered:
            show_figure(step, step.figure, key)
        elif step.before:
            _before(step.before, key)


def show_figure(step: Step, figure: Figure, key: str) -> None:
    """Show a figure with its slider, and its message in words; `key` names it.

    After an answer, the slider goes from the previous case to the case of the question.
    """
    chosen, values = position(key), figure.slider.values
    at = st.session_state.get(chosen, step.start)

    def rest(value: Any) -> None:
        st.session_state[chosen] = value
        st.session_state.pop(GOES, None)

    goes = st.session_state.get(GOES) == key and chosen not in st.session_state
    first = figure.slider.before if goes else at
    dragged, texts = partial(_parts, figure, key=key), [_text(value) for value in values]
    slider = partial(live.slider, figure.slider.label, values, at, rest, key=f"{key}.slider", show=dragged)
    slider(texts=texts, origin=first)
    _show(_parts(figure, first, key), key)
    drawn_ahead(figure)


@lru_cache(maxsize=256)
def drawn_ahead(figure: Figure) -> None:
    """Begin to compute all positions of a slider, so that a drag finds them there; once for a figure."""
    for at in figure.slider.values:
        _ahead.submit(figure.draw, at)


def _before(figure: Figure, key: str) -> None:
    """Show the part of a figure that its question may reveal: one position of its slider."""
    at = figure.slider.before
    # As high as slider, figure and sentence.
    with st.container(border=True, height=560, key="learn-hidden", vertical_alignment="center"):
        st.markdown(f"Predict first. Shown: {figure.slider.label} = {_text(at)}.", text_alignment="center")
        _show(_parts(figure, at, key, alone=True), key, said=False)


def _parts(figure: Figure, at: Any, key: str, alone: bool = False) -> Parts:
    """Return the live parts of a figure at a position: itself, and a sentence. alone: without the answer."""
    return {f"{key}.figure": figure.draw(at, alone), f"{key}.words": escape(figure.sentence(at))}


def _show(parts: Parts, key: str, said: bool = True) -> None:
    """Show a figure, and its sentence if `said`; screen readers have it in any case."""
    plot.show(parts[f"{key}.figure"], key=f"{key}.figure", label=unescape(parts[f"{key}.words"]))
    if said:
        plot.words(parts[f"{key}.words"], key=f"{key}.words")


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _terms(step: Step) -> None:
    if step.terms:
        with st.container(horizontal=True, vertical_alignment="center", key="learn-terms"):
            for term in step.terms:
                with st.popover(term, type="tertiary"):
                    st.markdown(f"**{term.capitalize()}**: {terms()[term]}")


def _question(link: Permalink, step: Step, question: Question, at: Place, figure: str) -> None:
    words = ""
    with st.container(border=True, key="learn-question"):
        st.markdown(f"**{step.filled(question.text)}**")
        with st.container(horizontal=True):
            for k, choice in enumerate(question.choices):
                # Of another type it would be another button, and the focus would be lost.
                label = f":primary[**{choice.text}**]" if k == at.answer else choice.text
                st.button(label, key=f"learn-choice-{k}", on_click=take, args=(link, k, figure))
        if at.answer > NOT_YET:
            right, taken = question.right(step.number("answer")), question.choices[at.answer]
            verdict = "**Yes.**" if at.answer == right else f"**No.** {taken.why}"
            words = step.filled(f"{verdict} {question.feedback}")
            st.markdown(words)
    plot.send("status", "learn-status", {"words": MARKUP.sub("", words)}, height=1)


def _leading(link: Permalink, lesson: Lesson, at: Place) -> None:
    with st.container(horizontal=True, key="learn-leading"):
        to = partial(st.button, on_click=go)
        to("Back", key="learn-back", disabled=at.step == 0, args=(link, at.step - 1))
        if at.step < len(lesson.steps):
            to("Next", key="learn-next", type="primary", args=(link, at.step + 1))
            return
        known = list(lessons.lessons().values())
        if later := known[known.index(lesson) + 1 :]:
            open_next = partial(st.button, on_click=open_lesson, args=(link, later[0].name))
            open_next(f"Next lesson: {later[0].title}", key="learn-following", type="primary")
        st.button("To all lessons", key="learn-all", on_click=open_lesson, args=(link, ""))
