"""Spectrum: what a spectral method decomposes, along an axis, beside what theory says of it."""

import streamlit as st

from lrlab.catalog.families import FAMILIES, SINGLE_INDEX, family
from lrlab.experiments.engine import get_engine
from lrlab.experiments.moments import moment_trial
from lrlab.experiments.spectrum import spectrum_trial
from lrlab.ui import axis, batches, controls, live, moments_view, page, presets, problem, spectrum_view
from lrlab.ui.spectrum_view import MOMENTS

RANGES = {"m": (500.0, 20_000.0, "log"), "observed": (0.005, 0.5, "log")}
PHASES = {"ratio": (0.5, 8.0, "linear")}

link = page.head(
    "spectrum",
    "Spectrum",
    "A spectral method finds the signal only where the leading eigenvalues of its moment stand clear of the rest.",
)
presets.buttons("spectrum", presets.panels("yi2015-fig1"), "Figure 1 of Yi et al. (2015):")
with st.sidebar:
    model = problem.model(link, [name for kind in FAMILIES for name in kind.along])
    along = axis.choose(
        link, model, family(model).along[model], ranges=PHASES if model == "phase-retrieval" else RANGES
    )
    trials = controls.widget(link, controls.TRIALS)
    st.subheader("Held fixed", anchor=False)
    spec = problem.spec(link, model, without=[along.decides] if isinstance(along, axis.Axis) else [])
pairwise, moment = family(model) is SINGLE_INDEX, "auto"
view, task = (spectrum_view, spectrum_trial) if pairwise else (moments_view, moment_trial)
plan = view.plan(spec, along, trials)
page.complain(along, spec, plan)
ready = isinstance(plan, view.Plan)
with page.row():
    live.buttons("spectrum", lambda: get_engine().map(task, plan.tasks), ready=ready, about=plan)
    if pairwise:
        meaning = "pairs whose answers differ (M) or agree (M')"
        moment = controls.choose(link, "moment", MOMENTS, "auto", meaning, "Moment")


def draw() -> None:
    """Draw the run that is followed, whichever family it is of."""
    followed = live.about("spectrum") or plan
    moments_view.draw(plan) if isinstance(followed, moments_view.Plan) else spectrum_view.draw(plan, moment)


live.follow("spectrum", draw, lambda: batches.seen("spectrum"))
if ready:
    page.copy(view.python(plan))
link.write()
