"""Spectrum: eigenvalues of the pairwise moments along an axis, beside what theory says of them."""

import streamlit as st

from lrlab.experiments.engine import get_engine
from lrlab.experiments.spectrum import spectrum_trial
from lrlab.ui import axis, batches, controls, live, page, presets, problem, spectrum_view
from lrlab.ui.spectrum_view import MOMENTS, Plan

AXES = {"one-bit-sensing": "variance", "flipped-logistic": "flip", "one-bit-phase-retrieval": "threshold"}

link = page.head(
    "spectrum",
    "Spectrum",
    "Algorithm 1 can find the signal only where the largest eigenvalue of its moment matrix stands clear of the rest.",
)
presets.buttons("spectrum", presets.panels("yi2015-fig1"), "Figure 1 of Yi et al. (2015):")
with st.sidebar:
    model = problem.model(link)
    along = axis.choose(link, model, AXES.get(model, "noise"))
    trials = controls.widget(link, controls.TRIALS)
    st.subheader("Held fixed", anchor=False)
    spec = problem.spec(link, model, without=[along.decides] if isinstance(along, axis.Axis) else [])
plan = spectrum_view.plan(spec, along, trials)
page.complain(along, spec, plan)
ready = isinstance(plan, Plan)
with page.row():
    live.buttons("spectrum", lambda: get_engine().map(spectrum_trial, plan.tasks), ready=ready, about=plan)
    moment = controls.choose(link, "moment", MOMENTS, "auto", "pairs whose answers differ (M) or agree (M')", "Moment")
live.follow("spectrum", lambda: spectrum_view.draw(plan, moment), lambda: batches.seen("spectrum"))
if ready:
    page.copy(spectrum_view.python(plan))
link.write()
