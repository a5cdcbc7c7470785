"""The engine: followed jobs and streams of results, shared, cancelled, with limits of time and memory."""

import gc
import math
import os
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from lrlab import InputError, Iterate, Stop, spec
from lrlab.engine.calls import Call
from lrlab.engine.engine import Engine
from lrlab.engine.live import BatchDone, LiveRuns
from lrlab.engine.results import TIMED_OUT, Failure, LocalResults, collect
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Trial, run_job, run_trial
from lrlab.runs.trace import Trace
from tests import waiting
from tests.waiting import PATIENCE

# Workers cannot import this file: its functions travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

MARK = Path(tempfile.gettempdir()) / f"lrlab-test-{uuid.uuid4().hex}"
SMALL = 0.25


def asleep() -> None:
    """Take ten minutes."""
    time.sleep(600)


def locked() -> int:
    """Hold the interpreter's lock for minutes, as some libraries do."""
    return sum(range(10**11))


def busy() -> None:
    """Compute for ever."""
    while True:
        sum(range(10**4))


def allocate(size: int) -> list[np.ndarray]:
    """Take up `size` bytes of memory, 16 MiB at a time."""
    held = []
    while len(held) < size // 2**24:
        held.append(np.ones(2**21))
        time.sleep(0.002)
    return held


def huge() -> list[np.ndarray]:
    """Take far more memory than `data_bytes`."""
    return allocate(2**30)


def die_once(item: int = 0) -> int:
    """Kill the first process that calls this; return the item in others."""
    try:
        MARK.touch(exist_ok=False)
    except FileExistsError:
        return item
    os.kill(os.getpid(), signal.SIGKILL)
    return item


def die_at_three(item: int) -> int:
    """Kill this process whenever the item is 3."""
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def refuse_odd(item: int) -> int:
    """Refuse odd items."""
    if item % 2:
        raise InputError("item", "even", item, "take another")
    return item


def endless(seed: int = 0, **limits: int) -> Job:
    """Return a job that runs until it is ended, or to its limits."""
    return make_job(spec("one-bit-sensing", seed=seed), "pairwise-moment", **{"tol": 0, "max_iter": 10**6, **limits})


def short(**parameters: object) -> Job:
    return make_job(spec("one-bit-sensing", **parameters), "pairwise-moment")


def faulty(fault: Callable[[], object], iterates: int = 0, **limits: float) -> Job:
    """Return a job whose solver does something else after some iterates."""

    def solver(problem, *, rng):
        for _ in range(iterates):
            yield Iterate(problem.y @ problem.X, objective=1.0, residual=1.0)
        fault()
        yield Iterate(problem.y @ problem.X, objective=1.0, residual=1.0)

    solver.__name__ = f"{fault.__name__}_after_{iterates}"
    job = make_job(spec("one-bit-sensing"), solver, **limits)
    # A job of a function ends this.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return job


def until(condition: Callable[[], bool], following: LiveRuns) -> None:
    """Wait, refreshing, until the condition holds."""
    waiting.until(lambda: (following.refresh(), condition())[1])


def untimed(trace: Trace) -> list[dict[str, float]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in trace.rows]


