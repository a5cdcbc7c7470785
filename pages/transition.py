"""Transition: where in a plane of two parameters a solver begins to see the signal."""

import streamlit as st

from lrlab.catalog.families import family
from lrlab.experiments.engine import get_engine
from lrlab.experiments.sweep import run_trial
from lrlab.ui import axis, batches, controls, live, page, problem, solving, transition_view
from lrlab.ui.axis import Axis
from lrlab.ui.transition_view import Plan

link = page.head(
    "transition",
    "Transition",
    "Below a sharp line in the plane of two parameters a method sees nothing; above it, the signal comes out.",
)
with st.sidebar:
    model = problem.model(link)
    solver, settings = solving.one_solver(link, model)
    kind = family(model)
    across, upwards = kind.plane[model]
    x = axis.choose(link, model, across, prefix="x-", label="Across", points=12, ranges=kind.ranges)
    y = axis.choose(link, model, upwards, prefix="y-", label="Upwards", points=10, ranges=kind.ranges)
    trials = controls.widget(link, controls.TRIALS)
    st.subheader("Held fixed", anchor=False)
    spec = problem.spec(link, model, without=[a.decides for a in (x, y) if isinstance(a, Axis)])
plan = transition_view.plan(spec, x, y, solver, settings, trials)
page.complain(x, y, spec, settings, plan)
ready = isinstance(plan, Plan)
live.buttons("transition", lambda: get_engine().map(run_trial, plan.tasks), ready=ready, about=plan)
live.follow("transition", lambda: transition_view.draw(plan), lambda: batches.seen("transition"))
if ready:
    page.copy(transition_view.python(plan))
link.write()
