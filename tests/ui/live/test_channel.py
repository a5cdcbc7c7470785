"""Tabs that leave and come back, their runs and limits; the order of scripts, and sliders that move at once."""

import threading
import time

import pytest

from lrlab.parameters import InputError
from lrlab.ui.live import channel, script_queue, tabs
from lrlab.ui.live.tabs import SliderPreview
from tests.waiting import PATIENCE, until


class Connection:
    """A connection that collects messages in `sent`."""

    def __init__(self):
        self.sent = []

    def __call__(self, message):
        """Take a message."""
        self.sent.append(message.text)


@pytest.fixture
def clock(live, monkeypatch):
    """Return what lets so many seconds pass for the tabs, whose channel then looks at them.

    Limits are a thousand times longer than usual, so that the seconds of a test itself do not count.
    """
    monkeypatch.setattr(channel, "LEAVE_SECONDS", 1000 * channel.LEAVE_SECONDS)
    monkeypatch.setattr(channel, "KEEP_SECONDS", 1000 * channel.KEEP_SECONDS)

    def advance(seconds):
        for tab in live._tabs.values():
            tab.left_at -= seconds
        live._looked_at -= seconds
        live._tick(time.monotonic())

    return advance


def test_a_run_goes_on_while_its_tab_is_away_for_a_moment_and_ends_after_a_while(live, followed, clock):
    tab, run = followed()
    for here in (Connection(), Connection()):
        assert live.connect(tab.token, "", here) is tab
        clock(channel.KEEP_SECONDS)
        assert run.alive, "its tab is open"
        live.disconnect(tab, here)
        clock(0.9 * channel.LEAVE_SECONDS)
        assert run.alive
    clock(0.2 * channel.LEAVE_SECONDS)
    assert not run.alive and run.cancelled == 1


def test_a_run_that_is_over_waits_for_its_browser_until_its_tab_is_forgotten(live, followed, clock):
    tab, run = followed("mine", "mine")
    live.connect(tab.token, "mine", here := Connection())
    live.disconnect(tab, here)
    clock(channel.LEAVE_SECONDS + 1.0)
    stranger, again = live.open_tab("s", "theirs", "theirs", "converge"), live.open_tab("m", "mine", "mine", "converge")
    assert live.adopt(stranger, "converge") is None and live.adopt(again, "spectrum") is None
    live.connect(again.token, "mine", Connection())
    taken = live.adopt(again, "converge")
    assert taken.running is run and taken.tab == "m" and live.adopt(again, "converge") is None
    other, _ = followed("mine", "mine")
    clock(channel.KEEP_SECONDS + tabs.ARRIVE_SECONDS + 1.0)
    assert live.adopt(again, "converge") is None, "the last run of a closed tab is forgotten"
    assert live.connect(other.token, "mine", Connection()) is None


def test_a_browser_and_a_server_have_so_many_runs(live, followed, monkeypatch):
    monkeypatch.setenv("LRLAB_BROWSER_RUNS", "2")
    monkeypatch.setenv("LRLAB_SERVER_RUNS", "3")
    runs = [followed("mine")[1] for _ in range(2)]
    with pytest.raises(InputError, match="in this browser"):
        live.admit("mine", None)
    live.admit("mine", runs[0])
    live.admit("theirs", None)
    followed("theirs")
    with pytest.raises(InputError, match="on this server"):
        live.admit("another", None)
    runs[0].alive = False
    live.admit("another", None)


def test_two_tabs_see_their_own_runs_alone(live, followed):
    (first, run), (second, _) = followed("mine"), followed("mine")
    here, there = Connection(), Connection()
    live.connect(first.token, "", here)
    live.connect(second.token, "", there)
    until(lambda: live.streams(first)[0].all() and live.streams(second)[0].all())
    run.version += 1
    until(lambda: any("version 1" in text for text in here.sent))
    assert not any("version 1" in text for text in there.sent)
    assert live.adopt(second, "converge") is None, "its tab is open"


def test_a_view_that_fails_holds_up_no_other_run_and_the_end_is_still_said_once(live, followed, caplog):
    (tab, run), (second, other) = followed(), followed()
    live.connect(tab.token, "", here := Connection())
    live.connect(second.token, "", there := Connection())

    def fail():
        raise ValueError("no figure")

    def ends():
        return sum('"page": null' not in text for text in here.sent)

    live.subscribe(tab, "converge", run, fail)
    until(lambda: caplog.records)
    other.version += 1
    until(lambda: any("version 1" in text for text in there.sent))
    run.alive = False
    until(ends)
    for _ in range(3):
        live._tick(time.monotonic() + 1.0)
    assert ends() == 1


def test_a_page_that_has_been_left_is_not_followed(live, followed):
    tab, run = followed()
    live.connect(tab.token, "", here := Connection())
    until(lambda: live.streams(tab)[0].all())
    live.open_tab(tab.token, "browser", "", "spectrum")
    assert live.streams(tab) == []
    before = len(here.sent)
    run.version += 1
    live._tick(time.monotonic() + 1.0)
    assert len(here.sent) == before and run.alive


def test_a_stream_is_named_by_what_nobody_guesses(followed, live):
    tokens = {followed()[0].token for _ in range(20)} | {run.stream.token for run in live._runs.values()}
    assert len(tokens) == 40 and all(len(token) >= 22 for token in tokens)


def test_scripts_run_one_at_a_time_clicks_in_their_order_and_ends_of_runs_last(monkeypatch):
    monkeypatch.setattr(script_queue, "TURN_SECONDS", PATIENCE)
    order, together, threads = [], [], []

    def script(name):
        if name == "end":
            script_queue.give_way()
        with script_queue.turn():
            together.append(name)
            order.append(name)
            assert together == [name]
            together.remove(name)

    with script_queue.turn():
        for count, name in enumerate(["end", "click", "end", "another click", "a third"], 2):
            threads.append(threading.Thread(target=script, args=(name,)))
            threads[-1].start()
            until(lambda count=count: len(script_queue._queue) == count)
        assert not order
        with script_queue.pause():
            for thread in threads:
                thread.join(PATIENCE)
        assert order == ["click", "another click", "a third", "end", "end"]
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
    monkeypatch.setattr(script_queue, "TURN_SECONDS", PATIENCE)
    alone, computes = [], threading.Lock()

    def show(position):
        alone.append(first := computes.acquire(blocking=False))
        threading.Event().wait(0.02)
        if first:
            computes.release()
        return {"words": "done"}

    assert answered(*[show] * 5) and all(alone)


def test_one_that_takes_long_is_not_waited_for():
    over = threading.Event()

    def long(position):
        assert over.wait(PATIENCE)
        return {"words": "late"}

    def short(position):
        over.set()
        return {"words": "done"}

    assert answered(long, short)
