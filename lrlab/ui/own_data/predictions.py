"""Shows the predictions of a fitted solver on the test rows or on uploaded ones, and offers them as files."""

import io
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.arrays import Indices
from lrlab.datasets import Dataset
from lrlab.fits.fitted_model import PREDICTION_COLUMNS, FittedModel, save_model
from lrlab.fits.ratings_model import RatingModel, write_rows
from lrlab.parameters import InputError, Parameter
from lrlab.ui.own_data import row_source
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import page, uploads
from lrlab.ui.widgets import controls
from lrlab.ui.widgets import tables as table_view
from lrlab.ui.widgets.permalink import Permalink

TOP = Parameter(
    meaning="labels per row, those with the highest scores",
    name="top",
    symbol="k",
    kind=int,
    default=5,
    low=1,
    high=100,
)
ROWS = Parameter(meaning="rows to show, counted from 1, such as 1-10, 25", name="chosen", kind=str, default="1-10")
MOST_ROWS = 200
SPAN = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?", re.ASCII)


def show(link: Permalink, fitted: Mapping[str, FittedModel], tables: RowTables) -> None:
    """Show one solver's predictions for chosen rows, and offer those for all rows as files."""
    with page.row():
        model = fitted[choose_solver(link, "by", fitted)]
        top = controls.widget(link, TOP)
        text = controls.widget(link, ROWS, label="Rows")
    try:
        words = "With the features of the training rows, with or without labels."
        upload = row_source.file(link, "others", "Other rows to predict (default: the test rows)", words)
        chosen_rows = tables.test
        if upload is not None:
            source = upload.file_id, id(model.columns)
            chosen_rows = uploads.once("own_data:others", source, lambda: row_source.others(upload, model))
        chosen, k = rows_of(str(text), chosen_rows.n), int(TOP.check(top))
    except InputError as error:
        page.show_errors(error)
        return
    st.dataframe(predicted(model, chosen_rows, chosen, k), hide_index=True, key="own_data.predictions")
    st.caption(
        f"Scores follow the names; a star marks predicted labels, those with a score above {threshold_words(model)}."
    )
    with st.container(horizontal=True):
        title, file = f"Predictions of all {chosen_rows.n:,} rows (CSV)", f"{model.solver}.csv"
        csv = partial(as_csv, model, chosen_rows, k)
        table_view.download(title, csv, file, key="own_data-predictions", mime="text/csv")
        table_view.download("Model (.npz)", partial(as_npz, model), f"{model.solver}.npz", key="own_data-model")
    st.caption("`python -m lrlab predict MODEL.npz FILE` predicts with a downloaded model.")


def choose_solver(link: Permalink, name: str, fitted: Mapping[str, FittedModel]) -> str:
    """Show the choice of solvers and return the name of the chosen one."""
    return controls.choose_one(link, name, {title: title for title in fitted}, "whose results are shown", "Solver")


def rows_of(text: str, n: int) -> Indices:
    """Return the indices, from 0, of rows given as `1-10, 25`; InputError where the text is not of this form."""
    remedy = "write numbers and ranges, such as 1-10, 25"
    chosen: list[int] = []
    for part in text.split(","):
        match = SPAN.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= n or len(chosen) + last - first >= MOST_ROWS:
            expected = f"rows in 1..{n}, at most {MOST_ROWS} of them"
            raise InputError("rows", expected, part.strip() or "nothing", remedy)
        chosen += range(first - 1, last)
    return np.array(chosen)


def predicted(model: FittedModel, test: Dataset, chosen: Indices, k: int) -> pd.DataFrame:
    """Return one table row per data row: its number, its labels, and those with the highest scores."""
    places, scores = model.top(test.X[chosen], k)
    names, at = model.label_names, model.thresholds

    def label_text(label: int, score: float) -> str:
        return f"{names[label]}{'*' if score > at[label] else ''} {score:.2f}"

    columns: dict[str, Any] = {"row": chosen + 1}
    if test.observed is None or test.observed.nnz:
        columns["labels that are on"] = [", ".join(names[j] for j in test.Y[[i]].indices) for i in chosen]
    for j, (label, score) in enumerate(zip(places.T, scores.T, strict=True)):
        columns[f"{j + 1}."] = list(map(label_text, label, score))
    return pd.DataFrame(columns)


def threshold_words(model: FittedModel) -> str:
    """Return the thresholds as text."""
    own = f" ({len(model.own)} labels have thresholds of their own)" if model.own else ""
    return f"{model.threshold:g}{own}"


def as_csv(model: FittedModel, test: Dataset, k: int) -> bytes:
    """Return the predictions of all rows as a file."""
    stream = io.StringIO(newline="")
    write_rows(model.predict(test.X, k), PREDICTION_COLUMNS, stream)
    return stream.getvalue().encode()


def as_npz(model: FittedModel | RatingModel) -> bytes:
    """Return the model as a file."""
    stream = io.BytesIO()
    save_model(stream, model)
    return stream.getvalue()
