"""Links to the theorems on a model, for pages that run it; light, for these pages open without tables."""

import streamlit as st

from lrlab import presets
from lrlab.ui.shared import live


def show(model: str) -> None:
    """Show a link to each theorem on a model."""
    for name, title in presets.theorems(model):
        to = ("papers", {"paper": name})
        st.button(f"Theorem: {title}", key=f"theorem-{name}", type="tertiary", on_click=live.go, args=to)
