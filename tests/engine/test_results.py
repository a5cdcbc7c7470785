"""Streams of results and of iterates: numbered, cancelled, shared, in fair turns, with the threads of BLAS of each."""

import math
import time
from concurrent.futures import wait
from functools import partial
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.engine import live, worker
from lrlab.engine import solve as solving
from lrlab.engine.calls import SHORT_SECONDS, next_call
from lrlab.engine.engine import Engine, on_workers
from lrlab.engine.live import SEND_SECONDS, BatchDone, Failed, Inbox, IterateSender
from lrlab.engine.results import Failure, LocalResults, Together, WorkerResults, collect
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import blas, blas_threads, quick_run
from lrlab.runs.trace import Trace
from tests.engine.test_engine import endless, short
from tests.waiting import PATIENCE, until


@pytest.mark.slow
def test_an_engine_that_has_ended_raises_its_sentence_after_the_last_results():
    def ended():
        inbox = Inbox()
        inbox.put(BatchDone([(1, 6)], 0.0))
        inbox.put(Failed("The engine has ended."))
        return WorkerResults([5, 6], inbox, lambda: None)

    stream = ended()
    assert stream.take() == [(1, 6, 6)] and stream.alive
    with pytest.raises(RuntimeError, match="The engine has ended"):
        stream.take(0.0)
    assert not stream.alive and stream.take() == []
    with pytest.raises(RuntimeError, match="The engine has ended"):
        collect(ended())
    results = ended()
    results.refresh()
    results.refresh()
    assert (results.values, results.error, results.alive) == ({1: 6}, "The engine has ended.", False)


@pytest.mark.parametrize("items", [[[1], [1], [4]], iter([[1], [1], [4]])])
def test_results_here_have_the_number_of_items_that_repeat_and_have_no_hash(items):
    stream = LocalResults(lambda item: item[0] / (item[0] - 4), items, batch_seconds=0.0)
    results = []
    while stream.alive:
        results += stream.take()
    assert [(number, item) for number, item, _ in results] == [(0, [1]), (1, [1]), (2, [4])]
    assert results[0].value == -1 / 3 and "ZeroDivisionError" in results[2].value.sentence
    assert (stream.total, stream.done, stream.seconds_left) == (3, 3, 0.0)


@pytest.mark.parametrize("where", ["engine", "here"])
def test_a_cancelled_stream_returns_what_was_not_taken_and_nothing_more(where, engine):
    start = engine.map if where == "engine" else partial(LocalResults, batch_seconds=0.0)
    stream = start(math.sqrt, (k for k in range(10**6)))
    while not (taken := stream.take()):
        pass
    rest = stream.cancel()
    assert stream.values == {number: value for number, _, value in rest}
    numbers = [number for number, *_ in taken + rest]
    assert len(set(numbers)) == len(numbers) == stream.done
    assert not stream.alive and stream.take() == [] == stream.cancel() and stream.seconds_left == 0.0
    with pytest.raises(RuntimeError, match="Cancelled"):
        collect(stream)


SPEC = catalog.spec("one-bit-sensing", n=400, p=10)


def root(x):
    if x < 0:
        raise InputError("x", "at least 0", x, "take another one")
    return x**0.5


@pytest.mark.slow
def test_each_request_has_its_value_or_its_failure():
    together = Together(on_workers)
    requests = [together.submit(root, x) for x in range(-3, 17)]
    wait(requests, PATIENCE)
    values = [request.result(0) for request in requests]
    assert all(isinstance(value, Failure) and "x must be at least 0" in value.sentence for value in values[:3])
    assert values[3:] == [x**0.5 for x in range(17)]

    def refuse(function, items):
        raise InputError("LRLAB_SCHEDULER", "the address of a scheduler that answers", "x", "start one")

    assert "LRLAB_SCHEDULER" in Together(refuse).submit(root, 4).result(PATIENCE).sentence


