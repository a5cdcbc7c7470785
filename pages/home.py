"""Home: a picture that is recovered while you look, and cards of all that there is to do."""

import streamlit as st

from lrlab.ui.home import sections, show_player
from lrlab.ui.shared import cards, page

MORE = {"Learn": ("learn", "All lessons"), "Papers": ("papers", "All figures of papers")}

link = page.begin("home")
words, moving = st.columns([2, 3], gap="large", vertical_alignment="center")
with words:
    page.heading(
        "lrlab",
        "How well can a signal, a matrix or a network be recovered when measurements are few, quantised or missing? "
        "Run real solvers on the same data, and compare them with theory.",
    )
    st.markdown(
        "Here a picture of 1,024 grey levels comes back from answers of one bit: is this random projection of it "
        "positive, or negative?"
    )
    st.page_link("pages/learn.py", label=":primary[**Why one bit is enough**]", query_params={"lesson": "one-bit"})
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
