"""Home: a picture that is recovered while you look, and cards of all that there is to do."""

import streamlit as st

from lrlab.ui.home import sections, show_player
from lrlab.ui.shared import cards, page
from lrlab.ui.widgets.permalink import Permalink

MORE = {"Learn": ("learn", "All lessons"), "Papers": ("papers", "All figures of papers")}

FIRST, TOUR = {"lesson": "one-bit", "step": "2"}, {"lesson": "tour"}

link = Permalink("home")
words, moving = st.columns([2, 3], gap="large", vertical_alignment="center")
with words:
    page.heading(
        "lrlab",
        "What comes back when measurements are few, of one bit, or missing? Run real solvers, beside theory.",
    )
    st.markdown("Here 1,024 grey levels come back from single bits. Drag the number of bits.")
    st.page_link("pages/learn.py", label=":primary[**Start here: why one bit is enough**]", query_params=FIRST)
    st.page_link("pages/learn.py", label="A tour in three minutes", query_params=TOUR)
with moving:
    show_player()
for title, several in sections().items():
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(title, anchor=False, width="content")
        if title in MORE:
            name, label = MORE[title]
            st.page_link(f"pages/{name}.py", label=label, width="content")
    cards.show(several)
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
