"""The page of a paper's experiment: claims, panels next to the paper's figure, a theorem with its slider, and files."""

import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from functools import lru_cache, partial

import pandas as pd
import streamlit as st

from lrlab import presets
from lrlab.engine.engine import on_workers, together
from lrlab.engine.results import Failure, Results
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.models.axes import axes
from lrlab.parameters import InputError, Parameter, counted, duration
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.papers import FOLDER, HOW, SETS, paper_of, presence
from lrlab.presets.result import WORDS, Panel, Plan, Result, Resumed, open_for, page
from lrlab.presets.table import redrawn
from lrlab.store.store import get_shared_store
from lrlab.ui.live import script_queue
from lrlab.ui.live.tabs import Parts
from lrlab.ui.papers import gallery
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink

PRINTED = "Redrawn from all numbers that the paper prints."
AT = "at"
"""The position of a theorem's slider, in the address."""


class Computed:
    """Figures and tables of a batch so far; while trials arrive they are made for a twentieth of the time at most."""

    def __init__(self, batch: Results, plan: Plan) -> None:
        self._batch, self._plan = batch, plan
        self._trials, self._result, self._due = 0, Result([], pd.DataFrame(), pd.DataFrame()), 0.0

    def result(self) -> Result:
        """Return the figures and tables, without panels before the first result."""
        results = progress.computed(self._batch)
        if len(results) == self._trials or (self._batch.alive and time.monotonic() < self._due):
            return self._result
        began = time.thread_time()
        self._result = self._plan.finish([results.get(number) for number in range(len(self._plan.items))])
        self._trials = len(results)
        self._due = time.monotonic() + (time.thread_time() - began) / 0.05
        return self._result


def all_panels(preset: Preset, plan: Plan, shown: Sequence[Panel]) -> list[Panel]:
    """Return all panels of a plan: panels without trials so far have the axes of the stored result, and no points."""
    run = shipped.load(preset.name)
    frames = {panel.title: frame(panel.figure) for panel in (run.panels if run else ())}
    drawn = {panel.title: panel for panel in shown}
    titles = dict.fromkeys([*plan.panels, *drawn])
    return [drawn.get(title) or Panel(title, frames.get(title) or theme.style(Figure()), "") for title in titles]


def frame(figure: Figure) -> Figure:
    """Return a figure without points, with the axes of another one."""
    empty = Figure()
    empty.layout = figure.layout
    return empty


def figure_name(preset: Preset, panel: Panel) -> str:
    """Return the name of a panel's figure on the page, by its title: at the end, panels without points disappear."""
    name = re.sub(r"\W+", "-", panel.title)
    return f"papers.{preset.name}-{name}"


def panels(preset: Preset, shown: Sequence[Panel]) -> None:
    """Draw the panels: first the ones next to the paper's figure, below them numbers that were not run."""
    printed = redrawn(preset.name)
    for panel in shown:
        if panel.title in printed:
            st.header(panel.title, anchor=False)
            paper, here = st.columns(2, gap="medium")
            with paper:
                st.markdown("**Paper**")
                _figure(preset, Panel(panel.title, printed[panel.title], PRINTED), "-printed")
            with here:
                st.markdown("**Here**")
                _figure(preset, panel)
    _two_per_line(preset, [panel for panel in shown if panel.title not in printed])
    run = {panel.title for panel in shown}
    absent = [Panel(title, figure, PRINTED) for title, figure in printed.items() if title not in run]
    if absent:
        title = f"Printed in the paper, not run here ({len(absent)})"
        with st.expander(title, key="papers-printed", on_change="rerun") as fold:
            if fold.open:
                _two_per_line(preset, absent)


def _two_per_line(preset: Preset, shown: Sequence[Panel]) -> None:
    # Row by row: on a phone, columns follow one another, and panels stay in order.
    for first in range(0, len(shown), 2):
        places = st.columns(2, gap="medium") if len(shown) > 1 else [st.container(width=900)]
        for panel, column in zip(shown[first : first + 2], places, strict=False):
            with column:
                st.header(panel.title, anchor=False)
                _figure(preset, panel)


def _figure(preset: Preset, panel: Panel, ending: str = "") -> None:
    plot.show(panel.figure, key=figure_name(preset, panel) + ending, label=f"{panel.title}. {panel.caption}")
    st.caption(panel.caption)


def statement(preset: Preset) -> None:
    """Show the theorem of a preset, if it has one, in the symbols of its paper."""
    if text := preset.content["figure"].get("statement"):
        st.latex(text.strip())


