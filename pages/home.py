"""Home: what the lab is, and examples to try."""

import streamlit as st

from lrlab.ui.home.examples import EXAMPLES
from lrlab.ui.shared import page

link = page.head(
    "home",
    "lrlab",
    "How well can a signal, a matrix or a network be recovered when measurements are few, quantised or missing? "
    "Choose a model, set its sizes and noise, run real solvers on the same data, and compare them with theory.",
)
st.subheader("Try first", anchor=False)
for start in range(0, len(EXAMPLES), 3):
    for column, one in zip(st.columns(3, gap="medium"), EXAMPLES[start : start + 3], strict=False):
        with column.container(border=True, height="stretch"):
            st.page_link(f"pages/{one.page}.py", label=f":primary[**{one.title}**]", query_params=dict(one.address))
            st.caption(one.text)

teach, research = st.columns(2, gap="medium")
with teach:
    st.subheader("For a lecture", anchor=False)
    st.markdown(
        "Prepare a page beforehand: its address holds all parameters, so a link opens it as you left it. "
        "Widgets may be changed during a run, and Cancel keeps the results so far. Pages fit a telephone, too."
    )
with research:
    st.subheader("For research", anchor=False)
    st.markdown(
        "All solvers are scored by the same code on the same data, and a seed gives the same numbers anywhere. "
        "All plotted data can be downloaded as CSV, and each page gives its job as Python and as a shell command, "
        "such as `python -m lrlab solve one-bit-sensing --solver pairwise-moment --set n=8000 --json`."
    )
link.write()
