"""What a computed preset looks like: its panels, and its files."""

import streamlit as st

from lrlab import presets
from lrlab.parameters import InputError
from lrlab.presets.page import page
from lrlab.presets.result import Plan, Result
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import plot

EFFORTS = {"all": "as many as in the file", "10": "10", "3": "3"}


def number(effort: str) -> int | None:
    """Return the number of trials of a choice; None leaves it to the preset."""
    return None if effort == "all" else int(effort)


def asked(preset: presets.Preset, effort: str) -> Plan | InputError:
    """Return what is to be computed, or why it cannot be."""
    try:
        return presets.plan(preset, number(effort))
    except InputError as error:
        return error


def script(preset: presets.Preset, effort: str) -> tuple[str, str]:
    """Return the same as Python and as a shell command."""
    trials = (f", trials={effort}" if number(effort) else "") + (', data="DIR"' if preset.data else "")
    python = f'from lrlab import presets\n\nprint(presets.run("{preset.name}", "out"{trials}))'
    data = " --data DIR" if preset.data else ""
    return python, "" if number(effort) else f"python -m lrlab paper {preset.name} --out out{data}"


def draw(name: str) -> None:
    """Draw what the page has computed, or how far it is."""
    batch, about = live.current("papers"), live.about("papers")
    if batch is None or about[0].name != name:
        return
    progress.show_batch_progress(batch)
    results = progress.batch_results(batch)
    if batch.alive:
        return
    if len(results) < batch.total:
        st.info("A figure of a paper needs all of its trials: press Run to compute them.")
        return
    preset, plan = about
    result: Result = live.once("papers:result", id(batch), lambda: plan.finish(list(results.values())))
    panels(preset, result)
    files(preset, result)


def panels(preset: presets.Preset, result: Result) -> None:
    """Draw the panels, two a line."""
    columns = st.columns(2, gap="medium")
    for k, panel in enumerate(result.panels):
        with columns[k % 2]:
            st.subheader(panel.title, anchor=False)
            plot.show(panel.figure, key=f"papers.{preset.name}-{k}", label=panel.title)
            st.caption(panel.caption)


def files(preset: presets.Preset, result: Result) -> None:
    """Offer the page and the tables."""
    offers = (
        ("Figure (HTML)", ".html", "text/html", lambda: page(preset, result).encode()),
        ("Points (CSV)", ".csv", "text/csv", lambda: result.table.to_csv(index=False).encode()),
        ("All trials (CSV)", "-trials.csv", "text/csv", lambda: result.trials.to_csv(index=False).encode()),
    )
    with st.container(horizontal=True):
        for title, ending, mime, data in offers:
            st.download_button(
                title, data, f"{preset.name}{ending}", mime, key=f"papers-file{ending}", on_click="ignore"
            )
    fold = st.expander("Table", key="papers-table", on_change="rerun")
    if fold.open:
        fold.dataframe(result.table, hide_index=True)
