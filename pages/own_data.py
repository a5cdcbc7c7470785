"""Own data: solvers on people's own measurements, labels and ratings; what is recovered, and models as files."""

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.parameters import InputError
from lrlab.ui.own_data import (
    fit_controls,
    measurements_page,
    measurements_source,
    ratings_page,
    result_tabs,
    results_view,
    row_source,
)
from lrlab.ui.own_data.fit_controls import FitPlan
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live, page
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.text import plain


def labelled_rows() -> None:
    """Show rows, solvers and results of labels."""
    with st.sidebar:
        rows = row_source.choose(link)
        plan = fit_controls.choose(link, rows)

    page.show_errors(rows, *([plan] if not isinstance(rows, InputError) else []))
    with st.container():
        if isinstance(rows, RowTables):
            st.caption(plain(result_tabs.sizes(rows)))
        elif rows is None and st.session_state.get(link.key("train")) is None:
            st.info("Upload a file of training rows on the left: ARFF, svmlight, extreme classification, CSV or .npz.")
    ready = isinstance(plan, FitPlan)
    with page.row():
        live.buttons("own_data", lambda: fit_controls.begin(get_engine(), plan), ready=ready, about=plan)
        settings = results_view.choose(link, rows.columns.L if isinstance(rows, RowTables) else None)
    live.follow(
        "own_data", lambda: results_view.draw(settings, plan if ready else None), results_view.live_view(settings)
    )
    result_tabs.show(link, rows if isinstance(rows, RowTables) else None)
    if ready:
        page.fold_code(fit_controls.python(plan), fit_controls.shell(plan))


link = page.head(
    "own_data",
    "Own data",
    "Say what you have, take an example or upload your own, and compare solvers on what is held out. Files stay in "
    "this session, on the machine that serves the page.",
)
with st.sidebar:
    kinds = {**measurements_source.KINDS, "rows": "labels", "ratings": "ratings"}
    kind = controls.choose(link, "data", kinds, "rows", "what the files hold", "What have you?")
if kind == "rows":
    labelled_rows()
elif kind == "ratings":
    ratings_page.show(link)
else:
    measurements_page.show(link, kind)
link.write()
