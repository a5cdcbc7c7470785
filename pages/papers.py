"""Papers: a gallery of published experiments; each opens with its stored result, and is computed again on demand."""

import streamlit as st

from lrlab import presets
from lrlab.presets.result import Plan
from lrlab.ui.papers import gallery, papers_view
from lrlab.ui.shared import live, page
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

link = Permalink("papers")
name = gallery.chosen(link)
if name == gallery.CONTENTS_NAME:
    page.heading("What the papers have, and where")
    st.button("All experiments", key="papers-all", type="tertiary", on_click=gallery.open_figure, args=(link, ""))
    gallery.show_contents()
    link.accept(["of", "outcome", "trials", papers_view.AT])
elif not name:
    page.heading("Papers", gallery.summary())
    to = (link, gallery.CONTENTS_NAME)
    st.button("What the papers have, and where", key="papers-contents", on_click=gallery.open_figure, args=to)
    gallery.show(link)
    gallery.link_misprints()
    link.accept(["trials", papers_view.AT])
else:
    link.accept(["of", "outcome"])
    page.heading(presets.load(name).title)
    papers_view.statement(presets.load(name))
    papers_view.head(presets.load(name))
    with page.row():
        start = st.container(width="content")
        meaning = "all trials of the experiment, or fewer trials at fewer points"
        form = controls.choose(link, "trials", papers_view.forms(name), meaning, "Trials", few=True)
        st.button("All experiments", key="papers-all", type="tertiary", on_click=gallery.open_figure, args=(link, ""))
    at = papers_view.position(link, presets.load(name))
    preset = presets.load(name, form == "quick", at)
    plan = papers_view.plan_or_error(preset)
    page.show_errors(plan)
    with start:
        live.buttons(
            "papers",
            lambda: papers_view.begin(plan),
            ready=isinstance(plan, Plan),
            about=(preset, plan),
            label="Compute again",
        )
    papers_view.show_slider(link, presets.load(name), at)
    live.follow("papers", lambda: papers_view.draw(preset), papers_view.live_parts(preset))
    page.reading(preset.explanation, preset.reference)
    papers_view.show_data(preset)
    papers_view.bibtex(preset)
    page.fold_code(*papers_view.script(preset))
link.write()
