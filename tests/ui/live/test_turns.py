"""Scripts of pages run one at a time, in the order in which they came; one that takes long holds nobody up for good."""

import threading

from lrlab.ui.live import turns
from tests.waiting import until

PATIENCE = 30.0


def started(work, *given):
    """Start a thread that waits for its turn, and return it once it does."""
    before = len(turns._queue)
    thread = threading.Thread(target=work, args=given)
    thread.start()
    until(lambda: len(turns._queue) > before)
    return thread


def test_scripts_run_in_the_order_in_which_they_came(monkeypatch):
    monkeypatch.setattr(turns, "TURN_SECONDS", PATIENCE)
    order, together = [], []

    def script(name):
        with turns.turn():
            together.append(name)
            order.append(name)
            assert together == [name]
            together.remove(name)

    with turns.turn():
        threads = [started(script, name) for name in "abcd"]
        assert not order
        with turns.pause():
            for thread in threads:
                thread.join(PATIENCE)
        assert order == list("abcd")
    assert not turns._queue


def test_a_long_script_does_not_hold_up_the_next(monkeypatch):
    monkeypatch.setattr(turns, "TURN_SECONDS", 0.01)
    done = []

    def script():
        with turns.turn(), turns.pause():
            done.append(1)

    with turns.turn():
        thread = threading.Thread(target=script)
        thread.start()
        thread.join(PATIENCE)
        assert done == [1]


def test_a_page_that_is_run_by_itself_has_no_turn():
    with turns.pause():
        assert not turns._queue
