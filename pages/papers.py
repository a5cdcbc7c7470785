"""Papers: a gallery of published figures; each opens with its stored result, and is computed again on demand."""

import streamlit as st

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.stream import Collection
from lrlab.presets.result import Plan
from lrlab.ui.papers import gallery, papers_view
from lrlab.ui.shared import live, page
from lrlab.ui.widgets import controls

link = page.begin("papers")
name = gallery.chosen(link)
if not name:
    page.heading("Papers", "Figures of five papers, computed anew beside the exact theory and the claims.")
    gallery.show(link)
    link.accept(["trials"])
else:
    preset = presets.load(name)
    page.heading(preset.title)
    st.button("All figures", key="papers-all", type="tertiary", on_click=gallery.open_figure, args=(link, ""))
    with page.row():
        start = st.container(width="content")
        meaning = "draws of the data at each point"
        trials = controls.choose(link, "trials", papers_view.TRIALS, "all", meaning, "Trials")
    plan = papers_view.plan_or_error(preset, trials)
    page.show_errors(plan)
    with start:
        live.buttons(
            "papers",
            lambda: Collection(on_workers(plan.function, plan.items)),
            ready=isinstance(plan, Plan),
            about=(preset, plan),
        )
    live.follow("papers", lambda: papers_view.draw(name))
    page.reading(preset.explanation, preset.reference)
    papers_view.show_data(preset)
    page.copy(*papers_view.script(preset, trials))
link.write()
