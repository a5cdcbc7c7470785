"""Downloads of a sweep: its figure, table and definition; and the same sweep as code."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.figures.build import Figure
from lrlab.parameters import display_name
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared import code, page
from lrlab.ui.widgets import tables

NOTE = (
    "One row per cell and solver. successes, share, low, high: trials that succeed, and the 95% interval of the "
    "share. mean, spread, quartiles: of {metric}. seed: of the first trial. shown: as on the map, maybe inferred. "
    "title: of the solver."
)


def offer(name: str, sweep: Sweep, figure: Figure, table: pd.DataFrame, metric: str) -> None:
    """Show the table; offer it (CSV, Parquet), the figure (HTML) and the definition (TOML) as files."""
    fold = st.expander("Table and files", key=f"{name}-table", on_change="rerun")
    if not fold.open:
        return
    config = {"responsive": True, "displaylogo": False}
    offers: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
        ("Figure, HTML", "html", "text/html", lambda: figure.to_html(include_plotlyjs=True, config=config).encode()),
        ("Table, CSV", "csv", "text/csv", lambda: tables.csv(table)),
        ("Table, Parquet", "parquet", "application/vnd.apache.parquet", lambda: table.to_parquet(index=False)),
        ("Definition, TOML", "toml", "application/toml", to_toml(sweep).encode),
    )
    file = f"{sweep.spec.model}-{name}"
    table = table.assign(title=table["solver"].map(sweep.titles))
    with fold:
        note = f"{NOTE.format(metric=display_name(metric))} {catalog.given(sweep.solvers, sweep.spec.model)}"
        tables.view(table, note=note)
        with st.container(horizontal=True, key=f"{name}-offers"):
            for title, ending, mime, data in offers:
                tables.download(title, data, f"{file}.{ending}", key=f"{name}-file-{ending}", mime=mime)


def copy(sweep: Sweep) -> None:
    """Offer a sweep as Python, as a shell command and as TOML."""
    page.copy(python(sweep), shell(sweep), to_toml(sweep))


def python(sweep: Sweep) -> str:
    """Return the script that computes the trials of a sweep; every cell of it, also where the sweep is adaptive."""
    axes = "{" + ", ".join(f"{name!r}: {list(values)}" for name, values in sweep.grid.items()) + "}"
    settings = "".join(f", {name}={value!r}" for name, value in sweep.settings)
    call = f"axes=axes, solvers={list(sweep.solvers)!r}, trials={sweep.trials}{settings}"
    spec = f"import lrlab\n\nspec = {code.spec_python(sweep.spec)}"
    return f"{spec}\naxes = {axes}\ntable = lrlab.sweep(spec, {call})\nprint(table.to_csv(index=False))"


def shell(sweep: Sweep) -> str:
    """Return the command that runs a sweep against a store of its own."""
    return f"python -m lrlab sweep /dev/stdin --store trials.sqlite <<'END'\n{to_toml(sweep)}END"
