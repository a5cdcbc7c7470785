"""*Draw the phase transition* for one person: the line first, then the diagram under it and the distance."""

from functools import partial
from typing import Any

import streamlit as st

from lrlab.parameters import InputError
from lrlab.ui.classroom import drawing, room
from lrlab.ui.lessons import lesson_view
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live, page, progress
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import show_error

PAGE = "learn"
LINE = "learn:line"
"""Session key of the submitted line."""


def show(link: Permalink) -> None:
    """Show the empty diagram, or, once a line is submitted, the diagram as it fills."""
    page.heading(drawing.TITLE)
    line = st.session_state.get(LINE)
    with st.container(horizontal=True, vertical_alignment="center", key="learn-bar"):
        st.button("All lessons", key="learn-cards", type="tertiary", on_click=lesson_view.open_lesson, args=(link, ""))
        room.offer(drawing.TITLE, lambda: [drawing.DrawnPoll()])
    text, diagram = st.columns(lesson_view.WIDTHS, gap="large")
    with text:
        st.markdown(drawing.TEXT)
        if line is not None:
            _buttons()
    with diagram:
        if line is None:
            drawing.ask("learn-draw", None, _take)
        else:
            live.follow(PAGE, lambda: _draw(line, live.current(PAGE)), partial(_parts, line))


def _take(sent: object) -> None:
    try:
        st.session_state[LINE] = drawing.checked(sent)
    except InputError as error:
        show_error(error)


def _buttons() -> None:
    running = live.current(PAGE)
    with page.row():
        if running is None or running.alive or running.done < running.total:
            live.buttons(PAGE, drawing.begin, ready=True, wanted=running is None, label="Compute")
        else:
            # Otherwise `follow` would draw the page again, for the buttons of a run that has ended.
            live.alive_as_shown(PAGE)
        st.button("Draw again", key="learn-redraw", on_click=partial(st.session_state.pop, LINE))
    progress.show(live.current(PAGE), PAGE, changed=False, button="Compute")


def _parts(line: drawing.Drawing, running: Any) -> Parts:
    return {**progress.parts(running, PAGE), "learn.diagram": drawing.figure([], running, line)}


def _draw(line: drawing.Drawing, running: Any) -> None:
    said = ""
    if running is not None and not running.alive:
        contour = drawing.measured(running)
        said = f"{drawing.own_words(line, contour)} {drawing.class_words([], contour)}"
        plot.send("status", "learn-score-status", {"words": said}, height=1)
    plot.show(drawing.figure([], running, line), key="learn.diagram", label=f"Phase diagram with your line. {said}")
    st.markdown(f"**{said}**" if said else "")
