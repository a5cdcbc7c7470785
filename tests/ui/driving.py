"""What tests do with a page that Streamlit's AppTest runs."""

import json
import re
import time
from html import unescape

from lrlab.ui.sweep.sweep_controls import of_sweep_page
from lrlab.ui.widgets.text import JOINER


def drawn(at):
    """Return the page, drawn without an exception."""
    assert not at.exception, at.exception[0].message
    return at


def finished(at, page, seconds=60):
    """Press Run and draw the page until what it follows is over.

    To draw a page takes as long as many a run: while one goes on it is drawn less and less often.
    """
    drawn(at.button(key=f"{page}-run").click().run())
    started, pause = time.monotonic(), 0.05
    while (running := at.session_state[f"{page}:run"]).alive:
        pause *= 2
        until_drawn = time.monotonic() + pause
        while running.alive and time.monotonic() < until_drawn:
            time.sleep(0.02)
            running.refresh()
        assert time.monotonic() < started + seconds
        drawn(at.run())
    return drawn(at.run())


def components(at):
    """Return the data of the page's own components: figures, sliders, the live channel."""
    return [json.loads(element.proto.json) for element in at.get("bidi_component")]


def words(at, part):
    """Return the words of a live part, as people read them."""
    [html] = [element.proto.body for element in at.get("html") if f'data-live="{part}"' in element.proto.body]
    return unescape(re.sub(r"<[^>]+>", "", html))


def place(at, label):
    """Return the text at which a slider stands."""
    [data] = [data for data in components(at) if "texts" in data and data["label"] == label]
    return json.loads(data["texts"])[data["at"]]


def errors(at):
    """Return the sentences in red, as people read them."""
    return [read(error.value) for error in at.error]


def read(markdown):
    """Return a text that is shown as it is, without what keeps it from being read as Markdown."""
    return re.sub(r"\\([^\w\s])", r"\1", markdown.replace(JOINER, ""))


def unfold(at, page, *folds):
    """Open places that are folded away, as their titles are clicked; the page is not yet drawn with them."""
    for fold in folds:
        at.session_state[f"{page}-{fold}"] = True
    return at


def current(page, address):
    """Return the page and the parameters to which an address, maybe of a former page, leads."""
    return ("transition", of_sweep_page(address)) if page == "sweep" else (page, address)
