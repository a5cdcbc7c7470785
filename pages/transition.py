"""Phase transitions: where solvers begin to succeed, along one quantity or over a plane of two."""

from functools import partial

import streamlit as st

from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared import live, page, progress
from lrlab.ui.sweep import sweep_controls, sweep_offers, sweep_run, sweep_view
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("transition", {})
with page.controls():
    sweep, given = sweep_controls.choose(link)
    sweep_run.shelf()
page.show_errors(*given)
sweep_run.start(sweep)
data = sweep_run.data(sweep)
with page.row():
    page.heading("Phase transitions")
    sweep_run.buttons(sweep)
    sweep_view.race_button(sweep)
    with st.popover("Display"):
        view = sweep_view.choices(link, sweep, data)
        crossed = sweep_offers.choose_crosshair(link, view)
view = sweep_view.allowed(link, data, view)
running = live.current("transition")
changed = running is not None and running.sweep != sweep
progress.show(running, "transition", changed=changed)
at = sweep_offers.crosshair(data.sweep) if data and crossed else None
left, right = st.columns([3, 2], gap="medium") if at else (st.container(), st.container())
with left:
    parts = partial(sweep_view.live_parts, data, view, at, changed)
    live.follow("transition", lambda: sweep_view.draw(data, view, at), parts)
with right:
    if data and at:
        sweep_offers.show_crosshair(data, view, at)
sweep_view.refine(view)
sweep_run.explain(sweep)
if sweep:
    page.fold_code(sweep_offers.python(sweep), sweep_offers.shell(sweep), to_toml(sweep), "lrlab.map(table)")
sweep_run.show_past()
link.write()
