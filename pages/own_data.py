"""Own data: a person's rows, several solvers on them beside the full-rank baseline, predictions to take home."""

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.parameters import InputError
from lrlab.ui.own_data import own_data_code, own_data_parts, own_data_rows, own_data_run, own_data_view
from lrlab.ui.own_data.own_data_rows import Rows
from lrlab.ui.own_data.own_data_run import Plan
from lrlab.ui.shared import live, page

link = page.head(
    "own_data",
    "Own data",
    "Bring rows with features and labels, hide some of the labels if you like, and see what solvers make of rows that "
    "they have not seen. Files stay in this session, on the machine that serves the page.",
)
with st.sidebar:
    rows = own_data_rows.choose(link)
    plan = own_data_run.choose(link, rows)

page.complain(rows, *([plan] if not isinstance(rows, InputError) else []))
with st.container():
    if isinstance(rows, Rows):
        st.caption(own_data_parts.sizes(rows))
    elif rows is None:
        st.info("Upload a file of training rows on the left: ARFF, svmlight, extreme classification, CSV or .npz.")
ready = isinstance(plan, Plan)
with page.row():
    live.buttons("own_data", lambda: own_data_run.begin(get_engine(), plan), ready=ready, about=plan)
    view = own_data_view.choices(link)
live.follow("own_data", lambda: own_data_view.draw(view, plan if ready else None), own_data_view.seen)
own_data_parts.show(link, rows if isinstance(rows, Rows) else None)
if ready:
    page.copy(own_data_code.python(plan), own_data_code.shell(plan))
link.write()
