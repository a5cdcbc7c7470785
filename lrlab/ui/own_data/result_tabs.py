"""Shows the tabs below a run on *own data*: the rows, each label, predictions."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.datasets import Dataset
from lrlab.figures import labels
from lrlab.fits import label_results
from lrlab.fits.fitted_model import FittedModel
from lrlab.models.own_rows import OwnProblem
from lrlab.ui.own_data import explain_tab, predictions, results_view
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink


def show(link: Permalink, rows: RowTables | None) -> None:
    """Show the tabs."""
    followed = live.about(results_view.PAGE)
    # After all solvers are done: otherwise the first to finish would become the choice below.
    fitted = results_view.fitted_models(followed.rows) if followed and not live.alive(results_view.PAGE) else {}
    titles = ["The rows", "Label by label", "Why and how sure", "Predictions and files"]
    rows_tab, labels_tab, why_tab, files_tab = st.tabs(titles, key="own_data-parts")
    with rows_tab:
        show_rows(rows or (followed.rows if followed else None))
    if not fitted:
        link.accept(["of", "by", "top", "chosen", "why", "label", "row"])
        labels_tab.caption("The results for each label appear when a run has ended.")
        why_tab.caption("Reasons, calibration and a map of labels appear when a run has ended.")
        files_tab.caption("Predictions and files appear when a run has ended.")
        return
    with labels_tab:
        show_labels(link, fitted, followed.rows.test)
    with why_tab:
        explain_tab.show(link, fitted, followed.rows)
    with files_tab:
        predictions.show(link, fitted, followed.rows)


def sizes(rows: RowTables) -> str:
    """Return the sizes of the tables in one line."""
    columns, count = rows.columns, int(np.sum(rows.facts.counts))
    notes = "".join(f". {note.rstrip('.')}" for note in rows.test.notes)
    return (
        f"{rows.title}: {rows.facts.n:,} training rows, {rows.test.n:,} test rows; {columns.d:,} features, "
        f"{100 * rows.density:.3g}% of them not zero; {columns.L:,} labels, {count / rows.facts.n:.3g} per row, "
        f"{100 * rows.facts.known:.3g}% of the label table known{notes}"
    )


def show_rows(rows: RowTables | None) -> None:
    """Show the frequencies and the correlations of labels."""
    if rows is None:
        return
    often, pairs = st.columns([1, 1], gap="medium")
    with often:
        figure = labels.frequencies(rows.names, rows.facts.counts, rows.facts.n)
        plot.show(figure, key="own_data.frequencies", label="how often each label is on")
        never, ratio = int((rows.facts.counts == 0).sum()), label_results.imbalance(rows.facts.counts)
        unequal = f"On average it is {ratio:.3g} times as frequent as a label (mean imbalance ratio). "
        st.caption(
            f"Training rows that have each label; the most frequent one is on in "
            f"{max(rows.facts.counts):,} of {rows.facts.n:,}. "
            + (unequal if ratio > 0 else "")
            + (f"{never} labels are never on: they cannot be learnt." if never else "")
        )
    with pairs:
        names = [rows.names[j] for j in rows.facts.together.places]
        plot.show(
            labels.correlations(names, rows.facts.together.phi), key="own_data.pairs", label="correlations of labels"
        )
        st.caption(f"Correlations of the {len(names)} most frequent labels on the training rows.")
    with st.container(horizontal=True):
        for part, path in (("training", rows.train_file), ("test", rows.test_file)):
            tables.download(f"{part.capitalize()} rows (.npz)", path.read_bytes, path.name, key=f"own_data-{part}")


def show_labels(link: Permalink, fitted: Mapping[str, FittedModel], test: Dataset) -> None:
    """Show one solver's results for each label, and its scores over all of them."""
    model = fitted[predictions.choose_solver(link, "of", fitted)]
    table, areas = live.once(f"own_data:labels {model.solver}", id(model.estimate), lambda: results(model, test))
    st.caption(
        f"AUC over all entries (micro): **{areas['micro_auc']:.4f}**. Mean AUC of a label (macro), over the "
        f"{areas['auc_labels']:,} labels with test rows of both kinds: **{areas['macro_auc']:.4f}**. A label is "
        f"predicted where its score is above {predictions.threshold_words(model)}."
    )
    shares = {name: st.column_config.NumberColumn(format="%.3f") for name in ("precision", "recall", "auc")}
    st.dataframe(table, hide_index=True, column_config=shares, key="own_data.labels", height=420)
    st.caption(
        "Test rows where a label is known, on, predicted; precision: share of the predicted rows that are on; recall: "
        "share of the rows that are on that are predicted; its confusion: true and false positives, false and true "
        "negatives; auc: chance that a row with the label scores higher than one without."
    )
    tables.download_csv("Labels (CSV)", table, f"labels-{model.solver}", key="own_data-labels-csv")


def results(model: FittedModel, test: Dataset) -> tuple[pd.DataFrame, Mapping[str, float]]:
    """Return the results of each label, the most frequent first, and the areas over all of them."""
    table = label_results.metrics_by_label(model, test).sort_values("on", ascending=False, kind="stable")
    return table, OwnProblem.between(test, test, 1).areas(model.estimate)