def position(link: Permalink, preset: Preset) -> float | None:
    """Return the position in the address; None if the stored result has the same one."""
    known = preset.positions
    link.accept([AT])
    if not known:
        return None
    texts = tuple(f"{value:g}" for value in known)
    start, key = f"{preset.start:g}", link.key(AT)
    if st.session_state.get(key, start) not in texts:
        # That of another theorem.
        del st.session_state[key]
    parameter = Parameter(meaning="position of the slider", name=AT, kind=str, default=start, choices=texts)
    text = link.held(parameter)
    return None if text == start else known[texts.index(text)]


def show_slider(link: Permalink, preset: Preset, at: float | None) -> None:
    """Show the slider of a preset, if it has one; the figures follow it."""
    known = preset.positions
    if not known:
        return
    name, start = preset.content["slider"]["name"], preset.start
    label = f"{axes(type(preset.first_spec))[name]} (stored: {start:g})"
    live.slider(
        label,
        known,
        start if at is None else at,
        lambda value: st.session_state.update({link.key(AT): f"{value:g}"}),
        key="papers.slider",
        show=partial(_parts, preset.name, start=start),
    )


def quick_panels(name: str, at: float, seconds: float = 6.0) -> tuple[list[Panel], str]:
    """Return all panels of a quick run at a position, and in words how many of its trials there are by then."""
    shown, done, total = _quick(name, at, seconds) if (name, at) not in _finished else _finished[name, at]
    so_far = "" if done == total else f", {done} of them so far: press Compute again for the others"
    # One without any trial so far shows none, not the trials of the previous position.
    shown = all_panels(presets.load(name, True, at), _plan(name, at), shown)
    return shown, f"A reduced run at {at:g}, computed now: {counted(total, 'trial')}{so_far}."


_finished: dict[tuple[str, float], tuple[list[Panel], int, int]] = {}
"""Finished runs: a few kilobytes each, of as many as sliders have positions."""


def _quick(name: str, at: float, seconds: float) -> tuple[list[Panel], int, int]:
    plan = _plan(name, at)
    futures = [together.submit(plan.function, item) for item in plan.items]
    with script_queue.pause():
        wait(futures, seconds)
    values = [one.result() if one.done() else None for one in futures]
    good = [None if isinstance(value, Failure) else value for value in values]
    done = sum(value is not None for value in good)
    made = plan.finish(good).panels if done else [], done, len(futures)
    if done == len(futures):
        _finished[name, at] = made
    return made


@lru_cache(maxsize=64)
def _plan(name: str, at: float) -> Plan:
    return presets.plan(presets.load(name, True, at))


def _parts(name: str, at: float, start: float) -> Parts:
    """Return the figures at a position by the names that they have on the page."""
    run, preset = shipped.load(name), presets.load(name)
    stored = run.panels if run else []
    # A slider that passes waits less than one that rests.
    shown = stored if at == start else quick_panels(name, at, 2.0)[0]
    # Parts that a quick run leaves out stay empty until the slider rests.
    empty = {figure_name(preset, panel): frame(panel.figure) for panel in stored}
    return empty | {figure_name(preset, panel): panel.figure for panel in shown}


def forms(name: str) -> dict[str, str]:
    """Return the choices of trials to compute again: all trials of a preset, or its reduced run."""
    run = shipped.load(name)
    return {"full": f"all {run.planned:,}" if run else "all", "quick": "quick"}


def plan_or_error(preset: Preset) -> Plan | InputError:
    """Return the missing trials, or the reason why lrlab cannot compute them."""
    try:
        # Files may be put into the folder at any time; thousands of trials are planned once.
        source = time.monotonic() if preset.data else (preset.name, preset.quick, preset.at)
        return live.once("papers:plan", source, lambda: presets.plan(preset))
    except InputError as error:
        return error


def begin(plan: Plan) -> Results:
    """Start to compute the trials that the store does not have."""
    shared = get_shared_store()
    return Resumed(plan.function, plan.items, shared.open, on_workers)


def head(preset: Preset) -> None:
    """Show the counts and what reproduces; in a fold all claims in this order, and how the result was computed."""
    st.markdown(gallery.in_sight(preset.name))
    run, judged = shipped.load(preset.name), gallery.lines(preset.name)
    of = " (reduced run)" if run and run.short else ""
    counts, reason = ", ".join(words for words, _ in gallery.outcomes(judged)), open_for(judged)
    title = f"{len(judged)} claims: {counts}{f' ({reason})' if reason else ''}" if len(judged) > 1 else "In full"
    with st.expander(title, key="papers-verdicts"):
        for line in sorted(judged, key=lambda line: WORDS.index(line.verdict)):
            st.markdown(gallery.sentence(line, of))
        st.caption(origin(preset.name))


