"""What a phase transition looks like while it is measured; a click on a cell opens its trial."""

from typing import Any, NamedTuple

import streamlit as st

from lrlab.experiments.sweep import Row, Trial
from lrlab.experiments.transition import Plane
from lrlab.figures.transition import Scale, transition
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.ui import batches, code, controls, live, plot, tables
from lrlab.ui.axis import Axis
from lrlab.ui.permalink import shown_exactly
from lrlab.ui.run_view import described

MOST_TRIALS = 20_000

GOALS = {
    "overlap": "mean squared overlap ⟨b̂, b⟩² of the estimate and the signal over the trials of a cell (1 is exact, 0 "
    "is blind)",
    "precision_3": "mean share of the three labels with the highest scores that are on, over fresh rows and trials",
    "error": "share of the trials of a cell that end with a relative error below 0.001",
    "spectral_error": "share of the trials of a cell that end with a relative spectral error below 0.05",
}
LINES = {
    "predicted threshold": "Line: the predicted threshold, exact for large n and p.",
    "degrees of freedom": "Degrees of freedom: with fewer measurements than unknowns nothing can succeed.",
    "statistical dimension": "Statistical dimension: where the convex programme changes from failure to success "
    "(Amelunxen et al. 2014).",
}


class Plan(NamedTuple):
    """A plane as it is asked for: its axes as chosen, its trials, and the cells that are refused, with the reason."""

    plane: Plane
    x: Axis
    y: Axis
    tasks: list[Trial]
    refused: list[Row]


def plan(
    spec: Spec | InputError, x: Axis | InputError, y: Axis | InputError, solver: str, settings: Any, trials: object
) -> Plan | InputError | None:
    """Return the plan; the error in it; or None where its parts are in error themselves."""
    if any(isinstance(part, InputError) for part in (spec, x, y, settings)):
        return None
    try:
        number = int(controls.TRIALS.check(trials))
        size = number * len(x.values) * len(y.values)
        if size > MOST_TRIALS:
            raise InputError("trials", f"at most {MOST_TRIALS:,} in all cells", f"{size:,}", "lower trials or points")
        plane = Plane(spec, x.name, x.values, y.name, y.values, solver, number, tuple(settings.items()))
        return Plan(plane, x, y, *live.once("transition:plan", plane, plane.plan))
    except InputError as error:
        return error


def draw(asked: Plan | InputError | None) -> None:
    """Draw what the followed batch has measured, or, before the first one, the predicted line alone."""
    batch, plan = live.current("transition"), live.about("transition") or asked
    if not isinstance(plan, Plan):
        return
    batches.progress(batch)
    rows = list(batches.results(batch).values())
    cells = plan.plane.cells(rows)
    held = described(plan.plane.spec, without=[plan.x.decides, plan.y.decides])
    st.caption(f"{held}; {plan.plane.solver}, {plan.plane.trials} trials a cell")
    if plan.refused:
        st.caption(f":orange[{len(plan.refused)} cells are left out.] {plan.refused[0]['refused']}")
    scales = (Scale(axis.title, axis.values, axis.spacing) for axis in (plan.x, plan.y))
    spacings = (plan.x.spacing, plan.y.spacing)
    lines = live.once("transition:line", (plan.plane, spacings), lambda: plan.plane.lines(spacings))
    goal = plan.plane.goal
    figure = transition(cells, *scales, lines, measure=goal.words)
    plot.show(figure, key="transition.map", label=f"{goal.words} over the plane", on_click=opened(plan, cells))
    told = " ".join(LINES[name] for name in dict.fromkeys(lines["line"]))
    st.caption(
        f"Colour: {GOALS.get(goal.measure, goal.words)}. {told} Crosses: not measured yet. "
        "**A click on a cell opens its first trial on Converge.**"
    )
    if rows:
        tables.show(
            lambda: cells, key="transition-table", file=f"{plan.plane.spec.model}-transition",
            note=f"One row a cell. x: {plan.x.title}. y: {plan.y.title}. seed: of the cell's first trial.",
        )  # fmt: skip


def opened(plan: Plan, cells: Any) -> Any:
    """Return what a click on the map does: it goes to Converge, and runs the first trial of the cell there."""
    seeds = {(cell.x, cell.y): int(cell.seed) for cell in cells.itertuples()}

    def click(point: plot.Click) -> None:
        cell = point.get("customdata") or []
        if tuple(cell[:2]) in seeds:
            x, y = cell[:2]
            spec = plan.plane.at(x, y).replace(seed=seeds[x, y])
            settings = {f"{plan.plane.solver}.{k}": v for k, v in plan.plane.settings}
            values = {"model": spec.model, "solvers": plan.plane.solver, **code.spec_values(spec), **settings}
            st.session_state["converge:autorun"] = True
            live.leave("pages/converge.py", {key: shown_exactly(value) for key, value in values.items()})

    return click


def python(plan: Plan) -> str:
    """Return the script that computes the same table."""
    plane = plan.plane
    axes = "{" + ", ".join(f"{name!r}: {list(values)}" for name, values in plane.axes.items()) + "}"
    settings = "".join(f", {k}={v!r}" for k, v in plane.settings)
    return "\n".join(
        [
            "import lrlab",
            "",
            f"spec = {code.spec_python(plane.spec)}",
            f"axes = {axes}",
            f"table = lrlab.sweep(spec, axes=axes, solvers=[{plane.solver!r}], trials={plane.trials}{settings})",
            "print(table)",
        ]
    )
