"""Home: what the lab is, and what to try first."""

import streamlit as st

from lrlab.ui.home.firsts import FIRSTS
from lrlab.ui.shared import page

link = page.head(
    "home",
    "lrlab",
    "How well can a signal, a matrix or a network be recovered when measurements are few, quantised or missing? "
    "Choose a model, set its sizes and noise, run real solvers on the same data, and see how they do beside theory.",
)
st.subheader("Try first", anchor=False)
for start in range(0, len(FIRSTS), 3):
    for column, first in zip(st.columns(3, gap="medium"), FIRSTS[start : start + 3], strict=False):
        with column.container(border=True, height="stretch"):
            st.page_link(f"pages/{first.page}.py", label=f":primary[**{first.title}**]", query_params=first.address)
            st.caption(first.words)

teach, research = st.columns(2, gap="medium")
with teach:
    st.subheader("For a lecture", anchor=False)
    st.markdown(
        "Prepare a page beforehand: its address holds all parameters, so a link opens it as you left it. "
        "Touching anything during a run is safe, and Cancel keeps what was computed. Pages fit a telephone, too."
    )
with research:
    st.subheader("For research", anchor=False)
    st.markdown(
        "All solvers are scored by the same code on the same data, and a seed gives the same numbers anywhere. "
        "Whatever is plotted can be downloaded as CSV, and each page gives its job as Python and as a shell command, "
        "such as `python -m lrlab solve one-bit-sensing --solver pairwise-moment --set n=8000 --json`."
    )
link.write()
