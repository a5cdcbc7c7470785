"""Followed jobs and other people's items do not wait for long items."""

import time

import lrlab
from lrlab.engine.engine import Engine
from lrlab.runs.job import make_job

LONG = {"tol": 0, "max_iter": 1_000_000}


def job(seed: int, **settings: object):
    return make_job(lrlab.spec("one-bit-sensing", n=400, p=8, seed=seed), "pairwise-moment", **settings)


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
