"""Converge: several solvers on one problem, live."""

import streamlit as st

from lrlab.catalog import family
from lrlab.engine.engine import get_engine
from lrlab.ui.converge import curve_controls, results_view
from lrlab.ui.shared import live, page, problem_controls, solver_controls

link = page.head("converge", "Converge", "")
with st.sidebar:
    model = problem_controls.choose_model(link)
    spec = problem_controls.choose_spec(link, model)
    limits = solver_controls.choose_limits(link)
    st.subheader("Solvers", anchor=False)
    jobs = solver_controls.choose_jobs(link, model, spec, limits, default=family(model).solvers)

page.show_errors(spec, limits)
with page.row():
    live.buttons("converge", lambda: get_engine().follow(jobs), ready=bool(jobs))
    with st.popover("Measure and axes"):
        settings = curve_controls.choose(link, model, spec)
live.follow("converge", lambda: results_view.draw(settings, jobs))
link.write()
