"""Followed jobs and other people's items do not wait for long items."""

import time
from types import SimpleNamespace

import pytest

import lrlab
from lrlab.engine.calls import SHORT_SECONDS, next_call
from lrlab.engine.engine import Engine
from lrlab.runs.job import make_job
from tests.waiting import PATIENCE, until

LONG = {"tol": 0, "max_iter": 1_000_000}


def job(seed: int, **settings: object):
    return make_job(lrlab.spec("one-bit-sensing", n=400, p=8, seed=seed), "pairwise-moment", **settings)


def test_nobody_waits_for_the_long_items_of_others(engine: Engine):
    blocking = [engine.map(time.sleep, [600.0] * 40)]
    try:
        quick = engine.map(abs, [-1, -2])
        # Items of a work that has none under way have a worker.
        until(lambda: (quick.take(0.1), quick.done == 2)[1])
        blocking.append(engine.map(time.sleep, [600.0] * 40))
        followed = engine.follow([job(5)])
        assert followed.wait(PATIENCE), "followed jobs have a worker of their own"
    finally:
        for stream in blocking:
            stream.cancel()


def test_a_job_that_waits_says_how_many_come_first(engine: Engine):
    runs = [engine.follow([job(100 + k, **LONG)]) for k in range(12)]
    try:
        last = runs[-1]
        until(lambda: last.wait(0.05) or last.runs[0].ahead)
        assert last.runs[0].state == "waiting" and last.runs[0].ahead >= 1
    finally:
        for run in runs:
            run.cancel()
        assert all(run.wait(PATIENCE) for run in runs)


def of_works(*works: tuple[bool, int]) -> list[SimpleNamespace]:
    """Return works that wait: whether of followed jobs, and how many tasks run; the k-th was sent one at k seconds."""
    return [
        SimpleNamespace(urgent=urgent, waiting=True, running=running, sent_at=float(k))
        for k, (urgent, running) in enumerate(works)
    ]


@pytest.mark.parametrize(
    ("workers", "spare", "works", "chosen"),
    [
        (4, 2, [(True, 1), (True, 1), (True, 0)], 2),
        (4, 2, [(True, 1), (True, 1), (True, 1), (True, 0)], None),
        (4, 2, [(True, 1), (True, 1), (True, 1), (False, 0)], 3),
        # One person's solvers all run, and another one does not wait for them.
        (4, 2, [(True, 3)], 0),
        (4, 2, [(True, 3), (True, 0)], 1),
        (10, 2, [(True, 1)] * 8 + [(True, 0)], 8),
        (10, 2, [(True, 1)] * 9 + [(True, 0)], None),
        (4, 0, [(True, 1), (True, 1), (True, 1), (True, 0)], 3),
        # While workers start there is one.
        (1, 2, [(True, 0), (True, 0)], 0),
    ],
)
def test_of_people_who_follow_jobs_one_more_than_cores_begins_within_seconds(workers, spare, works, chosen):
    waiting = of_works(*works)
    now = SHORT_SECONDS - 0.1
    assert next_call(waiting, workers, spare, now) is (None if chosen is None else waiting[chosen])


def test_nobody_waits_for_long_jobs_where_a_worker_is_free():
    waiting = of_works((True, 1), (True, 1), (True, 1), (True, 0))
    assert next_call(waiting, 4, 2, SHORT_SECONDS + 0.1) is waiting[3], "the first has run for longer"
