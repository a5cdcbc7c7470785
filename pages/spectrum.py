"""Eigengaps: eigenvalues and overlaps of spectral methods along an axis, beside theory."""

from functools import partial

import streamlit as st

from lrlab import catalog
from lrlab.ui import spectrum
from lrlab.ui.shared import live, page, problem_controls
from lrlab.ui.spectrum import SpectrumPlan, is_pairwise
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

OPENING = {"model": "one-bit-phase-retrieval", "n": "6000", "p": "200"}
"""What a bare address shows: a model whose gap closes along its axis."""

link = Permalink("spectrum", OPENING)
with page.controls():
    known = [name for name, entry in catalog.MODEL_ENTRIES.items() if entry.along]
    model = problem_controls.choose_model(link, known)
    entry = catalog.model_entry(model)
    ranges = {entry.along: entry.along_range} if entry.along_range else {}
    along = controls.choose_axis(link, model, entry.along, ranges=ranges)
    trials = controls.widget(link, controls.TRIALS)
    st.header("Held fixed", anchor=False)
    decided = [along.decides] if isinstance(along, controls.Axis) else []
    main = problem_controls.draggable(model, decided)
    spec = problem_controls.choose_spec(link, model, without=decided, main=main)
    spectrum.preset_buttons("yi2015-fig1", "Figure 1 of Yi et al. (2015):")
plan = spectrum.make_plan(spec, along, trials)
page.show_errors(along, spec, plan)


@live.fragment
def measured() -> None:
    """Show the buttons and the measured figures."""
    ready, moment, at = isinstance(plan, SpectrumPlan), "auto", None
    with page.row():
        page.heading("Eigengaps")
        wanted = ready and link.take_opened()
        live.buttons("spectrum", partial(spectrum.begin, plan), ready=ready, about=plan, wanted=wanted)
        if is_pairwise(model):
            meaning = "the moment of pairs with different responses (M) or with equal responses (M')"
            moment = controls.choose(link, "moment", spectrum.MOMENTS, meaning, "Moment", few=True)
    if ready and is_pairwise(model):
        at = spectrum.show_histogram(plan, moment)
    parts = partial(spectrum.live_parts, live.about("spectrum"), moment)
    live.follow("spectrum", lambda: spectrum.draw(plan, moment), parts)
    if ready:
        spectrum.follow_sliders(link, plan, moment, at)
        page.fold_code(spectrum.python_script(plan))
    link.write()
