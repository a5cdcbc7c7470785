"""Components of a page: figures, whose node and zoom persist over every update (`plot.js`), and live words.

plotly.min.js is served from the plotly package, so that a page loads nothing from other servers. What figures share,
scripts and a template, is not sent with each of them: a run that is followed sends its figures twice a second.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import streamlit as st

from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, encoded
from lrlab.ui.live.routes import base, library

Click = dict[str, Any]
Event = Callable[[], None]
ASSETS = Path(__file__).parents[1] / "assets"


@cache
def _component(name: str) -> Any:
    """Return the component that `assets` has of this name; its script is in `assets/files`."""
    # A browser keeps scripts by their address: another content has another one.
    version = f"{crc32(b''.join(file.read_bytes() for file in sorted((ASSETS / 'files').iterdir()))):x}"
    address = f"{base()}/scripts/{name}.js?{version}"
    # The loader is sent with every figure; the browser keeps the script that it imports.
    html, loader = ((ASSETS / file).read_text("utf-8") for file in (f"{name}.html", "loader.js"))
    html, js = ("\n".join(map(str.strip, text.splitlines())) for text in (html, loader.replace("ADDRESS", address)))
    return st.components.v2.component(f"lrlab_{name}", html=html, js=js, isolate_styles=False)


def send(
    name: str, key: str, data: Mapping[str, Any], height: Literal["content", 1] = "content", **events: Event
) -> None:
    """Send data to the component of this name in `assets`; `key` names it on the page, `events` are its callbacks.

    With the data goes the time of their last change. A browser imports the loader for every update; if it is busy the
    imports may end in any order, and it would draw older data last.
    """
    content = hash(tuple(data.items()))
    # In one place: Streamlit copies all places of a session for each number and each choice of a page.
    times = st.session_state.setdefault("sent", {})
    before, sent = times.get(key, (None, 0.0))
    if content != before:
        # A time, for a server that was started again goes on with the page that the browser shows.
        sent = max(time.time(), sent + 1e-3)
        times[key] = content, sent
    _component(name)(key=key, data={**data, "sent": sent}, height=height, **events)


def strong(text: str) -> str:
    """Return a text as HTML that stands out."""
    return f"<strong>{escape(text)}</strong>"


def words(html: str, *, key: str, small: bool = False) -> None:
    """Show words that follow their live part; users' texts in them are escaped. small: as a caption."""
    look = "lrlab-words lrlab-small" if small else "lrlab-words"
    # At another time, the browser rewrites the words, whatever has come live.
    st.html(f'<div class="{look}" data-live="{key}" data-sent="{time.time():.4f}">{html}</div>')


def preload() -> None:
    """Let the browser load the library while the script of the page still runs, and send the template of figures."""
    # Always the same, so that it needs no key, which Streamlit would look up for each number and each choice of a page.
    _component("plot")(data={"address": library(), "template": encoded(theme.TEMPLATE)}, height=1)


def encode_frames(frames: Sequence[Node]) -> str:
    """Return frames as text for `show`; worth caching, since it may be long."""
    return encoded({"frames": frames}) if frames else ""


def show(
    figure: Figure,
    *,
    key: str,
    label: str,
    narrow: Node | None = None,
    frames: str | None = None,
    link: str = "",
    on_click: Callable[[Click], None] | None = None,
) -> None:
    """Draw a figure; `key` names it on the page, `label` describes it for screen readers.

    narrow: the layout for a width below 560 px. frames: from `encode_frames`; a play button and a slider show them, and
    have a place of their own while there are none (""). link: figures of the same link mark the iteration of the frame
    that one of them shows. on_click gets x, y, customdata of a clicked point.
    """

    def clicked() -> None:
        value = st.session_state[key].get("click")
        if value and on_click:
            on_click(value)

    data: dict[str, str | bool] = {
        "figure": figure.to_json(template=False),
        "narrow": encoded({**narrow, "template": None}) if narrow else "",
        "frames": frames or "",
        "slides": frames is not None,
        "link": link,
        "label": label,
        "part": key,
        "name": key.replace(".", "-"),
    }
    send("plot", key, data, on_click_change=clicked)
