"""Draws a figure on a page by `assets/plot.js`: the node and its zoom persist over every update.

plotly.min.js is served from the plotly package, so that a page loads nothing from other servers.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import plotly
import streamlit as st
from streamlit.components.v1 import declare_component

from lrlab import __version__
from lrlab.figures.build import Figure, Node, encoded

Click = dict[str, Any]


ASSETS = Path(__file__).parents[1] / "assets"


@cache
def _sources() -> dict[str, str]:
    """Return where a browser finds Plotly, and our modules ("*" stands for the name) that it needs on demand."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")

    def address(name: str, folder: Path, file: str, version: str) -> str:
        return f"{'/' + base if base else ''}/component/{declare_component(name, path=folder).name}/{file}?{version}"

    library = Path(plotly.__file__).parent / "package_data"
    return {
        "library": address("plotly", library, "plotly.min.js", plotly.__version__),
        "modules": address("figure_files", ASSETS / "files", "*.js", __version__),
    }


@cache
def component(name: str) -> Any:
    """Return the component that `assets` has of this name."""
    html, css, js = ((ASSETS / file).read_text("utf-8") for file in (f"{name}.html", "plot.css", f"{name}.js"))
    return st.components.v2.component(f"lrlab_{name}", html=html, css=css, js=js, isolate_styles=False)


def preload() -> None:
    """Let the browser load the library while the script of the page still runs."""
    component("plot")(key="plotly", data=_sources(), height=1)


def encode_frames(frames: Sequence[Node]) -> str:
    """Return frames as text for `show`; worth caching, since it may be long."""
    return encoded({"frames": frames}) if frames else ""


def show(
    figure: Figure,
    *,
    key: str,
    label: str,
    narrow: Figure | None = None,
    frames: str = "",
    slides: bool = False,
    link: str = "",
    on_click: Callable[[Click], None] | None = None,
) -> None:
    """Draw a figure; `key` names it on the page, `label` describes it for screen readers.

    narrow: drawn instead where there is less than 560 px. frames: from `encode_frames`; a play button and a slider
    then show them; `slides` keeps a place for these before there are frames. link: figures of the same link mark the
    iteration of the frame that one of them shows. on_click gets x, y, customdata of a clicked point.
    """

    def clicked() -> None:
        # Read here: when a polled fragment runs, the value is lost before the script of the page is reached.
        value = st.session_state[key].get("click")
        if value and on_click:
            on_click(value)

    data = {
        "figure": figure.to_json(),
        "narrow": narrow.to_json() if narrow else "",
        "frames": frames,
        "slides": slides,
        "link": link,
        "label": label,
        "leads": on_click is not None,
        "name": key.replace(".", "-"),
        **_sources(),
    }
    component("plot")(key=key, data=data, on_click_change=clicked)
