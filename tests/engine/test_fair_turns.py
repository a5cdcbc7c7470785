"""Followed jobs and other people's items do not wait for long items."""

import time
from types import SimpleNamespace

import pytest

import lrlab
from lrlab.engine.engine import Engine
from lrlab.engine.turns import next_work
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


def of_works(*works: tuple[bool, int]) -> list[SimpleNamespace]:
    return [
        SimpleNamespace(urgent=urgent, waiting=True, running=running, last_sent_at=float(k))
        for k, (urgent, running) in enumerate(works)
    ]


@pytest.mark.parametrize(
    ("workers", "spare", "works", "chosen"),
    [
        (4, 2, [(True, 1), (True, 1)], 0),
        (4, 2, [(True, 2), (True, 1)], None),
        (4, 2, [(True, 2), (True, 1), (False, 0)], 2),
        (4, 2, [(True, 3)], 0),
        (10, 2, [(True, 4), (True, 4)], 0),
        (10, 2, [(True, 5), (True, 4)], None),
        (4, 0, [(True, 2), (True, 1)], 1),
        (1, 2, [(True, 0), (True, 0)], 0),
    ],
)
def test_followed_jobs_of_several_people_have_one_worker_beyond_the_cores(workers, spare, works, chosen):
    waiting = of_works(*works)
    assert next_work(waiting, workers, spare) is (None if chosen is None else waiting[chosen])
