"""Controls of solvers: which ones run, their options, and the limits of a run."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import streamlit as st

from lrlab import catalog
from lrlab.aliases import removed
from lrlab.parameters import InputError, Parameter, Value, declared, nearest, settle
from lrlab.protocol import Limits, Spec
from lrlab.runs.job import Job, make_job
from lrlab.solver_entry import SolverEntry
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.controls import widgets, with_defaults
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain


def choose_limits(link: Permalink, initial: Mapping[str, Value] = MappingProxyType({})) -> dict[str, Any] | InputError:
    """Show the limits of a run; return them by name, or the error. initial: first values that are not the defaults."""
    with controls.fold("Limits of a run", f"{link.page}-limits") as place:
        values = widgets(link, with_defaults(declared(Limits).values(), initial), shown=place.open)
    try:
        settle(declared(Limits), values)
        # Defaults are not passed: some solvers declare more iterations.
        usual = {one.name: one.default for one in declared(Limits).values()}
        return {name: value for name, value in values.items() if name in initial or value != usual[name]}
    except InputError as error:
        return error


def choose_jobs(
    link: Permalink,
    name: str,
    problem: Spec | InputError,
    ending: Mapping[str, Any] | InputError,
    default: Sequence[str],
    recommended: int = 0,
) -> list[Job]:
    """Show solvers and their options; return the jobs that can be run.

    A solver that cannot be run on this problem has the reason below its name. recommended: how many come first, each
    with its summary: `ModelEntry.first`, the default ones and then others that can be run; those that cannot
    be run then share one line.
    """
    names = tuple(entry.name for entry in catalog.solvers_for(name))
    parameter = Parameter(
        meaning="solvers", name="solvers", kind=str, default=",".join(s for s in names if s in default)
    )
    entries = catalog.solvers_for(name, str(link.value(parameter.name, parameter)).split(","))
    names = tuple(entry.name for entry in entries)
    _follow_default(link, name, str(parameter.default), names)
    at_first = selected_solvers(link, parameter, names)
    ticked = {e.name for e in entries if controls.current(link, link.key(e.name, name), e.name in at_first)}
    for entry in entries:
        link.accept(f"{entry.name}.{option}" for option in entry.options)
    tried = {entry.name: _job(problem, entry, {}, {}) for entry in entries} if recommended else {}
    refused = {name: str(job) for name, job in tried.items() if isinstance(job, InputError)}
    simulated = isinstance(problem, Spec) and problem.synthetic
    lead = [*(catalog.model_entry(name).first if simulated else ()), *default]
    order = sorted(entries, key=lambda entry: lead.index(entry.name) if entry.name in lead else len(lead))
    first = [entry for entry in order if entry.name not in refused][:recommended]
    chosen = {e.name: _choose(link, name, problem, e, ending, ticked=e.name in ticked, summary=True) for e in first}
    rest = [entry for entry in entries if entry not in first]
    unavailable = [entry for entry in rest if entry.name in refused and entry.name not in ticked]
    for entry in unavailable:
        controls.hold(link, link.key(entry.name, name), False, shown=False)
    rest = [entry for entry in rest if entry not in unavailable]
    opened = any(entry.name in ticked for entry in rest)
    folded = first and rest
    place: Any = (
        controls.fold(f"{len(rest)} more solvers", f"{link.page}-more", opened=opened) if folded else st.container()
    )
    with place:
        shown = not folded or place.open
        for title, own in _grouped(rest).items():
            if shown and title:
                st.markdown(f"**{title}**")
            chosen |= {
                e.name: _choose(link, name, problem, e, ending, ticked=e.name in ticked, shown=shown) for e in own
            }
    if unavailable:
        reasons = "\n\n".join(f"{entry.title}: {plain(refused[entry.name])}" for entry in unavailable)
        st.caption(f"Not for this problem: {', '.join(entry.title for entry in unavailable)}.", help=reasons)
    wanted = [entry for entry in names if chosen.get(entry, False) is not False]
    link.put("solvers", ",".join(wanted), parameter)
    return [job for entry in wanted if (job := chosen[entry])]


def _grouped(entries: Sequence[SolverEntry]) -> dict[str, list[SolverEntry]]:
    """Return solvers by their oracle information; without a title if all know the same."""
    groups: dict[str, list[SolverEntry]] = {"Know the link": [], "Use sparsity": [], "Neither": []}
    for entry in entries:
        known = "Know the link" if "link" in entry.oracle else "Use sparsity"
        groups[known if {"link", "sparsity"} & {*entry.oracle} else "Neither"].append(entry)
    filled = {title: own for title, own in groups.items() if own}
    return filled if len(filled) > 1 else {"": list(entries)}


def _choose(
    link: Permalink,
    name: str,
    problem: Spec | InputError,
    entry: SolverEntry,
    ending: Mapping[str, Any] | InputError,
    *,
    ticked: bool,
    summary: bool = False,
    shown: bool = True,
) -> Job | Literal[False] | None:
    """Show a solver; return its job, None if it is chosen and cannot be run, and False if it isn't chosen."""
    key = link.key(entry.name, name)
    about = f"{entry.summary} {entry.given()}\n\n{entry.reference}"
    wanted = controls.hold(link, key, ticked, shown=shown)
    if shown:
        wanted = st.checkbox(entry.title, wanted, key=key, help=about)
    if summary:
        st.caption(entry.summary)
    settings = {}
    options = [option for option in entry.options.values() if not option.hidden]
    if wanted and options:
        place: Any = controls.fold("Options", f"{link.page}-{entry.name}-options") if shown else st.container()
        visible = shown and place.open
        with place:
            settings = widgets(link, options, scope=name, prefix=f"{entry.name}.", shown=visible)
    if not (wanted or shown):
        return False
    job = _job(problem, entry, settings, ending)
    if isinstance(job, InputError):
        sentence = f"Unavailable: {plain(job)}"
        st.caption(f":red[{sentence}]" if wanted else sentence)
        return None if wanted else False
    return job if wanted else False


def _follow_default(link: Permalink, name: str, default: str, names: Sequence[str]) -> None:
    """Forget ticks that are the previous default, which has changed with the data."""
    before = link.kept.get(memory := link.key("default solvers", name), default)
    link.kept[memory] = default
    keys = {solver: link.key(solver, name) for solver in names}
    if before != default and {s for s, key in keys.items() if controls.current(link, key)} == set(before.split(",")):
        for key in keys.values():
            link.kept.pop(key, None)
            st.session_state.pop(key, None)


def selected_solvers(link: Permalink, parameter: Parameter, names: Sequence[str]) -> list[str]:
    """Return the solvers named in the address, or the default ones; unknown names become errors of the link."""
    given = [word for word in str(link.value(parameter.name, parameter)).split(",") if word]
    for word in given:
        if link.arrived and word not in names:
            remedy = removed(word) or nearest(word, tuple(names)) or "leave it out"
            link.add_error(InputError("solvers", f"some of {', '.join(names)}", word, remedy))
    return [word for word in given if word in names] or str(parameter.default).split(",")


def _job(
    problem: Spec | InputError, entry: SolverEntry, settings: Mapping[str, Any], ending: Mapping[str, Any] | InputError
) -> Job | InputError | None:
    if isinstance(problem, InputError) or isinstance(ending, InputError):
        return None
    try:
        return make_job(problem, entry.name, **settings, **ending)
    except InputError as error:
        return error
