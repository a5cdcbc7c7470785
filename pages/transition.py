"""Phase transitions: where solvers begin to succeed, along one quantity or over a plane of two."""

import streamlit as st

from lrlab.ui.shared import live, page, progress
from lrlab.ui.sweep import crosshair, past_sweeps, sweep_controls, sweep_offers, sweep_run, sweep_view, winners_view
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("transition", {})
with page.controls():
    sweep, parts = sweep_controls.choose(link)
    past_sweeps.shelf("transition")
page.show_errors(*parts)
sweep_run.start("transition", sweep)
with page.row():
    page.heading("Phase transitions")
    sweep_run.buttons("transition", sweep)
    winners_view.button("transition", sweep)
    with st.popover("Display"):
        view = sweep_view.choices(link, sweep)
        crosshair.wanted(link, view)
view = winners_view.allowed(link, sweep, view)
running = live.current("transition")
progress.show(running, "transition", changed=running is not None and running.sweep != sweep)
shown = sweep_run.results("transition", sweep)
crossed = shown is not None and crosshair.place("transition", shown.sweep)
left, right = st.columns([3, 2], gap="medium") if crossed else (st.container(), st.container())
with left:
    follow = sweep_view.live_view("transition", sweep, view)
    live.follow("transition", lambda: sweep_view.draw("transition", sweep, view), follow)
with right:
    sweep_view.beside("transition", sweep, view)
sweep_view.refine("transition", view)
past_sweeps.explain(sweep)
if sweep:
    sweep_offers.copy(sweep)
past_sweeps.show("transition")
link.write()
