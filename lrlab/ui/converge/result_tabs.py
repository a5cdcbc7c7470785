"""Shows what stands below the figures of a run: why it works, all numbers, the table of iterates, the code."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from lrlab.catalog import family
from lrlab.figures import convergence
from lrlab.figures.recovery import Recovery
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.ui.converge import estimates, result_cards, solver_cards
from lrlab.ui.converge.curve_controls import CurveSettings
from lrlab.ui.shared import captions, code, page
from lrlab.ui.widgets import tables

if TYPE_CHECKING:
    import pandas as pd

WHY, NUMBERS, TABLE, CODE = "Why it works", "Numbers", "Table", "Code"


def show(
    settings: CurveSettings, spec: Spec, runs: Sequence[Any], drawn: Sequence[Recovery], truth: Any, *, ran: bool
) -> None:
    """Show the tabs; ran: whether there are results, and not the chosen jobs alone."""
    why, numbers, table_tab, code_tab = st.tabs([WHY, NUMBERS, TABLE, CODE], default=NUMBERS, key="converge-tabs")
    measures = family(spec.model).measures
    with why:
        st.markdown(spec.summary)
        solver_cards.show([run.job for run in runs])
    with numbers:
        meaning = measures[settings.measure].meaning
        st.caption(f"**{display_name(settings.measure)}**: {meaning}. " + theory_caption(drawn, settings.measure))
        st.caption(captions.describe_spec(spec))
        if ran:
            result_cards.show(runs, drawn, measures)
        estimates.show_values(truth, drawn)
    with table_tab:
        if ran:
            meanings = " ".join(f"{name}: {measure.meaning}." for name, measure in measures.items())
            tables.show(
                lambda: table(runs), key="converge-table", file=f"{spec.model}-convergence",
                note=f"One row per iterate. seconds: solver time. {meanings} {given(runs)}".rstrip(),
            )  # fmt: skip
    with code_tab:
        jobs = [run.job for run in runs]
        page.copy(code.python(jobs), code.shell(jobs))


def given(runs: Sequence[Any]) -> str:
    """Return what each solver is given beyond the data, as sentences."""
    words = dict.fromkeys(f"{run.job.entry.title}: {sentence}" for run in runs if (sentence := run.job.given))
    return " ".join(words)


def theory_caption(drawn: Sequence[Recovery], measure: str) -> str:
    """Return what the lines and marks of theory are, or nothing where there are none."""
    if any(convergence.prediction(run.predictions, f"start_{measure}") is not None for run in drawn):
        return "Star: the exact prediction of the start, for large m and p."
    words = []
    if any(convergence.prediction(run.predictions, measure) is not None for run in drawn):
        words.append("Dashed: the exact prediction at this n/p, for large n and p, of where the solver ends.")
    iterated = [run.title for run in drawn if run.expected and measure in ("error", "overlap")]
    if iterated:
        words.append(f"Dashed and curved: of each iterate of {', '.join(iterated)}.")
    # The same for all runs, as they are of one problem.
    known = drawn[0].predictions if drawn else {}
    limits = [convergence.prediction(known, measure, prefix) for prefix in convergence.LIMITS]
    if limits[0] is not None:
        hard = (
            " than the better line; no fast method is known to do better than the other"
            if limits[1] is not None
            else ""
        )
        words.append(f"Dotted: no method can do better{hard}.")
    return " ".join(words)


def table(runs: Sequence[Any]) -> "pd.DataFrame":
    """Return all iterates of all runs, with the predictions."""
    import pandas as pd

    rows = [
        {"solver": run.job.solver, **row, **run.job.predictions, "title": run.job.entry.title}
        for run in runs
        for row in run.trace.rows
    ]
    return pd.DataFrame(rows, columns=None if rows else ["solver", "iteration", "seconds"])
