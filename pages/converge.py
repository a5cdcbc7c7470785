"""Run: several solvers on one problem, live."""

import streamlit as st

from lrlab.ui.classroom import opening, polls
from lrlab.ui.converge import many_seeds, results_view, run_controls
from lrlab.ui.converge.wanted import Wanted
from lrlab.ui.live import parts
from lrlab.ui.papers import theorem_links
from lrlab.ui.shared import live, page, problem_controls
from lrlab.ui.widgets.permalink import Permalink

OPENING = {"n": "500", "p": "1000", "sparsity": "10", "solvers": "gamp,nbiht,marginal-mean"}
"""What a bare address shows: a sparse signal from half as many bits as unknowns, by three kinds of solvers."""

link = Permalink("converge", OPENING)
with page.controls():
    wanted = Wanted(link, problem_controls.choose_model(link))
    parts.settings(link, wanted.choose, apart=wanted.apart, follow=wanted.follow)

page.show_errors(wanted.spec, wanted.limits)


@parts.part
def runs() -> None:
    """Show the buttons and the figures of the runs."""
    with page.row():
        page.heading("Run")
        run_controls.pin_button(results_view.pinnable)
        run_controls.buttons(link, wanted.jobs)
        opening.offer("Run", lambda: polls.of_jobs(wanted.jobs), disabled=not wanted.jobs)
        with st.popover("Measure and axes"):
            curves = wanted.choose_curves()
    live.follow("converge", wanted.draw, results_view.view(curves))
    wanted.follow_sliders()
    results_view.refine()
    many_seeds.show(curves, wanted.jobs)
    link.write()


theorem_links.show(wanted.model)
