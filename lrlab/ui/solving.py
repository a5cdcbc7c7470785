"""Widgets that make jobs of a problem: solvers, their options, and when a run ends."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from lrlab import catalog, protocol
from lrlab.catalog.entry import SolverEntry
from lrlab.catalog.families import family
from lrlab.experiments import convergence
from lrlab.experiments.convergence import Job
from lrlab.parameters import InputError, Parameter, declared, nearest, settle
from lrlab.protocol import Spec, drive_limits
from lrlab.ui.controls import choose_one, widgets
from lrlab.ui.permalink import Link


def limits(link: Link) -> dict[str, Any] | InputError:
    """Show the limits of a run; return them by name, or the error."""
    with st.expander("When a run ends"):
        values = widgets(link, list(declared(drive_limits).values()))
    try:
        return protocol.limits(values)._asdict()
    except InputError as error:
        return error


def solvers(
    link: Link,
    name: str,
    problem: Spec | InputError,
    ending: Mapping[str, Any] | InputError,
    default: Sequence[str],
) -> list[Job]:
    """Let a person choose solvers and their options; return the jobs that can be run.

    A solver that cannot be run on this problem has the reason below its name.
    """
    entries = catalog.solvers_for(name)
    names = tuple(entry.name for entry in entries)
    parameter = Parameter(
        meaning="solvers", name="solvers", kind=str, default=",".join(s for s in default if s in names)
    )
    asked = _asked(link, parameter, names)
    chosen, jobs = [], []
    for entry in entries:
        link.know(f"{entry.name}.{option}" for option in entry.options)
        key = link.key(entry.name, name)
        if key not in st.session_state:
            st.session_state[key] = entry.name in asked
        wanted = st.checkbox(entry.title, key=key, help=f"{entry.summary}\n\n{entry.reference}")
        chosen += [entry.name] if wanted else []
        settings = _options(link, entry, name) if wanted and entry.options else {}
        job = _job(problem, entry, settings, ending)
        if isinstance(job, InputError):
            st.caption(f":red[Not here: {job}]" if wanted else f"Not here: {job}")
        elif wanted and job:
            jobs.append(job)
    link.put("solvers", ",".join(chosen), parameter)
    return jobs


def one_solver(link: Link, model: str) -> tuple[str, dict[str, Any] | InputError]:
    """Let a person choose one solver of a model; return its name and its options that differ from the defaults."""
    entries = {entry.name: entry for entry in catalog.solvers_for(model)}
    titles = {name: entry.title for name, entry in entries.items()}
    chosen = choose_one(link, "solver", titles, "what is run", "Solver", default=family(model).solvers[0], scope=model)
    entry = entries[chosen]
    for other in entries.values():
        link.know(f"{other.name}.{option}" for option in other.options)
    st.caption(entry.summary)
    try:
        settings = settle(entry.run, _options(link, entry, model) if entry.options else {})
    except InputError as error:
        return chosen, error
    return chosen, {k: v for k, v in settings.items() if v != entry.options[k].default}


def _asked(link: Link, parameter: Parameter, names: Sequence[str]) -> list[str]:
    asked = [word for word in str(link.value("solvers", parameter)).split(",") if word]
    known = [word for word in asked if word in names]
    for word in asked:
        if link.arrived and word not in names:
            remedy = nearest(word, tuple(names)) or "leave it out"
            link.complain(InputError("solvers", f"some of {', '.join(names)}", word, remedy))
    return known or str(parameter.default).split(",")


def _options(link: Link, entry: SolverEntry, model: str) -> dict[str, Any]:
    with st.expander("Options", key=link.key(f"{entry.name}-options", model)):
        return widgets(link, list(entry.options.values()), scope=model, prefix=f"{entry.name}.")


def _job(
    problem: Spec | InputError,
    entry: SolverEntry,
    settings: Mapping[str, Any],
    ending: Mapping[str, Any] | InputError,
) -> Job | InputError | None:
    if isinstance(problem, InputError) or isinstance(ending, InputError):
        return None
    try:
        return convergence.job(problem, entry.name, **settings, **ending)
    except InputError as error:
        return error
