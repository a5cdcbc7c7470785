"""Converge: several solvers on one problem, live."""

import streamlit as st

from lrlab.catalog import family, model_entry
from lrlab.ui.classroom import opening, polls
from lrlab.ui.converge import dragged, many_seeds, results_view, run_controls
from lrlab.ui.papers import theorem_links
from lrlab.ui.shared import live, page, problem_controls, solver_controls

link = page.begin("converge")
with page.controls():
    model = problem_controls.choose_model(link)
    spec = problem_controls.choose_spec(link, model, main=model_entry(model).main)
    limits = solver_controls.choose_limits(link)
    st.header("Solvers", anchor=False)
    jobs = solver_controls.choose_jobs(link, model, spec, limits, default=family(model).solvers, recommended=3)

page.show_errors(spec, limits)


@page.part
def runs() -> None:
    """Show the buttons and the figures of the runs."""
    with page.row():
        page.heading("Converge")
        run_controls.buttons(link, jobs)
        opening.offer("Converge", lambda: polls.of_jobs(jobs), disabled=not jobs)
        with st.popover("Measure and axes"):
            settings = run_controls.choose(link, model, spec)
    live.follow("converge", lambda: results_view.draw(settings, jobs, spec), results_view.view(settings))
    if jobs:
        problem_controls.follow_sliders(link, spec, dragged.Dragged(settings, jobs))
    results_view.refine()
    many_seeds.show(settings, jobs)
    link.write()


theorem_links.show(model)
