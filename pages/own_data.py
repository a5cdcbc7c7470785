"""Own data: several solvers on uploaded rows beside the full-rank baseline; predictions and models as files."""

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.parameters import InputError
from lrlab.ui.own_data import fit_controls, ratings_page, result_tabs, results_view, row_source
from lrlab.ui.own_data.fit_controls import FitPlan
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live, page
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.text import plain

link = page.head(
    "own_data",
    "Own data",
    "Upload rows with features and labels, hide some of the labels if you like, or ratings of items by users, and "
    "compare the predictions of solvers on test data. Files stay in this session, on the machine that serves the page.",
)
with st.sidebar:
    kinds = {"rows": "labelled rows", "ratings": "ratings"}
    kind = controls.choose(link, "data", kinds, "rows", "what the files hold", "Data")
if kind == "ratings":
    ratings_page.show(link)
    link.write()
    st.stop()
with st.sidebar:
    rows = row_source.choose(link)
    plan = fit_controls.choose(link, rows)

page.show_errors(rows, *([plan] if not isinstance(rows, InputError) else []))
with st.container():
    if isinstance(rows, RowTables):
        st.caption(plain(result_tabs.sizes(rows)))
    elif rows is None:
        st.info("Upload a file of training rows on the left: ARFF, svmlight, extreme classification, CSV or .npz.")
ready = isinstance(plan, FitPlan)
with page.row():
    live.buttons("own_data", lambda: fit_controls.begin(get_engine(), plan), ready=ready, about=plan)
    settings = results_view.choose(link)
live.follow("own_data", lambda: results_view.draw(settings, plan if ready else None), results_view.live_view(settings))
result_tabs.show(link, rows if isinstance(rows, RowTables) else None)
if ready:
    page.fold_code(fit_controls.python(plan), fit_controls.shell(plan))
link.write()
