"""Papers: published figures, computed again beside what theory says today."""

import streamlit as st

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.stream import Collection
from lrlab.presets.result import Plan
from lrlab.ui.papers import papers_view
from lrlab.ui.shared import live, page
from lrlab.ui.widgets import controls

link = page.head("papers", "Papers", "Figures of papers, computed anew on this machine beside the exact theory.")
titles = {name: presets.load(name).title for name in presets.names()}
name = controls.choose_one(link, "paper", titles, "a published figure", "Figure")
preset = presets.load(name)
page.reading(preset.explanation, preset.reference)
with page.row():
    start = st.container(width="content")
    trials = controls.choose(link, "trials", papers_view.TRIALS, "all", "draws of the data at each point", "Trials")
plan = papers_view.plan_or_error(preset, trials)
page.show_errors(plan)
ready = isinstance(plan, Plan)
with start:
    live.buttons("papers", lambda: Collection(on_workers(plan.function, plan.items)), ready=ready, about=(preset, plan))
live.follow("papers", lambda: papers_view.draw(name))
page.copy(*papers_view.script(preset, trials))
link.write()
