"""Spectrum: what a spectral method decomposes, along an axis, beside what theory says of it."""

import streamlit as st

from lrlab.catalog.families import FAMILIES, SINGLE_INDEX, family
from lrlab.engine.engine import on_workers
from lrlab.engine.stream import Collection
from lrlab.ui.shared import batches, live, page, presets, problem
from lrlab.ui.spectrum import spectrum_plan, spectrum_view
from lrlab.ui.spectrum.pairwise_view import MOMENTS
from lrlab.ui.spectrum.spectrum_plan import Plan
from lrlab.ui.widgets import axis, controls

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
plan = spectrum_plan.plan(spec, along, trials)
page.complain(along, spec, plan)
ready, moment = isinstance(plan, Plan), "auto"
with page.row():
    live.buttons("spectrum", lambda: Collection(on_workers(plan.measure, plan.draws)), ready=ready, about=plan)
    if family(model) is SINGLE_INDEX:
        meaning = "pairs whose answers differ (M) or agree (M')"
        moment = controls.choose(link, "moment", MOMENTS, "auto", meaning, "Moment")
live.follow("spectrum", lambda: spectrum_view.draw(plan, moment), lambda: batches.seen("spectrum"))
if ready:
    page.copy(spectrum_plan.python(plan))
link.write()