@pytest.fixture(scope="module")
def small_engine() -> Iterator[Engine]:
    """Start an engine of one worker with little memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LRLAB_MEMORY_GIB", str(SMALL))
        engine = Engine(workers=1)
        engine.warm()
    yield engine
    engine.close()


@pytest.mark.slow
def test_followed_runs_equal_runs_in_this_process(engine):
    following = engine.follow([endless(max_iter=3000), short()])
    assert following.wait(PATIENCE)
    for run in following.runs:
        here = run_job(run.job)
        assert (run.state, run.error, run.progress, run.trace.stop) == ("done", "", 1.0, here.stop)
        assert untimed(run.trace) == untimed(here) and run.trace.note == here.note
        np.testing.assert_array_equal(run.trace.estimate, here.estimate)
        assert [k for k, _ in run.trace.history] == [k for k, _ in here.history]
        np.testing.assert_array_equal([b for _, b in run.trace.history], [b for _, b in here.history])
    assert not following.alive and not following.refresh()


def test_iterates_arrive_while_the_run_continues_and_stay_when_it_is_cancelled(engine):
    following = engine.follow([endless(0), endless(1)])
    until(lambda: len(following.runs[0].trace.rows) > 1, following)
    run = following.runs[0]
    assert run.state == "running" and following.alive and run.trace.estimate is not None
    rows_before = len(run.trace.rows)
    following.cancel()
    assert following.wait(PATIENCE)
    for run in following.runs:
        assert run.state == "done" and run.trace.stop is Stop.CANCELLED
    assert len(following.runs[0].trace.rows) >= rows_before


@pytest.mark.parametrize("fault", [asleep, locked])
def test_a_run_that_ignores_cancellation_is_ended_with_its_worker_and_others_continue(engine, fault):
    following = engine.follow([faulty(fault)] * 2)
    until(lambda: following.runs[0].state == "running", following)
    following.cancel()
    assert following.wait(PATIENCE)
    assert {run.trace.stop for run in following.runs} == {Stop.CANCELLED}
    assert collect(engine.map(math.sqrt, [4.0, 9.0])) == [2.0, 3.0]


@pytest.mark.slow
def test_the_time_limit_holds_for_a_run_that_does_not_check_the_time(engine):
    # On a busy machine the first iterate may take longer than the first limits.
    for limit in (1.0, 8.0, 64.0):
        following = engine.follow([faulty(asleep, max_seconds=0.1), faulty(asleep, 11, max_seconds=limit)])
        assert following.wait(PATIENCE)
        none, some = (run.trace for run in following.runs)
        assert none.stop is some.stop is Stop.TIMEOUT and not none.rows
        assert none.seconds >= 0.1 and f"after {none.seconds:.3g} s, before the first iterate" in none.ending
        if some.rows:
            break
    assert some.rows and some.estimate.shape == (20,), "the iterates before are still there"


@pytest.mark.slow
def test_a_trial_that_does_not_check_the_time_ends_with_its_worker_and_others_are_kept(engine):
    trials = [Trial(short(), 0), Trial(faulty(busy, max_seconds=0.2), 0), Trial(short(), 1)]
    first, second, third = collect(engine.map(run_trial, trials), failures=True)
    assert (first.stop, second, third.stop) == ("CONVERGED", TIMED_OUT, "CONVERGED")


@pytest.mark.slow
def test_waiting_jobs_are_cancelled_before_they_start(small_engine):
    following = small_engine.follow([faulty(asleep), short()])
    following.cancel()
    assert following.wait(PATIENCE)
    assert [run.trace.stop for run in following.runs] == [Stop.CANCELLED, Stop.CANCELLED]
    assert collect(small_engine.map(abs, [-1])) == [1]


@pytest.mark.slow
def test_a_job_or_item_that_outgrows_its_worker_fails_alone_with_a_sentence(small_engine):
    following = small_engine.follow([faulty(huge), short()])
    assert following.wait(PATIENCE)
    large, modest = following.runs
    assert large.state == "failed" and "needed more than 0.25 GiB of memory: lower n or p" in large.error
    assert modest.state == "done" and modest.trace.stop is Stop.CONVERGED
    results = collect(small_engine.map(lambda size: len(allocate(size)), [0, 0, 2**30, 0, 0, 0], 5.0), failures=True)
    assert "needed more than 0.25 GiB of memory" in results.pop(2).sentence
    assert results == [0] * 5


@pytest.mark.attempt("`kill -9` of a worker during a run and a sweep", "computed again")
def test_runs_and_items_whose_worker_is_killed_are_computed_again(engine):
    following = engine.follow([faulty(die_once, 1)])
    assert following.wait(PATIENCE) and MARK.exists()
    assert untimed(following.runs[0].trace) == untimed(run_job(following.runs[0].job))
    MARK.unlink()
    assert collect(engine.map(die_once, range(20))) == list(range(20)) and MARK.exists()
    MARK.unlink()


@pytest.mark.slow
def test_an_item_that_kills_every_worker_is_given_up(engine):
    results = collect(engine.map(die_at_three, range(6)), failures=True)
    assert "worker that ran the job was lost" in results.pop(3).sentence
    assert results == [0, 1, 2, 4, 5]


def test_an_item_that_fails_does_not_lose_the_others(engine):
    for start in (engine.map, LocalResults):
        with pytest.raises(InputError, match="item must be even, got 1: take another"):
            collect(start(refuse_odd, range(5)))
        results = collect(start(refuse_odd, range(5)), failures=True)
        assert [results[k] for k in (0, 2, 4)] == [0, 2, 4]
        assert isinstance(results[3], Failure) and "got 3" in results[3].sentence
    with pytest.raises(RuntimeError, match=r"failed inside the solver \(ValueError"):
        collect(engine.map(math.sqrt, [-1.0]))
    with pytest.raises(RuntimeError, match="cannot be sent to a worker"):
        collect(engine.map(threading.Lock().__enter__, [1]))


@pytest.mark.slow
def test_workers_have_imported_what_solvers_need(monkeypatch):
    monkeypatch.delenv("LRLAB_PRELOAD")
    with closing(Engine(workers=1)) as engine:
        assert collect(engine.map(lambda name: name in sys.modules, ["sklearn.linear_model"])) == [True]


@pytest.mark.parametrize("items", [range(3000), (k for k in range(3000))], ids=["list", "generator"])
def test_results_arrive_in_order_with_progress_and_time_left(engine, items):
    progress = []
    stream = engine.map(math.sqrt, items)
    assert stream.seconds_left is None
    assert collect(stream, lambda *step: progress.append(step)) == [math.sqrt(k) for k in range(3000)]
    assert progress == sorted(progress) and progress[-1] == (3000, 3000)
    assert (stream.alive, stream.seconds_left, stream.done) == (False, 0.0, 3000)


def test_sessions_get_their_own_results(engine):
    results = {}

    def session(k: int) -> None:
        following, stream = engine.follow([short(seed=k)]), engine.map(math.sqrt, [k] * 50)
        results[k] = following.wait(PATIENCE), untimed(following.runs[0].trace), collect(stream)

    threads = [threading.Thread(target=session, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    for k in range(6):
        assert results[k] == (True, untimed(run_job(short(seed=k))), [math.sqrt(k)] * 50)


def test_runs_whose_handle_is_dropped_are_ended(small_engine):
    dropped = small_engine.follow([faulty(asleep)])
    while dropped.runs[0].state != "running":
        dropped.refresh()
    del dropped
    gc.collect()
    assert collect(small_engine.map(abs, [-1])) == [1]


def test_batches_grow_with_the_pace_and_items_not_begun_are_sent_again():
    call = Call(range(1000), abs, 0.2)
    assert call.next_batch(1, 1.0)[0] == [0]
    done = BatchDone([(0, 0)], 0.01)
    call.put(0, done)
    call.pace(done)
    second, _ = call.next_batch(1, 1.0)
    assert second == list(range(1, 9))
    done = BatchDone([(1, 1)], 0.4)
    call.put(0, done)
    call.pace(done)
    call.put_back(second)
    assert call.next_batch(1, 1.0)[0] == [2]
    assert call.next_batch(1, 4.0)[0] == [3, 4, 5, 6], "longer if it holds up nobody"
    call.size = 600
    assert len(call.next_batch(100, 1.0)[0]) == 300, "less at the end of many workers"
