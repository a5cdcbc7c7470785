"""The server computes answers to sliders one after another, but waits for several workers at a time."""

import threading

from lrlab.ui.live import slider_previews
from lrlab.ui.live.slider_previews import SliderPreview
from tests.waiting import PATIENCE


def answered(*shows):
    """Let as many sliders as there are functions move at once; return when all have their answers."""
    sent = [threading.Event() for _ in shows]
    for show, event in zip(shows, sent, strict=True):
        drag = SliderPreview()
        drag.show = show
        drag.move(0, lambda text, event=event: event.set())
    return all(event.wait(PATIENCE) for event in sent)


def test_one_computes_at_a_time(monkeypatch):
    # However slow the machine is.
    monkeypatch.setattr(slider_previews, "PATIENCE_SECONDS", PATIENCE)
    busy, most = 0, 0
    lock = threading.Lock()

    def show(position):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        threading.Event().wait(0.02)
        with lock:
            busy -= 1
        return {"words": "done"}

    assert answered(*[show] * 5) and most == 1


def test_one_that_takes_long_is_not_waited_for():
    over = threading.Event()

    def long(position):
        assert over.wait(PATIENCE)
        return {"words": "late"}

    def short(position):
        over.set()
        return {"words": "done"}

    assert answered(long, short)
