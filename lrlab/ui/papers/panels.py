"""Draws the panels of a paper's experiment, each next to the paper's figure; all have a place from the beginning."""

import re
import time
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from lrlab.engine.results import Results
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel, Plan, Result
from lrlab.presets.table import redrawn
from lrlab.ui.shared import progress
from lrlab.ui.widgets import plot

PRINTED = "Redrawn from all numbers that the paper prints."


class Computed:
    """Figures and tables of a batch so far; while trials arrive they are made for a twentieth of the time at most."""

    def __init__(self, batch: Results, plan: Plan) -> None:
        self._batch, self._plan = batch, plan
        self._trials, self._result, self._due = 0, Result([], pd.DataFrame(), pd.DataFrame()), 0.0

    def result(self) -> Result:
        """Return the figures and tables, without panels before the first result."""
        results = progress.computed(self._batch)
        if len(results) == self._trials or (self._batch.alive and time.monotonic() < self._due):
            return self._result
        began = time.thread_time()
        self._result = self._plan.finish([results.get(number) for number in range(len(self._plan.items))])
        self._trials = len(results)
        self._due = time.monotonic() + (time.thread_time() - began) / 0.05
        return self._result


def all_panels(preset: Preset, plan: Plan, shown: Sequence[Panel]) -> list[Panel]:
    """Return all panels of a plan: panels without trials so far have the axes of the stored result, and no points."""
    run = shipped.load(preset.name)
    frames = {panel.title: frame(panel.figure) for panel in (run.panels if run else ())}
    drawn = {panel.title: panel for panel in shown}
    titles = dict.fromkeys([*plan.panels, *drawn])
    return [drawn.get(title) or Panel(title, frames.get(title) or theme.style(Figure()), "") for title in titles]


def frame(figure: Figure) -> Figure:
    """Return a figure without points, with the axes of another one."""
    empty = Figure()
    empty.layout = figure.layout
    return empty


def figure_name(preset: Preset, panel: Panel) -> str:
    """Return the name of a panel's figure on the page, by its title: at the end, panels without points disappear."""
    name = re.sub(r"\W+", "-", panel.title)
    return f"papers.{preset.name}-{name}"


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
        places = st.columns(2, gap="medium") if len(shown) > 1 else [st.container(width=900)]
        for panel, column in zip(shown[first : first + 2], places, strict=False):
            with column:
                st.header(panel.title, anchor=False)
                _figure(preset, panel)


def _figure(preset: Preset, panel: Panel, ending: str = "") -> None:
    plot.show(panel.figure, key=figure_name(preset, panel) + ending, label=f"{panel.title}. {panel.caption}")
    st.caption(panel.caption)
