"""Figures of a paper's experiment while its trials arrive: all panels have a place from the beginning."""

import re
import time
from collections.abc import Sequence

import pandas as pd

from lrlab.engine.results import Results
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel, Plan, Result
from lrlab.ui.shared import progress

MAKING_SHARE = 0.05
"""Fraction of the interpreter's time for the figures of a paper while its trials arrive."""


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
        self._due = time.monotonic() + (time.thread_time() - began) / MAKING_SHARE
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