def origin(name: str) -> str:
    """Return how the stored result came about, and how long it took."""
    run = shipped.load(name)
    if run is None:
        return "No result is stored yet: compute it."
    time = f"It took {duration(run.seconds)} of one core"
    if run.run < run.planned:
        time += f", all {run.planned:,} would take about {duration(run.seconds * run.planned / run.run)}"
    return f"{run.words} {time}."


def bibtex(preset: Preset) -> None:
    """Show the entry of the paper for a bibliography."""
    if paper := paper_of(preset.name):
        with st.expander("BibTeX of the paper", key="papers-bibtex"):
            st.code(paper.bibtex, language="latex", wrap_lines=True)


def show_data(preset: Preset) -> None:
    """Show which data sets of a preset the folder has, and how to get the others; nothing if it draws its own."""
    if not preset.data:
        return
    files_by_set = presence(None, preset.data)
    title = f"Data sets: {sum(map(bool, files_by_set.values()))} of {len(files_by_set)} found"
    with st.expander(title, key="papers-data"):
        rows = [
            {"set": name, "found": ", ".join(path.name for path in files or () if path)} | SETS.get(name, {})
            for name, files in files_by_set.items()
        ]
        st.dataframe(rows, hide_index=True, key="papers-sets")
        st.caption(f"{HOW} This server reads them from the folder that the environment variable {FOLDER} names.")


def script(preset: Preset) -> tuple[str, str]:
    """Return the same as Python and as a shell command."""
    arguments = (", quick=True" if preset.quick else "") + (', data="DIR"' if preset.data else "")
    arguments += "" if preset.at is None else f", at={preset.at:g}"
    python = f'from lrlab import presets\n\nprint(presets.run("{preset.name}", "out"{arguments}))'
    return python, f"{preset.command} --out out{' --data DIR' if preset.data else ''}"


def draw(chosen: Preset) -> None:
    """Draw the panels of the computed preset with the points so far, or the stored result."""
    batch, about = live.current("papers"), live.about("papers")
    own = batch is not None and about[0].name == chosen.name
    stale = own and about[0] != chosen and not batch.alive
    progress.show(batch if own else None, "papers", changed=stale, button="Compute again")
    results = progress.computed(batch if own else None)
    if own and (batch.alive or (results and chosen.at in (None, about[0].at))):
        preset, plan = about
        result = _computed(batch, plan).result()
        # Verdicts need all trials.
        complete = len(results) == batch.total and not batch.alive
        shown = result.panels if complete else [panel._replace(caption="") for panel in result.panels]
        panels(preset, all_panels(preset, plan, shown) if batch.alive else shown)
        if complete:
            files(preset, result)
    elif chosen.at is not None:
        shown, words = quick_panels(chosen.name, chosen.at)
        panels(chosen, without_verdicts(shown))
        st.caption(words)
    elif run := shipped.load(chosen.name):
        # Its verdicts stand at the top.
        panels(presets.load(chosen.name), without_verdicts(run.panels))
        tables.download_csv("Points (CSV)", run.table, chosen.name, key="papers-stored.csv")


def without_verdicts(shown: Sequence[Panel]) -> list[Panel]:
    """Return panels whose captions end before the verdicts."""
    return [panel._replace(caption=panel.caption.partition(" Verdict:")[0]) for panel in shown]


def live_parts(chosen: Preset) -> Callable[[Results], Parts] | None:
    """Return what makes the live parts of the run that is followed; None if it is of another preset."""
    about = live.about("papers")
    if about is None or about[0].name != chosen.name:
        return None
    computed = _computed(live.current("papers"), about[1])

    def parts(batch: Results) -> Parts:
        drawn = {figure_name(about[0], panel): panel.figure for panel in computed.result().panels}
        return {**progress.parts(batch, "papers"), **drawn}

    return parts


def _computed(batch: Results, plan: Plan) -> Computed:
    computed: Computed = live.once("papers:computed", batch, lambda: Computed(batch, plan))
    return computed


def files(preset: Preset, result: Result) -> None:
    """Offer the page and the tables."""
    with st.container(horizontal=True):
        html, file = "papers-file.html", f"{preset.name}.html"
        tables.download("Figure (HTML)", lambda: page(preset, result).encode(), file, key=html, mime="text/html")
        tables.download_csv("Points (CSV)", result.table, preset.name, key="papers-file.csv")
        trials = f"{preset.name}-trials"
        tables.download_csv("All trials (CSV)", result.trials, trials, key="papers-file-trials.csv")
    fold = st.expander("Table", key="papers-table", on_change="rerun")
    if fold.open:
        fold.dataframe(result.table, hide_index=True)
