"""Scripts of pages run one at a time in the order of arrival; a long one does not block the others for good."""

import threading

from lrlab.ui.live import script_queue
from tests.waiting import PATIENCE, until


def started(work, *given):
    """Start a thread that waits for its turn, and return it once it does."""
    before = len(script_queue._queue)
    thread = threading.Thread(target=work, args=given)
    thread.start()
    until(lambda: len(script_queue._queue) > before)
    return thread


def test_scripts_run_in_the_order_in_which_they_came(monkeypatch):
    monkeypatch.setattr(script_queue, "TURN_SECONDS", PATIENCE)
    order, together = [], []

    def script(name):
        with script_queue.turn():
            together.append(name)
            order.append(name)
            assert together == [name]
            together.remove(name)

    with script_queue.turn():
        threads = [started(script, name) for name in "abcd"]
        assert not order
        with script_queue.pause():
            for thread in threads:
                thread.join(PATIENCE)
        assert order == list("abcd")
    assert not script_queue._queue


def test_a_long_script_does_not_hold_up_the_next(monkeypatch):
    monkeypatch.setattr(script_queue, "TURN_SECONDS", 0.01)
    done = []

    def script():
        with script_queue.turn(), script_queue.pause():
            done.append(1)

    with script_queue.turn():
        thread = threading.Thread(target=script)
        thread.start()
        thread.join(PATIENCE)
        assert done == [1]


def test_a_click_goes_before_the_end_of_a_run(monkeypatch):
    monkeypatch.setattr(script_queue, "TURN_SECONDS", PATIENCE)
    order = []

    def script(name):
        if name == "end":
            script_queue.give_way()
        with script_queue.turn():
            order.append(name)

    with script_queue.turn():
        threads = [started(script, name) for name in ("end", "click", "end", "another click")]
    for thread in threads:
        thread.join(PATIENCE)
    assert order == ["click", "another click", "end", "end"]


def test_a_script_that_is_ended_while_it_waits_leaves_the_queue(monkeypatch):
    monkeypatch.setattr(script_queue, "TURN_SECONDS", PATIENCE)
    ended = []

    class Session(dict):
        def __contains__(self, name):
            raise KeyboardInterrupt

    def script():
        try:
            with script_queue.turn():
                raise AssertionError("it had no turn")
        except KeyboardInterrupt:
            ended.append(1)

    with script_queue.turn():
        monkeypatch.setattr(script_queue.st, "session_state", Session())
        thread = threading.Thread(target=script)
        thread.start()
        thread.join(PATIENCE)
        assert ended and len(script_queue._queue) == 1
    assert not script_queue._queue
