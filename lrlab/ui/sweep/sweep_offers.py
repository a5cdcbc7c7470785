"""Offers next to the figure of a sweep: trials of its cells in Run, files, and the same sweep as code."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.figures.build import Figure
from lrlab.models import axes
from lrlab.runs.run import trial_spec
from lrlab.sweeps.definition import Cell, Sweep
from lrlab.sweeps.tables import described
from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared import code, live, page
from lrlab.ui.sweep import crosshair
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import format_exact

NOTE = (
    "One row per grid point and solver. successes, success_rate, low, high: successful trials, their rate and its 95% "
    "interval. mean, spread, quartiles: of the metric. seed: of the first trial. shown: as on the map, maybe inferred. "
    "among_best: nobody clearly beats the solver. title: of the solver. Last: the fixed parameters."
)


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
            crosshair.move(sweep, place)
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
    st.session_state["converge:autorun"] = True
    ran = [other.solver for other in sweep.cells if other.job and other.axes == cell.axes]
    solvers = ran if together else [cell.solver]
    live.go("converge", _address(sweep, cell, solvers))


def _address(sweep: Sweep, cell: Cell, solvers: Sequence[str]) -> Mapping[str, str]:
    """Return the address of the first trial of a cell in Run."""
    spec = trial_spec(cell.job.spec, 0) if cell.job else sweep.spec
    values = {"model": spec.model, "solvers": ",".join(solvers), **code.spec_values(spec)}
    for solver in solvers:
        options = catalog.solver(solver, spec.model).options
        own = sweep.settings_of(solver)
        values |= {f"{solver}.{name}" if name in options else name: value for name, value in own.items()}
    return {name: format_exact(value) for name, value in values.items()}


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
        ("Figure, HTML", "html", "text/html", lambda: figure.to_html(include_plotlyjs=True, config=config).encode()),
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


def copy(sweep: Sweep) -> None:
    """Offer a sweep as Python, as a shell command and as TOML."""
    page.fold_code(python(sweep), shell(sweep), to_toml(sweep), "lrlab.map(table)")


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
