"""Offers next to the figure of a sweep: a crosshair, trials of its grid points in Run, files, and the sweep as code.

The crosshair of a map: two sliders choose a grid point; its first trial appears next to the diagram as they move.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.catalog import family
from lrlab.engine.engine import get_engine
from lrlab.engine.live import LiveRuns
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.sweeps import WINNER, SweepData, View, maps
from lrlab.figures.transition import Scale
from lrlab.models import axes
from lrlab.parameters import Parameter
from lrlab.runs.job import Job
from lrlab.runs.run import trial_spec
from lrlab.sweeps.definition import Cell, Sweep
from lrlab.sweeps.tables import described
from lrlab.sweeps.toml import to_toml
from lrlab.ui.converge import results_view
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import code, live
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink, format_exact

MEANING = "two sliders, or a click, choose a grid point; its first trial appears next to the diagram"

Place = tuple[int, int]
"""The column and the row of a cell."""
NOTE = (
    "One row per grid point and solver. successes, success_rate, low, high: successful trials, their rate and its 95% "
    "interval. mean, spread, quartiles: of the metric. seed: of the first trial. shown: as on the map, maybe inferred. "
    "among_best: nobody clearly beats the solver. title: of the solver. Last: the fixed parameters."
)


def choose_crosshair(link: Permalink, view: View) -> bool:
    """Show the switch of the crosshair, and return whether it is on; on the map of winners there is none."""
    parameter = Parameter(meaning=MEANING, name="crosshair", kind=bool, default=True)
    own = view.show != WINNER
    return bool(controls.widget(link, parameter, shown=own, label="Crosshair")) and own


def crosshair(sweep: Sweep) -> Place | None:
    """Return the cell of the crosshair, at first the middle one; None along one axis."""
    if len(sweep.grid) != 2:
        return None
    sizes = [len(values) for values in sweep.grid.values()]
    at = st.session_state.get("transition:place", [size // 2 for size in sizes])
    column, row = (min(k, size - 1) for k, size in zip(at, sizes, strict=True))
    return column, row


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


def show_crosshair(data: SweepData, view: View, at: Place) -> None:
    """Show the sliders, and what became of the first trial of their cell."""
    sweep = data.sweep
    titles, jobs = axes.axes(type(sweep.spec)), jobs_at(sweep, at)
    measure, height = next(iter(family(sweep.spec.model).measures)), 290 if len(jobs) < 2 else 360
    settings = CurveSettings(measure, "iteration", log_y=True, height=height)
    dragged = results_view.Dragged(settings, jobs)

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
        texts = [f"{value:.4g}" if value % 1 else f"{value:g}" for value in values]
        slider = partial(live.slider, titles.get(axis, axis), range(len(values)), at[side], partial(rest, side))
        slider(key=f"transition.crosshair.{axis}", show=partial(answer, side), texts=texts)
    if not jobs:
        st.caption("No solver can run at this grid point.")
        return
    cell = live.once("transition:cell", jobs, lambda: _begun(jobs))
    drawn, parts = results_view.shown(settings, cell.runs, alive=cell.alive)
    known = _named(parts)
    with st.container(key="transition-cell-words"):
        plot.words(known["transition.cell-sentence"], key="transition.cell-sentence")
    own = results_view.kind(jobs[0].spec, drawn)
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


def open_on_click(sweep: Sweep, solver_at: int, together: bool, crossed: bool = False) -> Callable[[plot.Click], None]:
    """Return the callback of a figure that opens the first trial of the clicked cell, or moves a crosshair to it.

    A point's customdata holds the solver's title at `solver_at`, and the values of the axes at the beginning (of two
    axes) or behind that (of one). together: all solvers are run, which see the same data; else that of the cell.
    crossed: whether a crosshair is moved instead.
    """

    def click(point: plot.Click) -> None:
        data = point.get("customdata") or []
        solver = data[solver_at] if len(data) > solver_at else None
        place = data[:2] if len(sweep.grid) == 2 else data[solver_at + 1 :]
        if crossed:
            at = [own.index(value) for own, value in zip(sweep.grid.values(), place, strict=True)]
            st.session_state["transition:place"] = at
            return
        for cell in sweep.cells:
            if cell.job and sweep.titles[cell.solver] == solver and list(cell.axes.values()) == place:
                _open(sweep, cell, together)

    return click


def _trial(sweep: Sweep, together: bool) -> None:
    """Offer the same by keyboard: a solver and the values of the axes are chosen, and a button opens that trial.

    together: all solvers run in Run, so that any of them will do.
    """
    titles, solver = axes.axes(type(sweep.spec)), sweep.solvers[0]
    with st.popover("Open a trial", type="tertiary", key="transition-trial"):
        # Without keys: other values are other widgets.
        if len(sweep.solvers) > 1 and not together:
            solver = st.selectbox("Solver", sweep.solvers, format_func=sweep.titles.__getitem__)
        place = {axis: st.select_slider(titles.get(axis, axis), list(values)) for axis, values in sweep.grid.items()}
        own = [cell for cell in sweep.cells if cell.axes == place and (together or cell.solver == solver)]
        cell = next((cell for cell in own if cell.job), own[0])
        st.button(
            "Open in Run",
            key="transition-trial-open",
            disabled=cell.job is None,
            help=cell.refused or None,
            on_click=_open,
            args=(sweep, cell, together),
        )


def _open(sweep: Sweep, cell: Cell, together: bool) -> None:
    """Open the first trial of a cell in Run, from a callback."""
    assert cell.job
    ran = [other.solver for other in sweep.cells if other.job and other.axes == cell.axes]
    spec, solvers = trial_spec(cell.job.spec, 0), ran if together else [cell.solver]
    values = {"model": spec.model, "solvers": ",".join(solvers), **code.spec_values(spec)}
    for solver in solvers:
        options = catalog.solver(solver, spec.model).options
        own = sweep.settings_of(solver)
        values |= {f"{solver}.{name}" if name in options else name: value for name, value in own.items()}
    st.session_state["converge:autorun"] = True
    live.go("converge", {name: format_exact(value) for name, value in values.items()})


def offer(sweep: Sweep, figure: Figure, table: pd.DataFrame, metric: str, *, together: bool) -> None:
    """Offer trials in Run; show the table; offer it, the figure and the definition as files.

    together: whether all solvers of a grid point run in Run on the same data, or only the point's solver.
    """
    _trial(sweep, together)
    fold = st.expander("Table and files", key="transition-table", on_change="rerun")
    if not fold.open:
        return
    config = {"responsive": True, "displaylogo": False}
    offers: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
        ("Figure, HTML", "html", "text/html", lambda: figure.plotly().to_html(config).encode()),
        ("Table, CSV", "csv", "text/csv", lambda: tables.csv(table)),
        ("Table, Parquet", "parquet", "application/vnd.apache.parquet", lambda: table.to_parquet(index=False)),
        ("Definition, TOML", "toml", "application/toml", to_toml(sweep).encode),
    )
    file = f"{sweep.spec.model}-transition"
    table = described(sweep, table.assign(title=table["solver"].map(sweep.titles)), metric)
    with fold:
        note = f"{NOTE} {catalog.given(sweep.solvers, sweep.spec.model)}"
        tables.view(table, note=note)
        with st.container(horizontal=True, key="transition-offers"):
            for title, ending, mime, data in offers:
                tables.download(title, data, f"{file}.{ending}", key=f"transition-file-{ending}", mime=mime)


def python(sweep: Sweep) -> str:
    """Return the script that computes the trials of a sweep; every grid point, even if the sweep is adaptive."""
    axes = "{" + ", ".join(f"{name!r}: {list(values)}" for name, values in sweep.grid.items()) + "}"
    settings = "".join(f", {name}={value!r}" for name, value in sweep.settings)
    call = f"axes=axes, solvers={list(sweep.solvers)!r}, trials={sweep.trials}{settings}{', race=True' * sweep.race}"
    spec = f"{code.imports(sweep.spec.model, sweep.solvers)}\n\nspec = {code.spec_python(sweep.spec)}"
    return f"{spec}\naxes = {axes}\ntable = lrlab.sweep(spec, {call})\nprint(table.to_csv(index=False))"


def shell(sweep: Sweep) -> str:
    """Return the command that runs a sweep with a separate store."""
    return f"python -m lrlab sweep /dev/stdin --store trials.sqlite <<'END'\n{to_toml(sweep)}END"
