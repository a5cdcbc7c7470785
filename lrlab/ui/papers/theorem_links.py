"""Links to the theorems on models, for pages that show these; light, for these pages open without tables."""

import streamlit as st

from lrlab import presets
from lrlab.ui.shared import live


def show(*models: str) -> None:
    """Show a link to each theorem on any of the models."""
    for name, title in {name: title for model in models for name, title in presets.theorems(model)}.items():
        to = ("papers", {"paper": name})
        st.button(f"Theorem: {title}", key=f"theorem-{name}", type="tertiary", on_click=live.go, args=to)
