"""A lecture of 45 minutes: lessons in their order, with the minute at which each begins; a page that can be printed."""

import streamlit as st

from lrlab import lessons
from lrlab.lessons.definition import Lesson
from lrlab.parameters import Parameter
from lrlab.ui.lessons import place
from lrlab.ui.shared import page
from lrlab.ui.widgets.permalink import Permalink

MINUTES, BETWEEN = 45, 1
"""Of the lecture; between two lessons."""
SHOWN = Parameter(meaning="a lecture of several lessons", name="lecture", kind=bool, default=False)


def chosen(link: Permalink) -> bool:
    """Return whether the address is that of the lecture."""
    return bool(link.held(SHOWN))


def go(link: Permalink, shown: bool) -> None:
    """Open or leave the lecture; from a callback."""
    st.session_state[link.key("lecture")] = shown


def plan() -> list[tuple[int, Lesson]]:
    """Return the lessons that fit, in their order, each with the minute at which it begins."""
    begins, taken = 0, list[tuple[int, Lesson]]()
    for lesson in lessons.lessons().values():
        if begins + lesson.minutes > MINUTES:
            break
        taken.append((begins, lesson))
        begins += lesson.minutes + BETWEEN
    return taken


def show(link: Permalink) -> None:
    """Show the lecture: what to open when, and what is asked there."""
    page.heading(f"A lecture of {MINUTES} minutes", "Each opens for a projector; *As a class* lets students predict.")
    for begins, lesson in plan():
        with st.container(horizontal=True, vertical_alignment="center", key=f"lecture-{lesson.name}"):
            st.markdown(f"**{begins // 60}:{begins % 60:02}**", width=60)
            title = f":primary[**{lesson.title}**]"
            st.button(title, f"lecture-open-{lesson.name}", on_click=_open, args=(link, lesson.name), type="tertiary")
            st.markdown(f"{lesson.minutes} minutes", width="content")
        for step in lesson.steps:
            if step.question:
                st.caption(f"{step.title}: {step.filled(step.question.text)}")
    st.button("To all lessons", key="lecture-back", on_click=go, args=(link, False))


def _open(link: Permalink, name: str) -> None:
    go(link, False)
    place.teach(link, True)
    place.open_lesson(link, name)
