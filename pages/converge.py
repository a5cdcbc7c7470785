"""Converge: several solvers on one problem, live."""

import streamlit as st

from lrlab.catalog.families import family
from lrlab.engine.engine import get_engine
from lrlab.ui.converge import run_view
from lrlab.ui.shared import live, page, problem, solving

link = page.head(
    "converge",
    "Converge",
    "Run several solvers on the same measurements and watch them approach the truth, beside what theory predicts.",
)
with st.sidebar:
    model = problem.model(link)
    spec = problem.spec(link, model)
    ending = solving.limits(link)
    st.subheader("Solvers", anchor=False)
    jobs = solving.solvers(link, model, spec, ending, default=family(model).solvers)

page.complain(spec, ending)
with page.row():
    live.buttons("converge", lambda: get_engine().follow(jobs), ready=bool(jobs))
    view = run_view.choices(link, model, spec)
live.follow("converge", lambda: run_view.draw(view, jobs), run_view.seen)
page.copy_jobs(jobs)
link.write()
