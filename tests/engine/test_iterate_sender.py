"""Iterates of a followed run are sent twenty times a second, by the solver's own thread if it yields as often."""

import threading
from types import SimpleNamespace

import numpy as np

import lrlab
from lrlab.engine import live
from lrlab.engine.live import SEND_SECONDS, IterateSender
from lrlab.protocol import Iterate
from lrlab.runs.job import make_job
from tests.waiting import until

JOB = make_job(lrlab.spec("one-bit-sensing", n=400, p=8), "pairwise-moment")
OWN, OTHER = "of the solver", "beside the solver"


def record(sender: IterateSender, iteration: int) -> None:
    """Let a solver yield an iterate."""
    row, iterate = {"iteration": iteration, "seconds": 0.0, "error": 1.0}, Iterate(np.ones(8))
    sender.trace.record(row, iterate, None)
    sender.watch(row, iterate)


def sender_to(messages: list) -> IterateSender:
    solver = threading.get_ident()
    return IterateSender(
        JOB, lambda message: messages.append((OWN if threading.get_ident() == solver else OTHER, message))
    )


def test_short_iterations_are_sent_by_the_thread_of_the_solver(monkeypatch):
    messages: list = []
    now = [0.0]
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: now[0]))
    # Its own thread does not run, which would send what comes late.
    sender = sender_to(messages)
    for iteration in range(1, 1001):
        now[0] += SEND_SECONDS / 50
        record(sender, iteration)
    sizes = [len(message.rows) for _, message in messages]
    assert sizes[0] == 1, "the first iterate at once"
    assert len(sizes) > 19 and set(sizes[1:]) <= {49, 50, 51}
    assert sum(sizes) + len(sender.last_iterates().rows) == 1000 and {whose for whose, _ in messages} == {OWN}


def test_progress_within_a_long_iteration_is_sent_meanwhile():
    messages: list = []
    with sender_to(messages) as sender:
        for step in range(1, 6):
            sender.progress(step / 5)
            until(lambda: len(messages) == step)  # noqa: B023
        # However short ago the last message was.
        record(sender, 1)
        assert (messages[5][0], len(messages[5][1].rows)) == (OWN, 1), "the first iterate at once"
    assert [(whose, message.progress) for whose, message in messages[:5]] == [(OTHER, k / 5) for k in range(1, 6)]
