"""Run: several solvers on one problem, live."""

import streamlit as st

from lrlab.ui.classroom import room
from lrlab.ui.converge import results_view, run_controls
from lrlab.ui.converge.run_settings import RunSettings
from lrlab.ui.live import fragments
from lrlab.ui.shared import cards, live, page, problem_controls
from lrlab.ui.widgets.permalink import Permalink

OPENING = {"n": "500", "p": "1000", "sparsity": "10", "solvers": "gamp,nbiht,marginal-mean"}
"""What a bare address shows: a sparse signal from half as many bits as unknowns, by three kinds of solvers."""

link = Permalink("converge", OPENING)
with page.controls():
    settings = RunSettings(link, problem_controls.choose_model(link))
    fragments.settings(link, settings.choose, apart=settings.apart, follow=settings.follow)

page.show_errors(settings.spec, settings.limits)


@fragments.fragment
def runs() -> None:
    """Show the buttons and the figures of the runs."""
    with page.row():
        page.heading("Run")
        pin = st.container(width="content")
        run_controls.buttons(link, settings.jobs)
        room.offer("Run", lambda: [room.PlacePoll(job) for job in settings.jobs], disabled=not settings.jobs)
        # A run may be over as soon as it has begun.
        with pin:
            results_view.pin_button()
        with st.popover("Metric and axes"):
            settings.choose_curves()
    live.follow("converge", settings.draw, results_view.live_parts(settings.curves))
    settings.follow_sliders()
    results_view.refine()
    link.write()


cards.theorems(settings.model)
