"""The crosshair of a map: two sliders choose a grid point; its first trial appears next to the diagram as they move."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from lrlab.catalog import family
from lrlab.engine.engine import get_engine
from lrlab.engine.live import LiveRuns
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.runs import truth_of
from lrlab.figures.sweeps import WINNER, SweepData, View, maps
from lrlab.figures.transition import Scale
from lrlab.models import axes
from lrlab.parameters import Parameter
from lrlab.runs.job import Job
from lrlab.runs.run import trial_spec
from lrlab.sweeps.definition import Sweep
from lrlab.ui.converge import estimates, results_view
from lrlab.ui.converge.dragged import Dragged
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live
from lrlab.ui.widgets import controls, plot, slider
from lrlab.ui.widgets.permalink import Permalink

MEANING = "two sliders, or a click, choose a grid point; its first trial appears next to the diagram"

Place = tuple[int, int]
"""The column and the row of a cell."""


def wanted(link: Permalink, view: View) -> bool:
    """Show the switch of the crosshair, and return whether it is on; on the map of winners there is none."""
    parameter = Parameter(meaning=MEANING, name="crosshair", kind=bool, default=True)
    own = view.show != WINNER
    on = bool(controls.widget(link, parameter, shown=own, label="Crosshair")) and own
    st.session_state["transition:crosshair"] = on
    return on


def place(sweep: Sweep) -> Place | None:
    """Return the cell of the crosshair, at first the middle one; None if there is no crosshair."""
    if not st.session_state.get("transition:crosshair") or len(sweep.grid) != 2:
        return None
    sizes = [len(values) for values in sweep.grid.values()]
    at = st.session_state.get("transition:place", [size // 2 for size in sizes])
    column, row = (min(k, size - 1) for k, size in zip(at, sizes, strict=True))
    return column, row


def move(sweep: Sweep, values: Sequence[float]) -> None:
    """Move the crosshair to the cell of these values, from a callback."""
    known = sweep.grid.values()
    st.session_state["transition:place"] = [own.index(value) for own, value in zip(known, values, strict=True)]


def marked(figure: Figure, scales: Sequence[Scale], at: Place | None) -> Figure:
    """Add the lines of the crosshair to a map, in place, and return it."""
    if at is not None:
        x, y = (scale.values[k] for scale, k in zip(scales, at, strict=True))
        (left, right), (low, high) = (scale.edges[[0, -1]] for scale in scales)
        theme.line(figure, [x, x, np.nan, left, right], [low, high, np.nan, y, y], theme.PALETTE[1])
    return figure


def jobs_at(sweep: Sweep, at: Place) -> list[Job]:
    """Return the jobs of the first trial of a cell; none if lrlab rejects it."""
    values = dict(zip(sweep.grid, (own[k] for own, k in zip(sweep.grid.values(), at, strict=True)), strict=True))
    jobs = [cell.job for cell in sweep.cells if cell.job and cell.axes == values]
    return [job.on(trial_spec(job.spec, 0)) for job in jobs]


def _named(parts: Parts) -> Parts:
    return {name.replace("converge.", "transition.cell-", 1): part for name, part in parts.items()}


def show(data: SweepData, view: View, at: Place) -> None:
    """Show the sliders, and what became of the first trial of their cell."""
    sweep = data.sweep
    titles, jobs = axes.axes(type(sweep.spec)), jobs_at(sweep, at)
    measure, height = next(iter(family(sweep.spec.model).measures)), 290 if len(jobs) < 2 else 360
    settings = CurveSettings(measure, "iteration", log_y=True, height=height)
    dragged = Dragged(settings, jobs)

    def there(side: int, position: int) -> Place:
        return (position, at[1]) if side == 0 else (at[0], position)

    def answer(side: int, position: int) -> Parts:
        """Return the diagram with its crosshair at a position of a slider, and the point's quick runs."""
        moved = there(side, position)
        shown = {"transition.map": marked(maps(data, view), data.scales, moved)}
        own = jobs_at(sweep, moved)
        return {**shown, **_named(dragged(own[0].spec))} if own else shown

    def rest(side: int, position: int) -> None:
        st.session_state["transition:place"] = there(side, position)

    for side, (axis, values) in enumerate(sweep.grid.items()):
        key, texts = f"transition.crosshair.{axis}", [f"{value:g}" for value in values]
        drag = live.slider(key)
        drag.show = partial(answer, side)
        slider.show(titles.get(axis, axis), texts, at[side], drag, key=key, on_rest=partial(rest, side))
    if not jobs:
        st.caption("No solver can run at this grid point.")
        return
    cell = live.once("transition:cell", jobs, lambda: _begun(jobs))
    drawn, parts = results_view.shown(settings, cell.runs, alive=cell.alive)
    known = _named(parts)
    with st.container(key="transition-cell-words"):
        plot.words(known["transition.cell-sentence"], key="transition.cell-sentence")
    spec = jobs[0].spec
    own = estimates.kind(spec, truth_of(spec), drawn)
    for name, label in ((own.part, own.words), ("converge.curves", results_view.message(drawn, settings.measure))):
        key = name.replace("converge.", "transition.cell-", 1)
        plot.show(known[key], key=key, label=label)
    live.when_over("transition", "cell", cell)


def _begun(jobs: Sequence[Job]) -> LiveRuns:
    """Begin the jobs of a grid point instead of the previous ones."""
    if before := st.session_state.get("transition:cell"):
        before[1].cancel()
    following = get_engine().follow(jobs)
    live.await_results(following)
    return following
