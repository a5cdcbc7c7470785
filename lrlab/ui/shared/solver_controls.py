"""Controls of solvers: which ones run, their options, and the limits of a run."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import streamlit as st

from lrlab import catalog, protocol
from lrlab.parameters import InputError, Parameter, Value, declared, nearest
from lrlab.protocol import Spec, drive_limits
from lrlab.runs.job import Job, make_job
from lrlab.solver_entry import SolverEntry
from lrlab.ui.widgets.controls import widgets, with_defaults
from lrlab.ui.widgets.permalink import Permalink


def choose_limits(link: Permalink, initial: Mapping[str, Value] = MappingProxyType({})) -> dict[str, Any] | InputError:
    """Show the limits of a run; return them by name, or the error. initial: first values that are not the defaults."""
    with st.expander("Limits of a run"):
        values = widgets(link, with_defaults(declared(drive_limits).values(), initial))
    try:
        protocol.limits(values)
        # What is left at its default is not given: some solvers are made for more iterations.
        usual = {one.name: one.default for one in declared(drive_limits).values()}
        return {name: value for name, value in values.items() if name in initial or value != usual[name]}
    except InputError as error:
        return error


def choose_jobs(
    link: Permalink,
    name: str,
    problem: Spec | InputError,
    ending: Mapping[str, Any] | InputError,
    default: Sequence[str],
) -> list[Job]:
    """Show solvers and their options; return the jobs that can be run.

    A solver that cannot be run on this problem has the reason below its name.
    """
    entries = catalog.solvers_for(name)
    names = tuple(entry.name for entry in entries)
    parameter = Parameter(
        meaning="solvers", name="solvers", kind=str, default=",".join(s for s in default if s in names)
    )
    at_first = selected_solvers(link, parameter, names)
    chosen, jobs = [], []
    for entry in entries:
        link.accept(f"{entry.name}.{option}" for option in entry.options)
        key = link.key(entry.name, name)
        if key not in st.session_state:
            st.session_state[key] = entry.name in at_first
        about = f"{entry.summary} {entry.given}\n\n{entry.reference}"
        wanted = st.checkbox(entry.title, st.session_state[key], key=key, help=about)
        chosen += [entry.name] if wanted else []
        settings = {}
        if wanted and entry.options:
            with st.expander("Options", key=link.key(f"{entry.name}-options", name)):
                settings = widgets(link, list(entry.options.values()), scope=name, prefix=f"{entry.name}.")
        job = _job(problem, entry, settings, ending)
        if isinstance(job, InputError):
            st.caption(f":red[Unavailable: {job}]" if wanted else f"Unavailable: {job}")
        elif wanted and job:
            jobs.append(job)
    link.put("solvers", ",".join(chosen), parameter)
    return jobs


def selected_solvers(link: Permalink, parameter: Parameter, names: Sequence[str]) -> list[str]:
    """Return the solvers named in the address, or the default ones; unknown names become errors of the link."""
    given = [word for word in str(link.value("solvers", parameter)).split(",") if word]
    known = [word for word in given if word in names]
    for word in given:
        if link.arrived and word not in names:
            remedy = nearest(word, tuple(names)) or "leave it out"
            link.add_error(InputError("solvers", f"some of {', '.join(names)}", word, remedy))
    return known or str(parameter.default).split(",")


def _job(
    problem: Spec | InputError,
    entry: SolverEntry,
    settings: Mapping[str, Any],
    ending: Mapping[str, Any] | InputError,
) -> Job | InputError | None:
    if isinstance(problem, InputError) or isinstance(ending, InputError):
        return None
    try:
        return make_job(problem, entry.name, **settings, **ending)
    except InputError as error:
        return error
