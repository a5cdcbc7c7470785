"""Shows the best unrated items of a user and predictions for pairs, and offers them and the model as files."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from lrlab.datasets import read_pairs
from lrlab.datasets.ratings_features import Features, read_features
from lrlab.fits.ratings_fit import RatingsFit
from lrlab.fits.ratings_model import PAIR_COLUMNS, TOP_COLUMNS, RatingModel
from lrlab.fits.uploads import read_file
from lrlab.parameters import InputError, Parameter
from lrlab.ui.own_data import row_source
from lrlab.ui.own_data.predictions import as_npz
from lrlab.ui.own_data.ratings_source import CSV
from lrlab.ui.shared import page, uploads
from lrlab.ui.widgets import controls, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

TOP = Parameter(meaning="items to list", name="top", symbol="k", kind=int, default=10, low=1, high=1000)
USER = Parameter(meaning="a user of the ratings, or of the features of new users", name="user", kind=str, default="")
LIMIT_MB = 10
"""Of files that come back from the worker, whole."""
MOST_LISTS = 20_000
"""Users for whom a file of their best items is offered."""


def show(link: Permalink, fits: Mapping[str, RatingsFit]) -> None:
    """Show one solver's predictions."""
    models = {name: fit.model for name, fit in fits.items() if fit.model is not None}
    with page.row():
        words = "whose predictions are shown"
        model = models[controls.choose_one(link, "ratings.by", {name: name for name in models}, words, "Solver")]
        first = model.users.names[0]
        user = str(controls.widget(link, USER, name="ratings.user", label="User", placeholder=first)).strip() or first
        top = controls.widget(link, TOP, name="ratings.top")
    try:
        k = int(TOP.check(top))
        with st.expander("New users or items, and pairs to predict", key="own_data-new"):
            users, items = (new_members(link, model, what) for what in ("user", "item"))
            pairs = pairs_of(link)
        best, predicted = st.columns(2, gap="medium")
        with best:
            show_top(model, user, k, users)
        if pairs:
            with predicted:
                show_pairs(model, pairs, users, items)
    except InputError as error:
        page.show_errors(error)
    with st.container(horizontal=True):
        tables.download("Model (.npz)", lambda: as_npz(model), f"{model.solver}.npz", key="own_data-rating-model")
        if len(model.users.names) <= MOST_LISTS:
            name = f"Best {k} items of every user (CSV)"
            tables.download(name, lambda: every_user(model, k), "best-items.csv", key="own_data-best", mime="text/csv")
    st.caption(
        "`python -m lrlab predict MODEL.npz --user NAME` predicts with a downloaded model, as does a CSV of pairs."
    )


def new_members(link: Permalink, model: RatingModel, what: str) -> Features | None:
    """Show the upload of features of new users or items, if the model has features of them, and read it."""
    side = model.users if what == "user" else model.items
    if not side.columns:
        return None
    words = "The columns of the table that the model was fitted with."
    given = row_source.file(link, f"new_{what}s", f"Features of new {what}s", words, CSV, LIMIT_MB)
    source = getattr(given, "file_id", None), id(model)
    reader = partial(read_file, reader=partial(read_features, what=what, like=side.columns))
    return uploads.once(f"own_data:new {what}s", source, lambda: row_source.read_one(given, reader)) if given else None


def pairs_of(link: Permalink) -> list[tuple[str, str]]:
    """Show the upload of pairs, and read it."""
    given = row_source.file(link, "pairs", "Pairs to predict", "A row for each: user, item.", CSV, LIMIT_MB)
    if not given:
        return []
    return uploads.once(
        "own_data:pairs", given.file_id, lambda: row_source.read_one(given, partial(read_file, reader=read_pairs))
    )


def show_top(model: RatingModel, user: str, k: int, users: Features | None) -> None:
    """Show the best items that a user has not rated."""
    table = pd.DataFrame(model.top(user, k, users), columns=TOP_COLUMNS)
    columns = {"prediction": st.column_config.NumberColumn(format="%.3f")}
    st.dataframe(table.drop(columns="user"), hide_index=True, key="own_data.best_items", column_config=columns)
    st.caption(f"Items that {plain(user)} has not rated, the highest predictions first.")


def show_pairs(
    model: RatingModel, pairs: list[tuple[str, str]], users: Features | None, items: Features | None
) -> None:
    """Show predictions for pairs, and offer them as a file."""
    table = pd.DataFrame(model.predict(pairs, users, items), columns=PAIR_COLUMNS)
    tables.view(table, "Predictions; `new` says which of both has no ratings.")
    tables.download_csv("Predictions (CSV)", table, "predictions", key="own_data-pair-csv")


def every_user(model: RatingModel, k: int) -> bytes:
    """Return the best unrated items of every user as a CSV."""
    rows = [row for user in model.users.names for row in model.top(user, k)]
    return tables.csv(pd.DataFrame(rows, columns=TOP_COLUMNS))
