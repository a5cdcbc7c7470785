"""A script that draws a part of a page keeps the elements of the script before."""

import asyncio
import threading

import pytest
import streamlit as st

from lrlab.ui.live import fragments


@pytest.fixture
def loop(live):
    """Return the running event loop of a server."""
    live.loop = asyncio.new_event_loop()
    server = threading.Thread(target=live.loop.run_forever)
    server.start()
    yield live.loop
    live.loop.call_soon_threadsafe(live.loop.stop)
    server.join()
    live.loop.close()


def test_a_page_is_drawn_when_the_server_has_taken_all_of_it(loop, monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    busy, taken = threading.Event(), []
    loop.call_soon_threadsafe(busy.wait)
    # As Streamlit hands over the elements of a script.
    loop.call_soon_threadsafe(taken.append, "the figure")
    threading.Timer(0.1, busy.set).start()
    drawing = threading.Thread(target=fragments.note_drawn, args=("page",))
    drawing.start()
    drawing.join()
    assert taken == ["the figure"]
    assert st.session_state["drawn"][0] == "page"
