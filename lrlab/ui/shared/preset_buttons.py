"""Buttons with the parameters of presets: one click fills in a page's widgets and runs it."""

from collections.abc import Mapping, Sequence

import streamlit as st

from lrlab import presets
from lrlab.ui.widgets import permalink

Address = Mapping[str, str]


def spectrum_panels(name: str) -> list[tuple[str, Address]]:
    """Return title and address of each panel of a preset of kind `spectrum`."""
    content, panels = presets.load(name).content, list[tuple[str, Address]]()
    for panel in content["panels"]:
        [(axis, values)] = panel["axes"].items()
        span = {"from": min(values), "to": max(values), "points": len(values), "trials": content["trials"]}
        spec = {"seed": content.get("seed", 0), **content.get("spec", {}), **panel.get("spec", {})}
        named = {"model": panel["model"], "axis": axis, **span, **spec}
        panels.append((panel["title"].partition(":")[0], {key: str(value) for key, value in named.items()}))
    return panels


def show(page: str, choices: Sequence[tuple[str, Address]], words: str) -> None:
    """Show one button per choice; it fills in the widgets of the page and runs it."""
    with st.container(horizontal=True, key=f"{page}-presets", vertical_alignment="center"):
        st.caption(words, width="content")
        for k, (title, address) in enumerate(choices):
            st.button(title, key=f"{page}-preset-{k}", on_click=_take, args=(page, address))


def _take(page: str, address: Address) -> None:
    permalink.take(page, address)
    st.session_state[f"{page}:autorun"] = True
