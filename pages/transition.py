"""Phase map: where in a plane of two parameters solvers begin to see the signal."""

import streamlit as st

from lrlab.ui.shared import live, page
from lrlab.ui.sweep import crosshair, map_view, past_sweeps, sweep_controls, sweep_offers, sweep_run, sweep_view

link = page.head(
    "transition",
    "Phase map",
    "On one side of a line in the plane of two parameters a method sees nothing, on the other the signal comes out: "
    "sharply in large problems, gradually in small ones.",
)
with page.controls():
    sweep, parts = sweep_controls.choose(link, plane=True)
page.show_errors(*parts)
sweep_run.buttons("transition", sweep)
view = sweep_view.choices(link, sweep, plane=True)
crossed = crosshair.wanted(link)
left, right = st.columns([3, 2], gap="medium") if crossed else (st.container(), st.container())
with left:
    follow = sweep_view.live_view("transition", sweep, view)
    live.follow("transition", lambda: sweep_view.draw("transition", sweep, view), follow)
with right:
    sweep_view.beside("transition", sweep, view)
map_view.refine("transition", view)
if sweep:
    sweep_offers.copy(sweep)
past_sweeps.show("transition")
link.write()
