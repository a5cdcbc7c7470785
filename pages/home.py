"""Home: phase diagrams that one moves over, and a card for each page."""

import streamlit as st

from lrlab.ui.home import cards, more_cards
from lrlab.ui.live.routes import base
from lrlab.ui.shared import cards as card_view
from lrlab.ui.shared import page
from lrlab.ui.widgets import controls, plot
from lrlab.ui.widgets.permalink import Permalink

FIRST, TOUR = {"lesson": "one-bit", "step": "2"}, {"lesson": "tour"}

link = Permalink("home")
page.heading(
    "lrlab",
    "How many measurements are enough to recover a signal? Move over the diagram: what comes back follows.",
)
# Phase diagrams that follow the pointer; only the browser computes.
plot.send("atlas", "home-atlas", {"base": base()})
with st.container(horizontal=True):
    first = ":primary[**Start here: why one bit is enough**]"
    st.page_link("pages/learn.py", label=first, query_params=FIRST, width="content")
    st.page_link("pages/learn.py", label="A tour in three minutes", query_params=TOUR, width="content")
card_view.show(cards())
fold = controls.fold("More examples", "home-more")
if fold.open:
    with fold:
        card_view.show(more_cards())
teach, research = st.columns(2, gap="medium")
teach.markdown(
    "**For a lecture.** The address of a page holds all of its parameters, and the step of a lesson: a link opens it "
    "as you left it. Add `run=1`, and it opens running."
)
research.markdown(
    "**For research.** All solvers are scored by the same code on the same data, a seed gives the same numbers "
    "anywhere, all plotted data can be downloaded, and each page gives its job as Python and as a shell command."
)
link.write()
