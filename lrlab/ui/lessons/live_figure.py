"""A live figure: its slider, the figure at its position, and what it shows there in words."""

import streamlit as st

from lrlab.lessons.definition import Figure
from lrlab.ui.widgets import plot

HEIGHT = 520
"""Of slider, figure and sentence: the place of a hidden figure."""
LARGE = 17
"""Type of figures in the teacher's view, px."""


def show(figure: Figure, key: str, *, large: bool) -> None:
    """Show a figure of a lesson, in large type for a projector; `key` names it."""

    @st.fragment
    def draw() -> None:
        slider = figure.slider
        at = st.select_slider(slider.label, slider.values, slider.start, format_func=_text, key=f"{key}.slider")
        sentence = figure.module.sentence(figure, at)
        drawn = figure.module.draw(figure, at)
        if large:
            drawn.update_layout(font_size=LARGE).update_annotations(font_size=LARGE)
            drawn.update_xaxes(title_font_size=LARGE).update_yaxes(title_font_size=LARGE)
        plot.show(drawn, key=f"{key}.figure", label=sentence)
        st.markdown(sentence)

    draw()


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
