"""The button that opens a class, on the pages that have something to predict."""

from collections.abc import Callable, Sequence

import streamlit as st

from lrlab.parameters import InputError
from lrlab.ui.classroom.polls import Poll
from lrlab.ui.classroom.room import open_room
from lrlab.ui.shared import live
from lrlab.ui.widgets.text import show_error

PAGE = "class"


def offer(title: str, polls: Callable[[], Sequence[Poll]], *, disabled: bool = False) -> None:
    """Show the button that opens a class with its question."""
    about = (title, polls)
    st.button("Poll the class", "class-open", on_click=_open, args=about, type="tertiary", disabled=disabled)


def _open(title: str, polls: Callable[[], Sequence[Poll]]) -> None:
    try:
        room = open_room(live.browser_key(), title, polls())
    except InputError as error:
        show_error(error)
        return
    st.session_state["class:from"] = str(st.session_state["page"]), st.query_params.to_dict()
    live.go(PAGE, {"code": room.code, "teacher": "true"})
