"""Runs: their memory, and how they end in a trace or in one sentence."""

import time
from dataclasses import replace

import numpy as np
import pytest

from lrlab import InputError, catalog
from lrlab.engine.messages import Failure
from lrlab.protocol import Interrupted, Iterate, Stop
from lrlab.runs.job import make_job, memory_limit, memory_words
from lrlab.runs.run import NumericalBreakdown, Trial, run_job, run_traced, run_trial
from lrlab.runs.trace import Trace
from lrlab.shell import solve as shell_solve

ERRORS = [np.linalg.LinAlgError("Singular matrix"), ZeroDivisionError("division by zero"), FloatingPointError()]


@pytest.fixture(params=ERRORS, ids=lambda error: type(error).__name__)
def broken(request, monkeypatch):
    def run(problem, *, rng):
        yield Iterate(np.ones(problem.shape[1]))
        raise request.param

    entry = replace(catalog.solver("pairwise-moment", "one-bit-sensing"), run=run)
    monkeypatch.setattr(catalog, "solver", lambda *arguments: entry)
    monkeypatch.setattr(catalog, "compatible", lambda *arguments: entry)
    return make_job(catalog.spec("one-bit-sensing"), "pairwise-moment")


def test_a_numerical_error_in_a_solver_is_one_sentence(broken):
    with pytest.raises(NumericalBreakdown, match="^pairwise-moment broke down numerically after 1 iterations") as info:
        run_job(broken)
    assert Failure.of(info.value).sentence == str(info.value)


def test_a_numerical_error_ends_the_shell_with_a_sentence_and_status_1(broken, monkeypatch, capsys):
    from lrlab.__main__ import main

    monkeypatch.setattr(shell_solve, "job_from", lambda *arguments: broken)
    assert main(["solve", "one-bit-sensing", "--solver", "pairwise-moment"]) == 1
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and "broke down numerically" in err


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ([0.3, 0.08, np.nan, 1.41, 0.08], "The error rose from 0.08 to 1.4 at iteration 4, and fell again."),
        ([0.3, 0.08, 1.41, 1.4], ""),
        ([1.2, 0.5, 0.9, 0.4], ""),
        ([0.1, 1e-9, 1e-4, 1e-9], ""),
        ([np.nan, np.nan], ""),
        ([], ""),
    ],
)
def test_an_error_that_rises_and_falls_again_is_said(errors, words):
    rows = [{"iteration": k, "error": error} for k, error in enumerate(errors, 1)]
    assert Trace(make_job(catalog.spec("one-bit-sensing"), "biht"), rows).swing == words


def test_a_run_without_an_iterate_says_how_long_it_ran(monkeypatch):
    def run(problem, *, rng):
        sum(range(10**6))
        raise Interrupted(Stop.TIMEOUT)
        yield

    entry = replace(catalog.solver("pairwise-moment", "one-bit-sensing"), run=run)
    monkeypatch.setattr(catalog, "solver", lambda *arguments: entry)
    monkeypatch.setattr(catalog, "compatible", lambda *arguments: entry)
    job = make_job(catalog.spec("one-bit-sensing"), "pairwise-moment")
    trace = run_job(job)
    ran = f"{trace.seconds:.3g} s, before the first iterate: raise max_seconds"
    assert trace.seconds > 0.0 and trace.ending.startswith(f"Stopped at the time limit after {ran}")
    assert run_trial(Trial(job, 0)).seconds > 0.0


@pytest.fixture
def waiting(monkeypatch):
    """Return a job whose solver waits longer than its limit, as on a machine that does much else."""

    def run(problem, *, rng):
        for _ in range(4):
            time.sleep(0.03)
            yield Iterate(np.ones(problem.shape[1]))

    entry = replace(catalog.solver("pairwise-moment", "one-bit-sensing"), run=run)
    monkeypatch.setattr(catalog, "solver", lambda *arguments: entry)
    monkeypatch.setattr(catalog, "compatible", lambda *arguments: entry)
    return make_job(catalog.spec("one-bit-sensing"), "pairwise-moment", max_seconds=0.05)


def test_trials_end_by_the_time_of_the_processor_and_live_runs_by_that_of_the_wall(waiting, monkeypatch):
    # A slow processor would end them as well.
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)
    assert run_job(waiting).stop is Stop.TIMEOUT
    result, rows = run_trial(Trial(waiting, 0)), run_traced(Trial(waiting, 0))
    assert (result.stop, result.iterations) == ("FINISHED", 4)
    assert len(rows) == 4 and rows[-1]["stop"] == "FINISHED"


def test_a_run_interrupted_while_its_first_iterate_is_scored_has_no_rows(monkeypatch):
    def interrupted(*given):
        raise Interrupted(Stop.TIMEOUT)

    monkeypatch.setattr("lrlab.runs.run.complete_row", interrupted)
    trace = run_job(make_job(catalog.spec("one-bit-sensing", n=200, p=5), "sir"))
    assert (trace.stop, trace.rows) == (Stop.TIMEOUT, [])


@pytest.mark.attempt("`LRLAB_MEMORY_GIB=-1`, `nan`, `1e-12`", "one sentence")
@pytest.mark.parametrize("wrong", ["-1", "0", "-0", "1e-12", "nan", "inf", "many", ""])
def test_a_limit_that_is_none_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", wrong)
    with pytest.raises(InputError, match="LRLAB_MEMORY_GIB must be a number of GiB above 0.*unset it"):
        memory_limit()


def test_sizes_are_in_units_of_which_there_is_one():
    sizes = {900: "900 bytes", 2**10: "1 KiB", 5_500: "5.4 KiB", 2**20: "1 MiB", 45 * 2**20: "45 MiB", 2**31: "2.0 GiB"}
    assert {size: memory_words(size) for size in sizes} == sizes


def test_a_refusal_under_a_small_limit_names_it(monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "0.01")
    with pytest.raises(InputError, match="within 10 MiB of memory, got 100000, which needs .* MiB"):
        make_job(catalog.spec("one-bit-sensing", n=100_000, p=50), "probit")
