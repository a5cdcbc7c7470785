"""Small requests of many callers: each has its value or its failure, and equal ones are computed once."""

from concurrent.futures import wait
from threading import Event

import pytest

from lrlab import catalog
from lrlab.engine.engine import on_workers
from lrlab.engine.messages import Failure
from lrlab.engine.results import LocalResults, Together, compute_requests
from lrlab.engine.solve import solve
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.quick import EACH, SCORED, Quick, quick_run
from lrlab.runs.trace import Trace
from tests.waiting import PATIENCE

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


def test_equal_requests_under_way_are_computed_once():
    sent, asked = [], Event()

    def counted(function, items):
        asked.wait(PATIENCE)
        sent.extend(items[0])
        return LocalResults(function, items)

    together = Together(counted)
    requests = [together.submit(quick_run, Quick(make_job(SPEC, "pairwise-moment"), "error")) for _ in range(10)]
    asked.set()
    wait(requests, PATIENCE)
    assert len({id(request.result(0)) for request in requests}) < len(requests) and len(sent) < len(requests)


@pytest.mark.parametrize(("measure", "left_out"), [("error", {"misfit"}), ("residual", {"misfit"}), ("misfit", set())])
def test_a_quick_run_is_that_of_solve_with_fewer_iterates_without_its_history_and_a_slow_one_is_left(
    measure, left_out, monkeypatch
):
    job = make_job(SPEC, "pairwise-moment", tol=1e-12)
    with monkeypatch.context() as slow_machine:
        slow_machine.setattr("lrlab.runs.quick.QUICK_SECONDS", PATIENCE)
        [quick] = compute_requests([(quick_run, Quick(job, measure))])
    whole = solve(job.spec, job.solver, tol=1e-12)
    rows = [{k: v for k, v in row.items() if k not in left_out | {"seconds"}} for row in whole.rows[:-1]]
    rows.append({k: v for k, v in whole.rows[-1].items() if k != "seconds"})
    assert isinstance(quick, Trace) and not quick.history and quick.stop is whole.stop
    found = [{k: v for k, v in row.items() if k != "seconds"} for row in quick.rows]
    assert found == [row for row in rows if row["iteration"] in SCORED or row is rows[-1]] and len(found) < len(rows)
    assert found[:EACH] == rows[:EACH] and quick.iterations == whole.iterations
    slow = make_job(SPEC.replace(n=100_000, p=60), "pairwise-moment", tol=0, max_iter=100_000)
    assert compute_requests([(quick_run, Quick(slow, measure))]) == [None]


def test_what_ends_all_workers_is_the_failure_of_each_request():
    def refuse(function, items):
        raise InputError("LRLAB_SCHEDULER", "the address of a scheduler that answers", "x", "start one")

    assert "LRLAB_SCHEDULER" in Together(refuse).submit(root, 4).result(PATIENCE).sentence
