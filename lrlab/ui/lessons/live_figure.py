"""A live figure: its slider, the figure at its position, and what it shows there in words."""

from typing import Any

import streamlit as st

from lrlab.figures import build
from lrlab.lessons.definition import Figure
from lrlab.ui.widgets import plot

HEIGHT = 560
"""Of slider, figure and sentence: the place of a hidden figure."""
LARGE = 17
"""Type of figures in the teacher's view, px."""


def show(figure: Figure, key: str, *, large: bool) -> None:
    """Show a figure of a lesson, in large type for a projector; `key` names it."""

    @st.fragment
    def draw() -> None:
        slider = figure.slider
        at = st.select_slider(slider.label, slider.values, slider.start, format_func=_text, key=f"{key}.slider")
        _draw(figure, figure.module.draw(figure, at), at, f"{key}.figure", large)

    draw()


def show_before(figure: Figure, key: str, *, large: bool) -> None:
    """Show what is known before the question of a figure is answered: one position of its slider, or nothing."""
    at = figure.slider.before
    with st.container(border=True, height=HEIGHT, key="learn-hidden", vertical_alignment="center"):
        st.markdown("Predict first: choose an answer, and the figure is computed.", text_alignment="center")
        if at is not None:
            st.caption(f"Until then, only {figure.slider.label} = {_text(at)}:", text_alignment="center")
            module = figure.module
            _draw(figure, getattr(module, "alone", module.draw)(figure, at), at, f"{key}.before", large)


def _draw(figure: Figure, drawn: build.Figure, at: Any, key: str, large: bool) -> None:
    sentence = figure.module.sentence(figure, at)
    if large:
        drawn.update_layout(font_size=LARGE).update_annotations(font_size=LARGE)
        drawn.update_xaxes(title_font_size=LARGE).update_yaxes(title_font_size=LARGE)
    plot.show(drawn, key=key, label=sentence)
    st.markdown(sentence)


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
