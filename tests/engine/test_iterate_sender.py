"""Iterates of a followed run are sent twenty times a second, by the solver's own thread where it yields as often."""

import threading
import time

import numpy as np

import lrlab
from lrlab.engine.live import SEND_SECONDS, IterateSender
from lrlab.protocol import Iterate
from lrlab.runs.job import make_job

JOB = make_job(lrlab.spec("one-bit-sensing", n=400, p=8), "pairwise-moment")
OWN, OTHER = "of the solver", "beside the solver"


def recorded(sender: IterateSender, seconds: float, pause: float) -> int:
    """Let a solver yield an iterate after each pause, for so long, and return how many."""
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(pause)
        count += 1
        row, iterate = {"iteration": count, "seconds": 0.0, "error": 1.0}, Iterate(np.ones(8))
        sender.trace.record(row, iterate, None)
        sender.watch(row, iterate)
    return count


def sender_to(messages: list) -> IterateSender:
    solver = threading.get_ident()
    return IterateSender(
        JOB, lambda message: messages.append((OWN if threading.get_ident() == solver else OTHER, message))
    )


def test_short_iterations_are_sent_by_the_thread_of_the_solver():
    messages: list = []
    began = time.monotonic()
    with sender_to(messages) as sender:
        count = recorded(sender, 20 * SEND_SECONDS, 0.001)
    most = (time.monotonic() - began) / SEND_SECONDS + 2
    assert sum(len(message.rows) for _, message in messages) == count
    assert len(messages[0][1].rows) == 1, "the first iterate at once"
    assert len(messages) <= most
    assert sum(whose == OWN for whose, _ in messages) > len(messages) / 2


def test_progress_within_a_long_iteration_is_sent_meanwhile():
    messages: list = []
    with sender_to(messages) as sender:
        for step in range(1, 6):
            sender.progress(step / 5)
            deadline = time.monotonic() + 10
            while len(messages) < step and time.monotonic() < deadline:
                time.sleep(0.005)
        # However short ago the last message was.
        recorded(sender, 0.001, 0.0)
        assert (messages[5][0], len(messages[5][1].rows)) == (OWN, 1), "the first iterate at once"
    assert [(whose, message.progress) for whose, message in messages[:5]] == [(OTHER, k / 5) for k in range(1, 6)]
