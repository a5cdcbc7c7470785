"""Plans the chosen preset, and shows its panels and files."""

import time
from collections.abc import Callable, Sequence

import streamlit as st

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Results
from lrlab.parameters import InputError, duration
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.papers import FOLDER, HOW, SETS, paper_of, presence
from lrlab.presets.report import command, page
from lrlab.presets.result import WORDS, Panel, Plan, Result, open_for
from lrlab.presets.resumed import Resumed
from lrlab.store.location import get_shared_store
from lrlab.ui.live.tabs import Parts
from lrlab.ui.papers import gallery, theorem_view
from lrlab.ui.papers.panels import Computed, all_panels, figure_name, panels
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import tables


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
    return python, f"{command(preset)} --out out{' --data DIR' if preset.data else ''}"


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
        shown, words = theorem_view.figures(chosen.name, chosen.at)
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
