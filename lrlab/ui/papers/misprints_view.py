"""The page of misprints: what the papers print, what is right, why, and a figure that is computed when it is opened."""

import streamlit as st

from lrlab.presets import misprints
from lrlab.presets.misprints import Misprint
from lrlab.ui.papers import gallery
from lrlab.ui.shared import page
from lrlab.ui.widgets import permalink, plot
from lrlab.ui.widgets.permalink import Permalink

NAME = "misprints"
"""Stands in the address in the place of a figure."""


def show(link: Permalink) -> None:
    """Show the misprints, paper by paper."""
    page.heading("Misprints", "What the five papers print, what is right, and a small computation that shows it.")
    st.button("All experiments", key="papers-all", type="tertiary", on_click=gallery.open_figure, args=(link, ""))
    number = 0
    for paper, own in misprints.by_paper().items():
        st.header(f"{paper.short}: {paper.title}", anchor=False)
        for misprint in own:
            _show_one(misprint, f"misprint-{number}")
            number += 1
    link.accept(["trials"])


def _show_one(misprint: Misprint, key: str) -> None:
    with st.container(border=True, width=900, key=key):
        st.markdown(f"**{misprint.place}**")
        for word, formula in (("Printed", misprint.printed), ("Right", misprint.right)):
            st.caption(word)
            st.latex(formula)
        st.markdown(misprint.why.replace("\n", " "))
        fold = st.expander("Show it", key=f"{key}-show", on_change=permalink.by_widget)
        if fold.open:
            with fold:
                shown = misprints.show(misprint)
                plot.show(shown.figure, key=f"papers.{key}", label=f"{misprint.place}. {shown.caption}")
                st.caption(shown.caption)
