"""Threads of BLAS: one for small jobs and for work of many, all for one large job."""

import pytest

import lrlab
from lrlab.engine import solve, worker
from lrlab.protocol import Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import blas, blas_threads
from lrlab.runs.trace import Trace

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
