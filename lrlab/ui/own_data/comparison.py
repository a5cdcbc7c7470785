"""The comparison of solvers on *own data* with the baseline: a row for each, its lead, and whether that is noise."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.fits import baselines
from lrlab.model_entry import Measure
from lrlab.models.multilabel import FAMILY
from lrlab.ui.own_data.fit_controls import BASELINE
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.widgets import tables
from lrlab.ui.widgets.text import plain

SCORES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
PAGE_MEASURES = {name: FAMILY.measures[name] for name in SCORES}
LOSSES = ("hamming",)
BEFORE = "The comparison appears here: one row per solver, including the full-rank baseline."


def measures_of(labels: int | None) -> dict[str, Measure]:
    """Return the measures that say something of so many labels: of six, the first five hold nearly all; None: all."""
    most = max(2, labels) if labels else math.inf
    return {name: measure for name, measure in PAGE_MEASURES.items() if 2 * _first(name) <= most}


def _first(name: str) -> int:
    """Return of how many first labels a measure is, precision_3 of three; 1 where it is of all."""
    last = name.rpartition("_")[2]
    return int(last) if last.isdecimal() else 1


def comparison_html(runs: Sequence[Any], measure: str, data: RowTables) -> str:
    """Return the comparison of runs that go on as HTML, for the live channel."""
    if not runs:
        return escape(BEFORE)
    titles = {"lead": "over baseline", "within": "±"}
    titles |= {name: known.title for name, known in measures_of(data.columns.L).items()}
    return tables.html(comparison(runs, measure, data).rename(columns=titles))


def compare(runs: Sequence[Any], measure: str, data: RowTables) -> None:
    """Show one row per solver and one of label frequencies, sortable by any measure, and what is below these."""
    if not runs:
        st.caption(BEFORE)
        return
    columns = {
        name: st.column_config.NumberColumn(known.title, help=known.meaning, format="%.4f")
        for name, known in measures_of(data.columns.L).items()
    }
    columns["seconds"] = st.column_config.NumberColumn(format="%.3g", help="time of the solver without scoring")
    columns["lead"] = st.column_config.NumberColumn(
        "over baseline", format="%+.4f", help=f"{PAGE_MEASURES[measure].title} minus that of binary relevance"
    )
    columns["within"] = st.column_config.NumberColumn(
        "±", format="%.4f", help="95% of the lead over draws of the test rows; less where both err in the same rows"
    )
    table = comparison(runs, measure, data)
    st.dataframe(table, hide_index=True, column_config=columns, key="own_data.comparison")
    words = plain(led(table, measure))
    st.caption(f"**{words}** Scores on the test rows after the last iteration. Click a column's name to sort by it.")
    for remark in remarks(runs, data.facts.floor):
        st.caption(remark)


def led(table: pd.DataFrame, measure: str) -> str:
    """Return whether a solver leads the baseline by more than the uncertainty, from the table of `comparison`."""
    own = table.iloc[:-1]
    own = own[own["within"].notna()].astype({"lead": float, "within": float})
    if own.empty:
        return "No lead over binary relevance is known."
    # Of a loss the least is the best.
    sign = -1.0 if measure in LOSSES else 1.0
    best = own.loc[(sign * own["lead"]).idxmax()]
    gap, title = sign * best["lead"], PAGE_MEASURES[measure].title
    words = f"{best['lead']:+.3f} ± {best['within']:.3f} in {title}"
    if gap > best["within"]:
        return f"{best['solver']} is better than binary relevance: {words}."
    if gap < -best["within"]:
        return f"Binary relevance is better than each other solver; the nearest is {best['solver']}: {words}."
    return f"Which is better is open: {best['solver']} against binary relevance, {words}."


def remarks(runs: Sequence[Any], floor: Mapping[str, float]) -> list[str]:
    """Return a sentence, as Markdown, for each solver that is done and below a baseline in AUC."""
    last = {run.job.solver: (run.job.entry.title, run.trace.rows[-1]) for run in runs if run.trace.rows}
    full = {baselines.FULL_RANK: last[BASELINE][1]} if BASELINE in last else {}
    known = {baselines.FREQUENCIES: floor, **full}
    remarks = {title: baselines.remark(row, known) for title, row in last.values()}
    return [f"**{plain(title)}**: {plain(words)}" for title, words in remarks.items() if words]


def comparison(runs: Sequence[Any], measure: str, data: RowTables) -> pd.DataFrame:
    """Return one row per solver: its lead over the baseline in `measure`, last scores, settings, and state.

    The last row is that of label frequencies. Where no test row has a measure there is no lead.
    """
    rows, measures, tested = [], measures_of(data.columns.L), data.rows_with(measure)
    for run in runs:
        last = run.trace.rows[-1] if run.trace.rows else {}
        options = dict(run.job.options)
        stop = run.trace.stop.name.replace("_", " ").lower() if run.trace.stop else run.state
        about = {
            "solver": run.job.entry.title,
            "lead": None,
            "within": None,
            **{name: last.get(name) for name in measures},
        }
        # A full-rank solver has none.
        about["rank"] = (int(options["fitted_rank"]) or run.job.spec.rank) if "fitted_rank" in options else None
        about["regularization"] = options.get("regularization")
        rows.append({**about, "iterations": run.trace.iterations, "seconds": last.get("seconds"), "state": stop})
    own = next((row for run, row in zip(runs, rows, strict=True) if run.job.solver == BASELINE), None)
    base = own[measure] if own else None
    frequent = {name: data.facts.floor.get(name) for name in measures}
    rows.append({"solver": baselines.FREQUENCIES.capitalize(), "lead": None, **frequent, "state": "baseline"})
    for row in rows:
        if tested and row[measure] is not None and base is not None:
            row["lead"] = row[measure] - base
            # The baseline's own lead is 0 in every draw.
            row["within"] = None if row is own else baselines.uncertainty(row[measure], base, tested)
    return pd.DataFrame(rows)
