"""Opens the first trial of a clicked cell on Converge, and runs it there."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from lrlab import catalog
from lrlab.models import axes
from lrlab.runs.trial import trial_spec
from lrlab.sweeps.definition import Cell, Sweep
from lrlab.ui.shared import code, live
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.permalink import format_exact


def open_on_click(sweep: Sweep, solver_at: int, together: bool) -> Callable[[plot.Click], None]:
    """Return the callback of a figure that opens the first trial of the clicked cell.

    A point's customdata holds the solver's title at `solver_at`, and the values of the axes at the beginning (of two
    axes) or in its x (of one). together: all solvers are run, which see the same data; else that of the cell.
    """

    def click(point: plot.Click) -> None:
        data = point.get("customdata") or []
        solver = data[solver_at] if len(data) > solver_at else None
        place = data[:2] if len(sweep.grid) == 2 else [point.get("x")]
        for cell in sweep.cells:
            if cell.job and sweep.titles[cell.solver] == solver and list(cell.axes.values()) == place:
                _open(sweep, cell, together)

    return click


def offer(page: str, sweep: Sweep, *, together: bool) -> None:
    """Offer the same by keyboard: a solver and the values of the axes are chosen, and a button opens that trial."""
    named, solvers = axes.axes(type(sweep.spec)), list(sweep.solvers[: 1 if together else None])
    with st.popover("Open a trial", type="tertiary", key=f"{page}-trial"):
        # Without keys: other values are other widgets.
        solver = solvers[0]
        if len(solvers) > 1:
            solver = st.selectbox("Solver", solvers, format_func=sweep.titles.__getitem__)
        place = {name: st.select_slider(named.get(name, name), list(values)) for name, values in sweep.grid.items()}
        cell = next(cell for cell in sweep.cells if cell.solver == solver and cell.axes == place)
        st.button(
            "Open on Converge", key=f"{page}-trial-open", disabled=cell.job is None, help=cell.refused or None,
            on_click=_open, args=(sweep, cell, together),
        )  # fmt: skip


def _open(sweep: Sweep, cell: Cell, together: bool) -> None:
    st.session_state["converge:autorun"] = True
    live.leave("pages/converge.py", address(sweep, cell, sweep.solvers if together else [cell.solver]))


def address(sweep: Sweep, cell: Cell, solvers: Sequence[str]) -> Mapping[str, str]:
    """Return the address of the first trial of a cell on Converge."""
    spec = trial_spec(cell.job.spec, 0) if cell.job else sweep.spec
    values = {"model": spec.model, "solvers": ",".join(solvers), **code.spec_values(spec)}
    for solver in solvers:
        options = catalog.solver(solver, spec.model).options
        own = sweep.settings_of(solver)
        values |= {f"{solver}.{name}" if name in options else name: value for name, value in own.items()}
    return {name: format_exact(value) for name, value in values.items()}
