"""Run: several solvers on one problem, live."""

import streamlit as st

from lrlab.catalog import family, model_entry
from lrlab.ui.classroom import room
from lrlab.ui.converge import results_view, run_controls
from lrlab.ui.shared import cards, live, page, problem_controls
from lrlab.ui.widgets.permalink import Permalink

OPENING = {"n": "500", "p": "1000", "sparsity": "10", "solvers": "gamp,nbiht,marginal-mean"}
"""What a bare address shows: a sparse signal from half as many bits as unknowns, by three kinds of solvers."""

link = Permalink("converge", OPENING)
with page.controls():
    model = problem_controls.choose_model(link)
    spec = problem_controls.choose_spec(link, model, main=model_entry(model).main)
    limits = problem_controls.choose_limits(link)
    st.header("Solvers", anchor=False)
    usual = family(model).solvers
    jobs = problem_controls.choose_jobs(link, model, spec, limits, default=usual, recommended=3)

page.show_errors(spec, limits)


@live.fragment
def runs() -> None:
    """Show the buttons and the figures of the runs."""
    with page.row():
        page.heading("Run")
        pin = st.container(width="content")
        run_controls.buttons(link, jobs)
        room.offer("Run", lambda: [room.PlacePoll(job) for job in jobs], disabled=not jobs)
        # A run may be over as soon as it has begun.
        with pin:
            results_view.pin_button()
        with st.popover("Metric and axes"):
            curves = run_controls.choose(link, model, spec)
    live.follow("converge", lambda: results_view.draw(curves, jobs, spec), results_view.live_parts(curves))
    results_view.follow_sliders(link, spec, curves, jobs)
    results_view.refine()
    link.write()


cards.theorems(model)
