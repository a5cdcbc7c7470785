"""Shows why a model predicts what it does, how sure it may be, and which labels it takes for alike."""

from collections.abc import Mapping

import streamlit as st

from lrlab.figures import labels as figures
from lrlab.fits import explanations
from lrlab.fits.fitted_model import FittedModel
from lrlab.parameters import InputError, Parameter
from lrlab.ui.own_data import predictions
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live, page
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

ROW = Parameter(
    meaning="test row whose prediction is explained, counted from 1", name="row", kind=int, default=1, low=1, high=1e9
)
COUNT = 12


def show(link: Permalink, fitted: Mapping[str, FittedModel], rows: RowTables) -> None:
    """Show one solver's explanations of one label."""
    with page.row():
        model = fitted[predictions.choose_solver(link, "why", fitted)]
        order = sorted(range(len(rows.names)), key=lambda j: -rows.facts.counts[j])
        names = {rows.names[j]: rows.names[j] for j in order}
        chosen = controls.choose_one(link, "label", names, "whose score is explained", "Label")
        row = controls.widget(link, ROW, label="Test row")
    label = explanations.place_of(model, chosen)
    left, right = st.columns([1, 1], gap="medium")
    try:
        with left:
            show_features(model, label, chosen)
        with right:
            show_reason(model, rows, label, chosen, int(row or 0))
    except InputError as error:
        page.show_errors(error)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        show_calibration(model, rows)
    try:
        with right:
            show_map(model, rows, label, chosen)
    except InputError as error:
        page.show_errors(error)


def show_features(model: FittedModel, label: int, name: str) -> None:
    """Show the strongest features of a label."""
    table = explanations.strongest_features(model, label, COUNT)
    figure = figures.bars(list(table["feature"]), table["weight"].to_numpy(), "weight")
    plot.show(figure, key="own_data.features", label=f"strongest features of {name}")
    scaled = model.scaling.units != 1
    whole = "a standard deviation" if scaled.all() else "a standard deviation, or a unit of what has not been scaled,"
    unit = whole if scaled.any() else "a unit"
    st.caption(f"**Strongest features** of {plain(name)}: what {unit} of each adds to its score.")


def show_reason(model: FittedModel, rows: RowTables, label: int, name: str, row: int) -> None:
    """Show by what the features of a row move the score of a label."""
    if not 1 <= row <= rows.test.n:
        raise InputError("row", f"in 1..{rows.test.n}", row, "choose another test row")
    table, mean = explanations.contributions(model, rows.test.X, row - 1, label, COUNT)
    figure = figures.bars(list(table["feature"]), table["contribution"].to_numpy(), "contribution to the score")
    plot.show(figure, key="own_data.reason", label=f"why row {row} has its score for {name}")
    score, on = mean + float(table["contribution"].sum()), bool(rows.test.Y[row - 1, label])
    known = rows.test.observed is None or bool(rows.test.observed[row - 1, label])
    truth = ("it is on" if on else "it is off") if known else "it is unknown"
    side = "predicted" if score > model.thresholds[label] else "not predicted"
    st.caption(
        f"**Why** row {row} scores {score:.3f} for {plain(name)} ({side}; {truth}): the mean of test rows is "
        f"{mean:.3f}; each bar is what the row's difference from their mean adds."
    )


def show_calibration(model: FittedModel, rows: RowTables) -> None:
    """Show how often labels are on over what is predicted."""
    key = f"own_data:calibration {model.solver}"
    table = live.once(key, id(model.estimate), lambda: explanations.calibration(model, rows.test))
    probability = explanations.is_probability(model)
    plot.show(figures.reliability(table, probability), key="own_data.reliability", label="reliability of predictions")
    words = "Tenths of all predictions on test rows, by size."
    words += " Probabilities are calibrated on rows held out." if model.calibration else ""
    if probability:
        words += f" Mean distance from the diagonal: {explanations.calibration_error(table):.3f}."
    else:
        words += " Scores of this solver are no probabilities."
    st.caption(f"**Calibration**: of the labels predicted at 0.3, three in ten should be on. {words}")


def show_map(model: FittedModel, rows: RowTables, label: int, name: str) -> None:
    """Show labels by their embeddings, the nearest ones, and the embeddings as a file."""
    places, share = explanations.label_map(model)
    figure = figures.label_map(rows.names, places, rows.facts.counts, label)
    plot.show(figure, key="own_data.map", label="map of labels")
    nearest = explanations.nearest_labels(model, label, 5)
    words = ", ".join(f"{row.label} {row.cosine:.2f}" for row in nearest.itertuples())
    st.caption(
        f"**Map of labels**: directions of their embeddings, two components with {100 * share:.0f}% of the variance. "
        f"Nearest to {plain(name)} (cosine): {plain(words)}."
    )
    table = explanations.embedding_table(model)
    tables.download_csv("Embeddings (CSV)", table, f"embeddings-{model.solver}", key="own_data-embeddings")
