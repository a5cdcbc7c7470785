"""A slider whose positions are sent over the live channel while it is dragged, and to the page when it rests."""

import json
from collections.abc import Callable, Sequence

import streamlit as st

from lrlab.ui.live.tabs import SliderPreview
from lrlab.ui.widgets import plot


def show(
    label: str,
    texts: Sequence[str],
    at: int,
    drag: SliderPreview,
    *,
    key: str,
    on_rest: Callable[[int], None],
    titled: bool = True,
    origin: int | None = None,
) -> None:
    """Show a slider at a position of a list of values, given as texts; `drag` answers each position that it passes.

    on_rest: called with the last position, as a callback of a widget; the page is then drawn. titled: whether the label
    is visible, and not only read out. origin: the first position of a new slider, which then goes to `at` by itself, as
    if dragged.
    """

    def rested() -> None:
        # It may come to rest when somebody has gone on, and sent by hand the position may be anything.
        position = st.session_state.get(key, {}).get("rest")
        if type(position) is int and 0 <= position < len(texts):
            # The browser still shows the drag: everything is sent again, also unchanged parts.
            st.session_state["sent"] = {}
            on_rest(position)

    data: dict[str, str | int] = {
        "label": label,
        "texts": json.dumps(list(texts)),
        "at": at,
        "titled": titled,
        "origin": at if origin is None else origin,
        "stream": drag.stream.token,
    }
    plot.send("slider", key, data, on_rest_change=rested)
