"""Fair turns of jobs and items, and the threads of BLAS that each has."""

import time
from types import SimpleNamespace

import pytest

import lrlab
from lrlab.engine import solve, worker
from lrlab.engine.calls import SHORT_SECONDS, next_call
from lrlab.engine.engine import Engine
from lrlab.protocol import Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import blas, blas_threads
from lrlab.runs.trace import Trace
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


JOB = make_job(lrlab.spec("one-bit-sensing", n=200), "pairwise-moment")


def threads_now():
    """Return the numbers of threads of the BLAS libraries of this process."""
    return {library["num_threads"] for library in blas().select(user_api="blas").info()}


@pytest.fixture
def recorded(monkeypatch):
    """Yield the numbers of threads at which jobs run."""
    during = []

    def run_job(job, *rest, **more):
        during.append(threads_now())
        return Trace(job, stop=Stop.FINISHED)

    for module in (solve, worker):
        monkeypatch.setattr(module, "run_job", run_job)
    return during


def test_a_small_job_has_one_thread_and_leaves_the_others_as_they_were(recorded):
    with blas_threads(2):
        solve.run(JOB, worker=False)
        assert threads_now() == {2}
    assert recorded == [{1}]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_task_has_the_threads_that_it_was_sent_with(recorded, threads):
    worker.FollowJob([0], JOB, threads).run(lambda message: None)
    assert recorded == [{threads}] and threads_now() == {1}


@pytest.mark.parametrize(("load", "expected"), [(0.1, 2), (1000.0, 1)])
def test_a_large_job_is_sent_with_all_threads_unless_the_machine_is_busy(monkeypatch, load, expected):
    sent = []

    class Ended:
        runs = [type("Followed", (), {"error": "", "trace": None})]
        wait = staticmethod(lambda: None)

    class Local:
        local = True
        follow = staticmethod(lambda jobs, threads: sent.append(threads) or Ended)

    monkeypatch.setattr("lrlab.engine.engine.get_engine", Local)
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load), raising=False)
    with blas_threads(2):
        solve.run(JOB, worker=True)
    assert sent == [expected]
