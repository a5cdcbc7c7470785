"""Draws the panels of a paper's experiment, each next to the paper's figure if that prints numbers."""

from collections.abc import Sequence

import streamlit as st

from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel
from lrlab.presets.table import redrawn
from lrlab.ui.papers.computed import figure_name
from lrlab.ui.widgets import plot

ONE_PANEL_PIXELS = 900
PRINTED = "Redrawn from all numbers that the paper prints."


def panels(preset: Preset, shown: Sequence[Panel]) -> None:
    """Draw the panels: first those of the paper, next to its figure; below them numbers that were not run."""
    printed = redrawn(preset.name)
    for panel in shown:
        if panel.title in printed:
            st.header(panel.title, anchor=False)
            paper, here = st.columns(2, gap="medium")
            with paper:
                st.markdown("**Paper**")
                _figure(preset, Panel(panel.title, printed[panel.title], PRINTED), "-printed")
            with here:
                st.markdown("**Here**")
                _figure(preset, panel)
    _two_per_line(preset, [panel for panel in shown if panel.title not in printed])
    run = {panel.title for panel in shown}
    absent = [Panel(title, figure, PRINTED) for title, figure in printed.items() if title not in run]
    if absent:
        title = f"Printed in the paper, not run here ({len(absent)})"
        fold = st.expander(title, key="papers-printed", on_change="rerun")
        if fold.open:
            with fold:
                _two_per_line(preset, absent)


def _two_per_line(preset: Preset, shown: Sequence[Panel]) -> None:
    # Row by row: on a phone, columns follow one another, and panels stay in order.
    for first in range(0, len(shown), 2):
        places = st.columns(2, gap="medium") if len(shown) > 1 else [st.container(width=ONE_PANEL_PIXELS)]
        for panel, column in zip(shown[first : first + 2], places, strict=False):
            with column:
                st.header(panel.title, anchor=False)
                _figure(preset, panel)


def _figure(preset: Preset, panel: Panel, ending: str = "") -> None:
    plot.show(panel.figure, key=figure_name(preset, panel) + ending, label=f"{panel.title}. {panel.caption}")
    st.caption(panel.caption)
