"""Plans the chosen preset, and shows its panels and files."""

from collections.abc import Sequence
from itertools import cycle

import streamlit as st

from lrlab import presets
from lrlab.datasets.folder import FOLDER, presence
from lrlab.datasets.published import HOW, SETS
from lrlab.parameters import InputError, duration
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.page import page
from lrlab.presets.result import Panel, Plan, Result
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import plot, tables

TRIALS = {"all": "as in the preset", "10": "10", "3": "3"}
"""Choices of the number of trials."""


def number_of_trials(choice: str) -> int | None:
    """Return the number of trials of a choice; None leaves it to the preset."""
    return None if choice == "all" else int(choice)


def plan_or_error(preset: Preset, choice: str) -> Plan | InputError:
    """Return what has to be computed, or why it cannot be."""
    try:
        return presets.plan(preset, number_of_trials(choice))
    except InputError as error:
        return error


def show_data(preset: Preset) -> None:
    """Show which data sets of a preset the folder has, and how to get the others; nothing where it draws its own."""
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


def script(preset: Preset, choice: str) -> tuple[str, str]:
    """Return the same as Python and as a shell command."""
    number = number_of_trials(choice)
    arguments = (f", trials={number}" if number else "") + (', data="DIR"' if preset.data else "")
    options = (f" --trials {number}" if number else "") + (" --data DIR" if preset.data else "")
    python = f'from lrlab import presets\n\nprint(presets.run("{preset.name}", "out"{arguments}))'
    return python, f"python -m lrlab paper {preset.name} --out out{options}"


def draw(name: str) -> None:
    """Draw the panels of the computed preset, or the progress of its trials."""
    batch, about = live.current("papers"), live.about("papers")
    if batch is None or about[0].name != name:
        stored(name)
        return
    progress.show_batch_progress(batch)
    results = progress.batch_results(batch)
    if batch.alive:
        stored(name)
        return
    if len(results) < batch.total:
        st.info("A figure needs all of its trials: press Run to compute them.")
        return
    preset, plan = about
    result: Result = live.once("papers:result", id(batch), lambda: plan.finish(list(results.values())))
    panels(preset, result.panels)
    files(preset, result)


def stored(name: str) -> None:
    """Draw the result that is shipped with the package, if there is one."""
    run = shipped.load(name)
    if run is None:
        return
    st.caption(f"{run.words} It took {duration(run.seconds)} of one core; Run computes it again.")
    panels(presets.load(name), run.panels)
    tables.download_csv("Points (CSV)", run.table, name, key="papers-stored.csv")


def panels(preset: Preset, shown: Sequence[Panel]) -> None:
    """Draw the panels, two per line."""
    for k, (panel, column) in enumerate(zip(shown, cycle(st.columns(2, gap="medium")), strict=False)):
        with column:
            st.subheader(panel.title, anchor=False)
            plot.show(panel.figure, key=f"papers.{preset.name}-{k}", label=panel.title)
            st.caption(panel.caption)


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
