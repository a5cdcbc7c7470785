"""Widgets that define a sweep, and the page address that sets them to a given sweep."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from lrlab import catalog
from lrlab.catalog import model_entry
from lrlab.model_entry import ModelEntry, Success
from lrlab.parameters import InputError, Parameter, Value, declared
from lrlab.protocol import Limits
from lrlab.sweeps.definition import BUDGET, TOLERANCE, Span, Sweep, usual_success
from lrlab.ui.shared import problem_controls
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.controls import Axis
from lrlab.ui.widgets.permalink import Permalink, format_exact

FIRST_MODEL = "rank-one-sensing"
"""Model of the first diagram: its success is sharp, and follows the degrees of freedom."""
MOST_TRIALS = 200_000
"""Trials of a sweep on a page; the shell has no such limit."""
TRIALS = replace(controls.TRIALS, low=1, high=10_000, default=5)
"""Few by default: a first diagram appears within seconds, and neighboring grid points support one another."""
RACE = Parameter(
    meaning="drop a solver from a grid point once another one clearly beats it, for who wins where",
    name="race",
    kind=bool,
    default=False,
)
NO_RULE = "none"
RULE = "rule."
OPTION = "set."
"""Prefixes in the address of the success rule and of solver options, whose names may equal names of parameters."""


def choose(link: Permalink) -> tuple[Sweep | None, list[object]]:
    """Show the widgets of a sweep over two axes, or one; return it, or None if an error stands among the parts."""
    model = problem_controls.choose_model(link, first=FIRST_MODEL)
    entry = model_entry(model)
    _leave_race(link, model)
    solvers, settings = _solvers(link, entry)
    across, upwards = entry.plane
    x = controls.choose_axis(link, model, across, prefix="x-", label="Across", points=12, lists=True)
    y = controls.choose_axis(link, model, upwards, prefix="y-", label="Upwards", points=10, lists=True, optional=True)
    trials = controls.widget(link, TRIALS)
    rule = st.container()
    adaptive = _adaptive(link, plane=y is not None, several=len(solvers) > 1)
    # A trial that succeeds needs more iterations in some families than in others.
    link.renew(["max_iter"], entry.family.name)
    limits = problem_controls.choose_limits(link, entry.family.limits)
    st.header("Held fixed", anchor=False)
    chosen = [a for a in (x, y) if isinstance(a, Axis)]
    decided = [a.decides for a in chosen]
    spec = problem_controls.choose_spec(link, model, without=decided, initial=entry.held)
    with rule:
        success = _success(link, entry, spec, chosen)
    parts: list[Any] = [x, y, spec, settings, success, limits]
    if any(isinstance(part, InputError) for part in parts):
        return None, parts
    try:
        changed = {k: v for k, v in parts[5].items() if v != declared(Limits)[k].default}
        sweep = Sweep(
            spec=parts[2],
            axes=tuple((a.name, a.given) for a in chosen),
            solvers=solvers,
            trials=int(TRIALS.check(trials)),
            success=parts[4],
            settings={**parts[3], **changed},
            **adaptive,
        )
        if sweep.total > MOST_TRIALS:
            got = f"{sweep.total:,}"
            raise InputError("trials", f"at most {MOST_TRIALS:,} at all grid points", got, "lower trials or points")
        sweep.cells  # noqa: B018  (refused where no solver accepts any cell)
    except InputError as error:
        return None, [*parts, error]
    return sweep, parts


def address(sweep: Sweep) -> dict[str, str]:
    """Return the address under which a page shows the widgets of a sweep."""
    values: dict[str, Value] = {"model": sweep.spec.model, "solvers": ",".join(sweep.solvers), "trials": sweep.trials}
    for prefix, (name, given) in zip(("x-", "y-"), sweep.axes, strict=False):
        values[f"{prefix}axis"] = name
        if isinstance(given, Span) and controls.FEWEST <= given.steps <= controls.MOST:
            values |= {f"{prefix}from": given.low, f"{prefix}to": given.high, f"{prefix}points": given.steps}
            values[f"{prefix}spacing"] = given.spacing
        else:
            values[f"{prefix}values"] = ", ".join(map(str, sweep.grid[name]))
    if len(sweep.axes) == 1:
        values["y-axis"] = controls.NONE
    values[f"{RULE}metric"] = sweep.success.metric if sweep.success else NO_RULE
    if sweep.success:
        values[f"{RULE}side"] = "above" if sweep.success.below is None else "below"
        values[f"{RULE}level"] = float(sweep.success.level or 0.0)
    values |= {"tolerance": sweep.tolerance, "budget": sweep.budget}
    # The page is adaptive again when the race is switched off.
    values |= {RACE.name: True} if sweep.race else {"adaptive": sweep.adaptive}
    known = declared(Limits)
    values |= {name: parameter.default for name, parameter in known.items()}
    values |= {k if k in known else OPTION + k: v for k, v in sweep.settings}
    values |= {k: v for k, v in sweep.spec.public_values().items() if k not in sweep.decided}
    return {name: format_exact(value) for name, value in values.items()}


def of_sweep_page(query: Mapping[str, str]) -> dict[str, str]:
    """Return the address of *Phase transitions* for an address of the former page *Sweep*, whose defaults differed."""
    entry = model_entry(query["model"] if query.get("model") in catalog.MODELS else next(iter(catalog.MODELS)))
    plane = query.get("y-axis", controls.NONE) != controls.NONE
    known = {solver.name for solver in catalog.solvers_for(entry.spec.model)}
    solvers = ",".join([name for name in entry.family.solvers if name in known][:2])
    first = {"model": entry.spec.model, "x-axis": entry.plane[1], "y-axis": controls.NONE, "trials": "10"}
    first |= {"solvers": solvers} | ({"y-points": "8", "adaptive": "false", "apart": "true"} if plane else {})
    return {**first, **query}


def _solvers(link: Permalink, entry: ModelEntry) -> tuple[list[str], dict[str, Value] | InputError]:
    model = entry.spec.model
    names = [solver.name for solver in catalog.solvers_for(model)]
    first = [name for name in (*entry.family.solvers, *names) if name in names][:1]
    parameter = Parameter(meaning="solvers", name="solvers", kind=str, default=",".join(first))
    given = str(link.value(parameter.name, parameter)).split(",")
    entries = {solver.name: solver for solver in catalog.solvers_for(model, given)}
    key = link.key("solvers", model)
    if key not in st.session_state:
        st.session_state[key] = problem_controls.selected_solvers(link, parameter, list(entries))
    chosen = st.multiselect(
        "Solvers",
        list(entries),
        st.session_state[key],
        key=key,
        format_func=lambda name: entries[name].title,
        help="Colors show the first, contours the others.",
    )
    link.put("solvers", ",".join(chosen), parameter)
    link.accept(OPTION + option for solver in entries.values() for option in solver.options)
    return chosen, _options(link, model, chosen)


def _options(link: Permalink, model: str, chosen: list[str]) -> dict[str, Value] | InputError:
    # An option goes to every solver that knows it, so the page shows it once, for the first solver.
    known: dict[str, tuple[str, Parameter]] = {}
    for solver in chosen:
        for name, parameter in catalog.solver(solver, model).options.items():
            if not parameter.hidden:
                known.setdefault(name, (solver, parameter))
    if not known:
        return {}
    with controls.fold("Options of solvers", f"{link.page}-options") as place:
        options = [parameter for _, parameter in known.values()]
        given = controls.widgets(link, options, scope=model, prefix=OPTION, shown=place.open)
    try:
        for solver in dict.fromkeys(solver for solver, _ in known.values()):
            catalog.solver(solver, model).settle({k: given[k] for k, (of, _) in known.items() if of == solver})
    except InputError as error:
        return error
    return {name: value for name, value in given.items() if value != known[name][1].default}


def _success(link: Permalink, entry: ModelEntry, spec: Any, along: list[Axis]) -> Success | InputError | None:
    measures = list(entry.family.measures)
    try:
        usual = usual_success(spec, {a.name: a.values for a in along})
    except (InputError, AttributeError):
        # Another setting is an error with a sentence.
        usual = usual_success(entry.spec(), {})
    first = usual.metric if usual else NO_RULE
    choices = measures if usual else [NO_RULE, *measures]
    parameters = (
        Parameter(
            meaning="metric that defines success", name="metric", choices=tuple(choices), kind=str, default=first
        ),
        Parameter(
            meaning="whether it succeeds below or above the level",
            name="side",
            choices=("below", "above"),
            kind=str,
            default="below",
        ),
        Parameter(meaning="where success begins", name="level", symbol="level", default=usual.level if usual else 0.5),
    )
    with controls.fold("What counts as success", f"{link.page}-success") as place:
        # The level follows the noise: a separate widget for each.
        scope = f"{entry.family.name} {parameters[2].default:g}"
        given = controls.widgets(link, parameters, scope=scope, prefix=RULE, shown=place.open)
        metric, side, level = given.values()
    if metric == NO_RULE:
        return None
    try:
        return Success(str(metric), **{str(side): float(parameters[2].check(level))})
    except InputError as error:
        return error


def _leave_race(link: Permalink, model: str) -> None:
    """Switch a race off when the model changes; with a race end its trials, points and time limit."""
    link.renew([RACE.name], model)
    name = f"{link.page}:races"
    raced, races = st.session_state.get(name), controls.current(link, link.key(RACE.name), link.value(RACE.name, RACE))
    st.session_state[name] = races
    if raced and not races and not link.arrived:
        link.forget(["trials", "max_seconds", "x-points", "y-points"])


def _adaptive(link: Permalink, plane: bool, several: bool) -> dict[str, Any]:
    link.accept([RACE.name, "adaptive", TOLERANCE.name, BUDGET.name])
    if plane and several and controls.widget(link, RACE, label="race: trials where solvers are close"):
        return {"race": True}
    meaning = "measure the whole plane coarsely first, then near the 50% success contour; infer the rest"
    wanted = Parameter(meaning=meaning, name="adaptive", kind=bool, default=plane)
    parts = [TOLERANCE, BUDGET]
    scope = "" if plane else "line"
    if not controls.widget(link, wanted, scope=scope, label="adaptive: trials where the contour is"):
        return {"adaptive": False}
    return {"adaptive": True, **controls.widgets(link, parts)}
