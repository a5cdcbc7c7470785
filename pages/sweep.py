"""Sweep: any score of any solvers along one axis or over two, stored and resumed later."""

import streamlit as st

from lrlab.ui.shared import live, page
from lrlab.ui.sweep import map_view, past_sweeps, sweep_controls, sweep_offers, sweep_run, sweep_view

link = page.head(
    "sweep",
    "Sweep",
    "Vary one or two quantities, and run several solvers many times on the same data. Finished trials are stored.",
)
past_sweeps.shelf("sweep")
with st.sidebar:
    sweep, parts = sweep_controls.choose(link, plane=False)
page.show_errors(*parts)
past_sweeps.explain(sweep)
sweep_run.buttons("sweep", sweep)
view = sweep_view.choices(link, sweep, plane=False)
live.follow("sweep", lambda: sweep_view.draw("sweep", sweep, view), sweep_view.live_view("sweep", sweep, view))
map_view.refine("sweep", view)
if sweep:
    sweep_offers.copy(sweep)
past_sweeps.show("sweep")
link.write()
