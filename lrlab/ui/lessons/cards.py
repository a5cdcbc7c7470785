"""The cards of all lessons."""

import streamlit as st

from lrlab import lessons
from lrlab.parameters import Parameter
from lrlab.ui.lessons import place
from lrlab.ui.widgets.permalink import Permalink


def chosen(link: Permalink) -> str:
    """Return the lesson that the address names, "" for none."""
    parameter = Parameter(meaning="a lesson", name="lesson", kind=str, default="", choices=("", *lessons.lessons()))
    key = link.key("lesson")
    if key not in st.session_state:
        st.session_state[key] = link.value("lesson", parameter)
    link.put("lesson", st.session_state[key], parameter)
    return str(st.session_state[key])


def show(link: Permalink) -> None:
    """Show a card for each lesson."""
    every = list(lessons.lessons().values())
    for start in range(0, len(every), 3):
        for column, one in zip(st.columns(3, gap="medium"), every[start : start + 3], strict=False):
            with column.container(border=True, height="stretch"):
                key, arguments = f"learn-open-{one.name}", (link, one.name)
                st.button(one.title, key=key, type="tertiary", on_click=place.open_lesson, args=arguments)
                st.caption(one.summary)