def test_equal_requests_under_way_are_computed_once():
    sent, asked = [], Event()

    def counted(function, items):
        asked.wait(PATIENCE)
        sent.extend(items[0])
        return LocalResults(function, items)

    together = Together(counted)
    requests = [together.submit(quick_run, make_job(SPEC, "pairwise-moment")) for _ in range(10)]
    asked.set()
    wait(requests, PATIENCE)
    assert len({id(request.result(0)) for request in requests}) < len(requests) and len(sent) < len(requests)


JOB = make_job(lrlab.spec("one-bit-sensing", n=400, p=8), "pairwise-moment")


def record(sender: IterateSender, iteration: int) -> None:
    """Let a solver yield an iterate."""
    row, iterate = {"iteration": iteration, "seconds": 0.0, "error": 1.0}, Iterate(np.ones(8))
    sender.trace.record(row, iterate, None)
    sender.watch(row, iterate)


@pytest.fixture
def clock(monkeypatch):
    """Return the time of the sender, which the test sets."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_short_iterations_are_sent_together(clock):
    messages: list = []
    sender = IterateSender(JOB, messages.append)
    for iteration in range(1, 1001):
        clock.seconds += SEND_SECONDS / 50
        record(sender, iteration)
    sizes = [len(message.rows) for message in messages]
    assert sizes[0] == 1, "the first iterate at once"
    assert len(sizes) > 19 and set(sizes[1:]) <= {49, 50, 51}
    assert sum(sizes) + len(sender.last_iterates().rows) == 1000


def test_progress_within_a_long_iteration_is_sent_meanwhile(clock):
    messages: list = []
    sender = IterateSender(JOB, messages.append)
    for step in range(1, 101):
        clock.seconds += SEND_SECONDS / 10
        sender.progress(step / 100)
    assert 10 <= len(messages) <= 12 and messages[-1].progress > 0.9
    # However short ago the last message was.
    record(sender, 1)
    assert len(messages[-1].rows) == 1, "the first iterate at once"


def test_nobody_waits_for_the_long_items_of_others(engine: Engine):
    blocking = [engine.map(time.sleep, [600.0] * 40)]
    try:
        quick = engine.map(abs, [-1, -2])
        # Items of a work that has none under way have a worker.
        until(lambda: (quick.take(0.1), quick.done == 2)[1])
        blocking.append(engine.map(time.sleep, [600.0] * 40))
        followed = engine.follow([short(seed=5)])
        assert followed.wait(PATIENCE), "followed jobs have a worker of their own"
    finally:
        for stream in blocking:
            stream.cancel()


def test_a_job_that_waits_says_how_many_come_first(engine: Engine):
    runs = [engine.follow([endless(100 + k)]) for k in range(12)]
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


SMALL_JOB = make_job(lrlab.spec("one-bit-sensing", n=200), "pairwise-moment")


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

    for module in (solving, worker):
        monkeypatch.setattr(module, "run_job", run_job)
    return during


def test_a_small_job_has_one_thread_and_a_task_has_those_that_it_was_sent_with(recorded):
    with blas_threads(2):
        solving.run(SMALL_JOB, worker=False)
        assert threads_now() == {2}
    for threads in (1, 2):
        worker.follow_job(SMALL_JOB, threads, lambda message: None)
        assert threads_now() == {1}
    assert recorded == [{1}, {1}, {2}]


@pytest.mark.parametrize(("load", "expected"), [(0.1, 2), (1000.0, 1)])
def test_a_large_job_is_sent_with_all_threads_unless_the_machine_is_busy(monkeypatch, load, expected):
    sent = []
    ended = SimpleNamespace(runs=[SimpleNamespace(error="", trace=None)], wait=lambda: None)
    local = SimpleNamespace(address="", follow=lambda jobs, threads: sent.append(threads) or ended)
    monkeypatch.setattr("lrlab.engine.engine.get_engine", lambda: local)
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load), raising=False)
    with blas_threads(2):
        solving.run(SMALL_JOB, worker=True)
    assert sent == [expected]
