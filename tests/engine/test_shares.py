"""Identical jobs share a run; followed jobs and other people's items do not wait for long items."""

import time

import numpy as np

import lrlab
from lrlab.engine.engine import Engine
from lrlab.runs.job import make_job

LONG = {"tol": 0, "max_iter": 1_000_000}


def job(seed: int, **settings: object):
    return make_job(lrlab.spec("one-bit-sensing", n=400, p=8, seed=seed), "pairwise-moment", **settings)


def wait_for_rows(*followed):
    deadline = time.monotonic() + 60
    while not all(one.runs[0].trace.rows for one in followed):
        assert time.monotonic() < deadline
        time.sleep(0.01)
        for one in followed:
            one.refresh()


def test_identical_jobs_follow_one_run(engine: Engine):
    first = engine.follow([job(1, **LONG)])
    wait_for_rows(first)
    second = engine.follow([job(1, **LONG)])
    second.refresh()
    assert len(second.runs[0].trace.rows) >= len(first.runs[0].trace.rows) > 0, "what there is comes at once"
    first.cancel()
    assert first.wait(10)
    assert first.runs[0].trace.stop.name == "CANCELLED"
    before = len(second.runs[0].trace.rows)
    deadline = time.monotonic() + 30
    while len(second.runs[0].trace.rows) <= before and time.monotonic() < deadline:
        second.wait(0.1)
    assert second.alive and len(second.runs[0].trace.rows) > before, "the other one goes on"
    second.cancel()
    assert second.wait(10)


def test_a_run_that_has_ended_is_given_out_again(engine: Engine):
    first = engine.follow([job(2)])
    assert first.wait(60)
    second = engine.follow([job(2), job(3)])
    second.refresh()
    [same, other] = second.runs
    assert same.state == "done" and same.trace.rows == first.runs[0].trace.rows
    np.testing.assert_array_equal(same.trace.estimate, first.runs[0].trace.estimate)
    assert same.trace.note == first.runs[0].trace.note and len(same.trace.history) == len(first.runs[0].trace.history)
    assert not other.over and second.wait(60)


def test_a_cancelled_run_is_not_given_out_again(engine: Engine):
    first = engine.follow([job(4, **LONG)])
    wait_for_rows(first)
    first.cancel()
    assert first.wait(10)
    second = engine.follow([job(4, **LONG)])
    wait_for_rows(second)
    assert second.alive
    second.cancel()
    assert second.wait(10)


def test_nobody_waits_for_the_long_items_of_others(engine: Engine):
    blocking = [engine.map(time.sleep, [600.0] * 40)]
    try:
        quick = engine.map(abs, [-1, -2])
        deadline = time.monotonic() + 60
        while quick.alive and time.monotonic() < deadline:
            quick.take(0.1)
        assert quick.done == 2, "items of a work that has none under way have a worker"
        blocking.append(engine.map(time.sleep, [600.0] * 40))
        followed = engine.follow([job(5)])
        assert followed.wait(60), "followed jobs have a worker of their own"
    finally:
        for stream in blocking:
            stream.cancel()


def test_a_job_that_waits_says_how_many_come_first(engine: Engine):
    runs = [engine.follow([job(100 + k, **LONG)]) for k in range(12)]
    try:
        last = runs[-1]
        deadline = time.monotonic() + 30
        while not last.runs[0].ahead and time.monotonic() < deadline:
            last.wait(0.05)
        assert last.runs[0].state == "waiting" and last.runs[0].ahead >= 1
    finally:
        for run in runs:
            run.cancel()
        assert all(run.wait(20) for run in runs)
