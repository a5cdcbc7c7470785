"""What tests do with a page that Streamlit's AppTest runs."""

import json
import re
from html import unescape
from pathlib import Path

from streamlit.testing.v1 import AppTest

from lrlab.ui.sweep.sweep_controls import of_sweep_page
from lrlab.ui.widgets.text import JOINER
from tests.waiting import PATIENCE, until

PAGES = Path(__file__).parents[2] / "pages"


def opened(page, browser="", **address):
    """Return a page, drawn at an address without an exception; Home is part of the app, which knows the other pages."""
    page, address = current(page, address)
    file = PAGES.parent / "app.py" if page == "home" else PAGES / f"{page}.py"
    at = AppTest.from_file(str(file), default_timeout=PATIENCE)
    if browser:
        at.session_state["browser:key"] = browser
    for name, value in address.items():
        at.query_params[name] = value
    return drawn(at.run())


def accepted(page, **address):
    """Return a page, drawn at an address without an exception or an error."""
    at = opened(page, **address)
    assert not errors(at)
    return at


def drawn(at):
    """Return the page, drawn without an exception."""
    assert not at.exception, at.exception[0].message
    return at


def finished(at, page):
    """Press Run, draw the page once while its run is under way, and again when it is over."""
    drawn(at.button(key=f"{page}-run").click().run())
    running = at.session_state[f"{page}:run"]
    until(lambda: (running.refresh(), not running.alive)[1])
    return drawn(at.run())


def components(at):
    """Return the data of the page's own components: figures, sliders, the live channel."""
    return [json.loads(element.proto.json) for element in at.get("bidi_component")]


def figures(at):
    """Return the figures of a page, as Plotly gets them."""
    return [json.loads(data["figure"]) for data in components(at) if data.get("figure")]


def figure(at, name):
    """Return the figure with a name, as Plotly gets it."""
    return next(json.loads(data["figure"]) for data in components(at) if data.get("name") == name)


def words(at, part):
    """Return the words of a live part, as people read them."""
    [html] = [element.proto.body for element in at.get("html") if f'data-live="{part}"' in element.proto.body]
    return unescape(re.sub(r"<[^>]+>", "", html))


def place(at, label):
    """Return the text of a slider's position."""
    [data] = [data for data in components(at) if "texts" in data and data["label"] == label]
    return json.loads(data["texts"])[data["at"]]


def errors(at):
    """Return the sentences in red, as people read them."""
    return [read(error.value) for error in at.error]


def read(markdown):
    """Return a text without the escapes that keep it from being Markdown."""
    return re.sub(r"\\([^\w\s])", r"\1", markdown.replace(JOINER, ""))


def unfold(at, page, *folds):
    """Open folded parts of a page, for its next drawing."""
    for fold in folds:
        at.session_state[f"{page}-{fold}"] = True
    return at


def current(page, address):
    """Return page and parameters of an address, which may name a former page."""
    return ("transition", of_sweep_page(address)) if page == "sweep" else (page, address)
