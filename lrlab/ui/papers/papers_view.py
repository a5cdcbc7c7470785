"""Plans the chosen preset, and shows its panels and files."""

from collections.abc import Sequence

import streamlit as st

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Results
from lrlab.parameters import InputError, duration
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.page import command, page
from lrlab.presets.papers import paper_of
from lrlab.presets.published import FOLDER, HOW, SETS, presence
from lrlab.presets.result import WORDS, Line, Plan, Result, counts, open_for
from lrlab.presets.resumed import Resumed
from lrlab.store.location import get_shared_store
from lrlab.ui.live.stream import Parts
from lrlab.ui.live.tabs import View
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

    def planned() -> Plan | InputError:
        try:
            return presets.plan(preset)
        except InputError as error:
            return error

    # Files may be put into the folder at any time; thousands of trials are planned once.
    return planned() if preset.data else live.once("papers:plan", (preset.name, preset.quick, preset.at), planned)


def begin(plan: Plan) -> Results:
    """Start to compute the trials that the store does not have."""
    shared = get_shared_store()
    return Resumed(plan.function, plan.items, shared.open, on_workers)


def head(preset: Preset) -> None:
    """Show the counts and what reproduces; in a fold all claims in this order, and how the result was computed."""
    st.markdown(gallery.in_sight(preset.name))
    run, judged = shipped.load(preset.name), gallery.lines(preset.name)
    of = " (quick run)" if run and run.short else ""
    title = f"{len(judged)} claims: {counted(judged)}" if len(judged) > 1 else "In full"
    with st.expander(title, key="papers-verdicts"):
        for line in sorted(judged, key=lambda line: WORDS.index(line.verdict)):
            st.markdown(gallery.sentence(line, of))
        st.caption(origin(preset.name))


def counted(judged: Sequence[Line]) -> str:
    """Return how many claims stand, fall and are open, and why these are."""
    numbers = ", ".join(f"{count} {verdict}" for verdict, count in counts(judged).items())
    return numbers + (f" ({words})" if (words := open_for(judged)) else "")


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
    if own and about[0] != chosen and not batch.alive:
        progress.strip(progress.CHANGED.replace("Run", "Compute again"), "papers.progress")
    else:
        progress.show_batch_progress(batch if own else None, "papers.progress")
    results = progress.batch_results(batch if own else None, "papers")
    if own and batch.alive:
        so_far = [panel._replace(caption="") for panel in _computed(batch, about[1]).result().panels]
        panels(about[0], all_panels(about[0], about[1], so_far))
    elif (not results or about[0].at != chosen.at) and chosen.at is not None:
        shown, words = theorem_view.figures(chosen.name, chosen.at)
        panels(chosen, [panel._replace(caption=panel.caption.partition(" Verdict:")[0]) for panel in shown])
        st.caption(words)
    elif not results:
        stored(chosen.name)
    else:
        result = _computed(batch, about[1]).result()
        complete = len(results) == batch.total
        # Verdicts need all trials.
        panels(about[0], result.panels if complete else [panel._replace(caption="") for panel in result.panels])
        if complete:
            files(about[0], result)


def live_view(chosen: Preset) -> View | None:
    """Return the view of the run that is followed, for its live channel."""
    batch, about = live.current("papers"), live.about("papers")
    if batch is None or about[0].name != chosen.name:
        return None
    computed = _computed(batch, about[1])

    def parts() -> Parts:
        drawn = {figure_name(about[0], panel): panel.figure for panel in computed.result().panels}
        return {**progress.batch_parts(batch, "papers"), **drawn}

    return parts


def _computed(batch: Results, plan: Plan) -> Computed:
    computed: Computed = live.once("papers:computed", batch, lambda: Computed(batch, plan))
    return computed


def stored(name: str) -> None:
    """Draw the result that is shipped with the package, if there is one."""
    run = shipped.load(name)
    if run is None:
        return
    # Its verdicts stand at the top.
    panels(presets.load(name), [one._replace(caption=one.caption.partition(" Verdict:")[0]) for one in run.panels])
    tables.download_csv("Points (CSV)", run.table, name, key="papers-stored.csv")


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
