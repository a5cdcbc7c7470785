"""Phase transitions: where solvers begin to succeed, along one quantity or over a plane of two."""

from functools import partial

import streamlit as st

from lrlab.ui.shared import live, page, progress
from lrlab.ui.sweep import crosshair, past_sweeps, sweep_controls, sweep_offers, sweep_run, sweep_view, winners_view
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("transition", {})
with page.controls():
    sweep, given = sweep_controls.choose(link)
    past_sweeps.shelf()
page.show_errors(*given)
sweep_run.start(sweep)
data = sweep_run.data(sweep)
with page.row():
    page.heading("Phase transitions")
    sweep_run.buttons(sweep)
    winners_view.button(sweep)
    with st.popover("Display"):
        view = sweep_view.choices(link, sweep, data)
        crosshair.wanted(link, view)
view = winners_view.allowed(link, data, view)
running = live.current("transition")
changed = running is not None and running.sweep != sweep
progress.show(running, "transition", changed=changed)
at = crosshair.place(data.sweep) if data else None
left, right = st.columns([3, 2], gap="medium") if at else (st.container(), st.container())
with left:
    parts = partial(sweep_view.live_parts, data, view, at, changed)
    live.follow("transition", lambda: sweep_view.draw(data, view), parts)
with right:
    if data and at:
        crosshair.show(data, view, at)
sweep_view.refine(view)
past_sweeps.explain(sweep)
if sweep:
    sweep_offers.copy(sweep)
past_sweeps.show()
link.write()
