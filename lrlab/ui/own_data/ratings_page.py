"""The part of *own data* for ratings of items by users."""

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.engine.stream import Collection
from lrlab.parameters import InputError
from lrlab.ui.own_data import ratings_controls, ratings_predictions, ratings_results, ratings_source
from lrlab.ui.own_data.ratings_controls import RatingsPlan
from lrlab.ui.own_data.ratings_results import PAGE
from lrlab.ui.shared import live, page
from lrlab.ui.widgets.permalink import Permalink


def show(link: Permalink) -> None:
    """Show ratings, fits, and predictions."""
    with st.sidebar:
        files = ratings_source.choose(link)
        plan = ratings_controls.choose(link, files)
    page.show_errors(files, *([plan] if not isinstance(files, InputError) else []))
    with st.container():
        if isinstance(files, ratings_source.RatingFiles):
            st.caption(files.words)
        elif files is None:
            st.info("Upload a CSV of ratings on the left: a row for each, user, item, rating.")
    ready = plan if isinstance(plan, RatingsPlan) else None

    def begin() -> Collection:
        assert ready is not None
        return ratings_controls.begin(get_engine(), ready)

    live.buttons(PAGE, begin, ready=ready is not None, about=ready)
    live.follow(PAGE, lambda: ratings_results.draw(ready))
    # After all solvers are done: otherwise the first to finish would become the choice.
    fits = {} if live.alive(PAGE) else ratings_results.fitted()
    st.header("Predictions", anchor=False)
    if fits:
        ratings_predictions.show(link, fits)
    else:
        st.caption("Predictions, the best unrated items of a user, and files appear when a run has ended.")
        link.accept(["ratings.by", "ratings.user", "ratings.top"])
    if ready:
        page.copy(ratings_controls.python(ready), ratings_controls.shell(ready))
