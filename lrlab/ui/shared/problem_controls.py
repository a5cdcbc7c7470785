"""Controls of a problem and its solvers: model, parameters with sliders of round values, picture; solvers, limits."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import streamlit as st

from lrlab import catalog
from lrlab.models import pictures
from lrlab.models.axes import positions
from lrlab.parameters import InputError, Parameter, Value, declared, nearest, settle
from lrlab.protocol import Limits, Spec
from lrlab.runs.job import Job, make_job
from lrlab.solver_entry import SolverEntry
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.controls import widget, widgets, with_defaults
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

DRAGGED = ("n", "m", "p", "d", "rank", "r", "noise", "observed", "flip", "threshold")
"""Parameters whose effect is worth seeing while a slider moves."""


def choose_model(link: Permalink, models: Sequence[str] = (), first: str = "") -> str:
    """Show the choice of models, initially the first, and return the name of the chosen one."""
    titles = {name: catalog.MODELS[name].title for name in models or catalog.MODELS}
    chosen = controls.choose(link, "model", titles, "how the data are generated", "Model", default=first)
    st.caption(catalog.MODELS[chosen].summary)
    return chosen


def choose_spec(
    link: Permalink,
    name: str,
    *,
    main: Sequence[str] = (),
    without: Sequence[str] = (),
    initial: Mapping[str, Value] = MappingProxyType({}),
) -> Spec | InputError:
    """Show the widgets of a model; return the spec, or the error in its parameters.

    main: parameters that come first, with a slider each; the others are then folded away. without: parameters that have
    no widget. initial: first values that are not the defaults.
    """
    _settle_picture(link, name)
    first = {p: value for p, value in initial.items() if p not in without}
    parameters = _with_fitting_defaults(link, name, first)
    visible = [p for p in parameters.values() if not p.hidden and p.name not in ("seed", *without)]
    values: dict[str, Any] = {p: parameters[p].default for p in without if p in parameters}
    values |= {p: _with_slider(link, name, parameters[p]) for p in main}
    folded: Any = controls.fold("Advanced", f"{link.page}-advanced") if main else st.container()
    shown = not main or folded.open
    others = [p for p in visible if p.name not in main]
    with folded:
        values |= {p.name: _with_slider(link, name, p) for p in others if main and shown and p.name in DRAGGED}
        values |= widgets(link, [p for p in others if p.name not in values], scope=name, shown=shown)
    st.session_state[link.key("truth-before", name)] = values.get("truth")
    link.accept(parameters)
    try:
        if values.get("truth") == "upload":
            values["picture"] = upload(link, parameters["picture"], int(values["p"] or 0))
        place: Any = folded if main else controls.fold("Seed", f"{link.page}-seed")
        with place:
            values["seed"] = widget(link, parameters["seed"], shown=place.open)
        return catalog.spec(name, **values)
    except InputError as error:
        return error


def _with_fitting_defaults(link: Permalink, model: str, initial: Mapping[str, Value]) -> dict[str, Parameter]:
    """Return the parameters of a model; a default that the other values rule out is halved until it is valid.

    The values of another model stay when you switch models: p = 30 rules out the usual 50 non-zero entries.
    """
    parameters = {p.name: p for p in with_defaults(declared(catalog.MODELS[model]).values(), initial)}
    now = {
        name: controls.current(link, link.key(name, model), link.value(name, p))
        for name, p in parameters.items()
        if not p.hidden and name != "seed"
    }

    def is_ruled_out(name: str, value: Value) -> bool:
        try:
            catalog.spec(model, **now | {name: value})
        except InputError as error:
            return error.name == name
        return False

    for name, parameter in parameters.items():
        if name in now and parameter.kind is int:
            default = int(parameter.default)
            while is_ruled_out(name, default) and default > max(parameter.low, 0):
                default = int(max(parameter.low, default // 2))
            if not is_ruled_out(name, default):
                parameters[name] = replace(parameter, default=default)
    return parameters


def _with_slider(link: Permalink, model: str, parameter: Parameter) -> Value | None:
    """Show a parameter of a model, with a slider for a number, and return its value."""
    if parameter.kind not in (int, float) or parameter.choices:
        return widget(link, parameter, scope=model)
    key = link.key(parameter.name, model)
    now = float(controls.current(link, key, link.value(parameter.name, parameter)) or 0.0)
    options = positions_with(model, parameter, now)

    def rest(value: float) -> None:
        st.session_state[key] = value
        if value != now:
            live.request(link.page)

    # Beside its number, which has the label, unless the page is in a frame that shows only sliders.
    alone = bool(st.context.is_embedded)
    name = controls.label(parameter) if alone else f"slider of {controls.label(parameter)}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{key}.slider-row"):
        at = min(options, key=lambda option: abs(option - now))
        live.slider(name, options, at, rest, key=f"{key}.slider", titled=alone)
        return widget(link, parameter, scope=model)


def draggable(model: str, without: Sequence[str] = ()) -> list[str]:
    """Return the parameters of a model that have a slider wherever its spec is chosen."""
    return [name for name in declared(catalog.MODELS[model]) if name in DRAGGED and name not in without]


def follow_sliders(link: Permalink, spec: Spec, show: Callable[[Spec], Parts]) -> None:
    """Have each slider of a problem show what `show` returns for the spec at its position, while it is dragged."""

    def at(name: str, options: Sequence[float], position: int) -> Parts:
        return show(spec.replace(**{name: options[position]}))

    for name, parameter in declared(type(spec)).items():
        if preview := live.tab().previews.get(f"{link.key(name, spec.model)}.slider"):
            options = positions_with(spec.model, parameter, float(spec.values()[name] or 0.0))
            preview.show = partial(at, name, options)


def positions_with(model: str, parameter: Parameter, now: float) -> tuple[float, ...]:
    """Return the values of a slider, the present one among them, which was typed and may be beyond them."""
    options = positions(catalog.model_entry(model), parameter.name)
    if now in options or not parameter.low <= now <= parameter.high:
        return options
    return tuple(sorted((*options, int(now) if parameter.kind is int else now)))


def _settle_picture(link: Permalink, name: str) -> None:
    """Set p to the number of pixels when a picture has just been chosen as the truth."""
    key, before = link.key("truth", name), link.key("truth-before", name)
    truth, was = controls.current(link, key), st.session_state.get(before)
    if truth and was and truth not in (was, "random"):
        st.session_state[link.key("p", name)] = 256 if truth in ("phantom", "upload") else 64
        st.session_state[link.key("sparsity", name)] = 0


def upload(link: Permalink, parameter: Parameter, p: int) -> str:
    """Show the upload of a picture and return it as text; InputError if it isn't one."""
    side = math.isqrt(max(p, 0))
    words = f"PNG or JPEG; it becomes {side} x {side} gray levels (p = {side * side})."
    # 10 MB hold any photograph; 64 x 64 pixels remain.
    file = st.file_uploader("Image", key=link.key("file"), help=words, max_upload_size=10)
    text = str(link.value("picture", parameter))
    if file is not None and 4 <= side <= pictures.LARGEST_SIDE:
        encode = partial(pictures.encode, side=side)
        text = live.once("picture", (file.file_id, side), lambda: live.on_worker(encode, file.getvalue()))
    link.put("picture", text, parameter)
    return text


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
    link.accept(f"{entry.name}.{option}" for entry in entries for option in entry.options)
    tried = {entry.name: _job(problem, entry, {}, {}) for entry in entries}
    refused = {entry: str(job) for entry, job in tried.items() if isinstance(job, InputError)}
    jobs = dict[str, Job | None]()

    def offer(entry: SolverEntry, *, summary: bool = False, shown: bool = True) -> None:
        """Show a solver; if it is chosen, `jobs` gets its job, or None if it cannot be run."""
        key = link.key(entry.name, name)
        wanted, sentence = controls.hold(link, key, entry.name in ticked, shown=shown), refused.get(entry.name, "")
        if shown:
            about = f"{entry.summary} {entry.given()}\n\n{entry.reference}"
            wanted = st.checkbox(entry.title, wanted, key=key, help=about)
        if summary:
            st.caption(entry.summary)
        if wanted:
            settings = {}
            if options := [option for option in entry.options.values() if not option.hidden]:
                own: Any = controls.fold("Options", f"{link.page}-{entry.name}-options") if shown else st.container()
                with own:
                    visible = shown and own.open
                    settings = widgets(link, options, scope=name, prefix=f"{entry.name}.", shown=visible)
            job = _job(problem, entry, settings, ending)
            sentence = str(job) if isinstance(job, InputError) else ""
            jobs[entry.name] = None if isinstance(job, InputError) else job
        if sentence and (wanted or shown):
            sentence = f"Unavailable: {plain(sentence)}"
            st.caption(f":red[{sentence}]" if wanted else sentence)

    simulated = isinstance(problem, Spec) and problem.synthetic
    lead = [*(catalog.model_entry(name).first if simulated else ()), *default]
    order = sorted(entries, key=lambda entry: lead.index(entry.name) if entry.name in lead else len(lead))
    first = [entry for entry in order if entry.name not in refused][:recommended]
    for entry in first:
        offer(entry, summary=True)
    rest = [entry for entry in entries if entry not in first]
    unavailable = [entry for entry in rest if recommended and entry.name in refused and entry.name not in ticked]
    for entry in unavailable:
        controls.hold(link, link.key(entry.name, name), False, shown=False)
    rest = [entry for entry in rest if entry not in unavailable]
    folded, opened = bool(first and rest), any(entry.name in ticked for entry in rest)
    title = f"{len(rest)} more solvers"
    place: Any = controls.fold(title, f"{link.page}-more", opened=opened) if folded else st.container()
    with place:
        shown = not folded or place.open
        for group, members in _grouped(rest).items():
            if shown and group:
                st.markdown(f"**{group}**")
            for entry in members:
                offer(entry, shown=shown)
    if unavailable:
        reasons = "\n\n".join(f"{entry.title}: {plain(refused[entry.name])}" for entry in unavailable)
        st.caption(f"Not for this problem: {', '.join(entry.title for entry in unavailable)}.", help=reasons)
    link.put("solvers", ",".join(entry for entry in names if entry in jobs), parameter)
    return [job for entry in names if (job := jobs.get(entry))]


def _grouped(entries: Sequence[SolverEntry]) -> dict[str, list[SolverEntry]]:
    """Return solvers by their oracle information; without a title if all know the same."""
    groups: dict[str, list[SolverEntry]] = {"Know the link": [], "Use sparsity": [], "Neither": []}
    for entry in entries:
        known = "Know the link" if "link" in entry.oracle else "Use sparsity"
        groups[known if {"link", "sparsity"} & {*entry.oracle} else "Neither"].append(entry)
    filled = {title: own for title, own in groups.items() if own}
    return filled if len(filled) > 1 else {"": list(entries)}


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
            remedy = nearest(word, tuple(names)) or "leave it out"
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
