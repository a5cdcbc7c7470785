"""Runs: their memory, why and when they end, and that only a run beaten by the truth is called a local minimum."""

import itertools
import time

import numpy as np
import pytest

import lrlab
from lrlab import InputError, catalog
from lrlab.__main__ import main
from lrlab.engine.results import Failure
from lrlab.engine.solve import solve
from lrlab.protocol import Interrupted, Iterate, Limits, Stop
from lrlab.runs import run, theory
from lrlab.runs.job import make_job, memory_limit, memory_words
from lrlab.runs.run import NumericalBreakdown, Trial, drive, quick_run, run_job, run_traced, run_trial, trial_spec
from lrlab.runs.trace import Trace
from tests.waiting import PATIENCE

SIGNS = catalog.spec("one-bit-sensing")
ERRORS = [np.linalg.LinAlgError("Singular matrix"), ZeroDivisionError("division by zero"), FloatingPointError()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_numerical_error_in_a_solver_is_one_sentence_and_ends_the_shell_with_status_1(error, capsys):
    before = []

    def broken(problem, *, rng):
        yield from before
        raise error

    with pytest.raises(NumericalBreakdown, match="^broken broke down numerically after 0 iterations "):
        run_job(make_job(SIGNS, broken))
    before.append(Iterate(np.ones(2)))
    with pytest.raises(InputError, match=rf"estimate must be of shape \({SIGNS.p},\), got \(2,\): check"):
        run_job(make_job(SIGNS, broken))
    before[0] = Iterate(np.ones(SIGNS.p))
    with pytest.raises(NumericalBreakdown, match="^broken broke down numerically after 1 iteration ") as info:
        run_job(make_job(SIGNS, broken))
    assert Failure.of(info.value).sentence == str(info.value)
    assert main(["solve", "one-bit-sensing", "--solver", "broken"]) == 1
    out, err = capsys.readouterr()
    assert not out and err == f"{info.value}\n"


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ([0.3, 0.08, np.nan, 1.41, 0.08], "The error rose from 0.08 to 1.4 at iteration 4, and fell again."),
        ([0.3, 0.08, 1.41, 1.4], ""),
        ([1.2, 0.5, 0.9, 0.4], ""),
        ([0.25, 0.75, 0.25], ""),
        ([0.1, 1e-9, 1e-4, 1e-9], ""),
        ([np.nan, np.nan], ""),
        ([], ""),
    ],
)
def test_an_error_that_rises_and_falls_again_is_said(errors, words):
    rows = [{"iteration": k, "error": error} for k, error in enumerate(errors, 1)]
    assert Trace(make_job(SIGNS, "biht"), rows).swing == words


def test_a_run_without_an_iterate_says_how_long_it_ran():
    def late(problem, *, rng):
        sum(range(10**6))
        raise Interrupted(Stop.TIMEOUT)
        yield

    job = make_job(SIGNS, late)
    trace = run_job(job)
    with pytest.raises(InputError, match="link must be that of a direction"):
        _ = trace.link
    ran = f"{trace.seconds:.3g} s, before the first iterate: raise max_seconds"
    assert trace.seconds > 0.0 and trace.ending.startswith(f"Stopped at the time limit after {ran}")
    assert run_trial(Trial(job, 0)).seconds > 0.0


def test_a_quick_run_is_that_of_solve_with_fewer_iterates_without_its_history_and_a_slow_one_is_left(monkeypatch):
    job = make_job(SIGNS.replace(n=400, p=10), "pairwise-moment", tol=1e-12)
    with monkeypatch.context() as slow_machine:
        slow_machine.setattr(run, "QUICK_SECONDS", PATIENCE)
        quick = quick_run(job)
    whole = solve(job.spec, job.solver, tol=1e-12)
    rows, found = ([{**row, "seconds": 0.0} for row in trace.rows] for trace in (whole, quick))
    assert isinstance(quick, Trace) and not quick.history and quick.stop is whole.stop
    wanted = [row for row in rows if row["iteration"] in run.SCORED or row is rows[-1]]
    assert found == wanted and len(found) < len(rows) and quick.iterations == whole.iterations
    assert found[: run.EACH] == rows[: run.EACH]
    slow = make_job(SIGNS.replace(n=100_000, p=60), "pairwise-moment", tol=0, max_iter=100_000)
    assert quick_run(slow).stop is Stop.CANCELLED


def test_no_advice_to_raise_max_iter_where_theory_says_that_nothing_helps():
    below = solve(lrlab.spec("one-bit-sensing", n=40, p=20, noise=2.0), "pairwise-moment", max_iter=2, tol=0)
    above = solve(lrlab.spec("one-bit-sensing", n=4000, p=10), "pairwise-moment", max_iter=2, tol=0)
    assert "raise max_iter" not in below.ending and "raise max_iter" in above.ending
    assert "do not help at this n/p, since the overlap of this method tends to 0 asymptotically." in below.ending


def test_where_the_limit_is_zero_the_end_of_a_run_says_what_is_expected_at_its_own_size():
    trace = solve(lrlab.spec("custom-link", n=3000, p=5), "pairwise-moment", max_iter=2, tol=0)
    expected = theory.exact_predictions(trace.job)["predicted_overlap"]
    expected_words = f"tends to 0 asymptotically; at this n and p it is {expected:.2g} on average"
    assert expected > 0.3 and expected_words in trace.ending


def test_trials_end_by_the_time_of_the_processor_and_live_runs_by_that_of_the_wall(monkeypatch):
    """The solver waits longer than its limit, as on a machine that does much else."""

    def slow(problem, *, rng):
        for _ in range(4):
            time.sleep(0.03)
            yield Iterate(np.ones(problem.shape[1]))

    waiting = make_job(SIGNS, slow, max_seconds=0.05)
    # A slow processor would end them as well.
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)
    assert run_job(waiting).stop is Stop.TIMEOUT
    result, rows = run_trial(Trial(waiting, 0)), run_traced(Trial(waiting, 0))
    assert (result.stop, result.iterations) == ("FINISHED", 4)
    assert len(rows) == 4 and rows[-1]["stop"] == "FINISHED"


def test_a_run_interrupted_while_its_first_iterate_is_scored_has_no_rows(monkeypatch):
    def interrupted(*given):
        raise Interrupted(Stop.TIMEOUT)

    monkeypatch.setattr(run, "scored_row", interrupted)
    trace = run_job(make_job(catalog.spec("one-bit-sensing", n=200, p=5), "sir"))
    assert (trace.stop, trace.rows) == (Stop.TIMEOUT, [])


def iterates(*states, after=None, ending=None):
    for objective, residual, *entry in states:
        yield Iterate(np.array(entry or [0.0]), objective=objective, residual=residual)
    if after:
        raise after
    return ending


def endless(objective=1.0, residual=1.0):
    return (Iterate(np.ones(2), objective=objective, residual=residual) for _ in itertools.count())


@pytest.mark.parametrize(
    ("source", "settings", "stop", "count"),
    [
        (iterates((3.0, 1.0), (2.0, 1e-9), (1.0, 1e-9)), {}, Stop.CONVERGED, 2),
        (iterates((3.0, 1.0)), {}, Stop.FINISHED, 1),
        (iterates((3.0, 1.0), ending=Stop.STALLED), {}, Stop.STALLED, 1),
        (iterates((3.0, 1.0), ending=Stop.CONVERGED), {}, Stop.CONVERGED, 1),
        (endless(), {"limits": Limits(max_iter=7)}, Stop.MAX_ITER, 7),
        (endless(), {"limits": Limits(max_seconds=0.0)}, Stop.TIMEOUT, 1),
        (endless(), {"cancelled": lambda: True}, Stop.CANCELLED, 1),
        (iterates((1.0, 1.0), (1e9, 1.0), (1e12, 1.0)), {}, Stop.DIVERGED, 2),
        (iterates((1.0, 1.0), (np.nan, 1.0)), {}, Stop.NONFINITE, 1),
        (iterates((1.0, 1.0), (1.0, 1.0, np.nan)), {}, Stop.NONFINITE, 1),
        (iterates((1.0, None), after=Interrupted(Stop.TIMEOUT)), {}, Stop.TIMEOUT, 1),
    ],
)
def test_every_way_to_end(source, settings, stop, count):
    watched = []
    assert drive(source, lambda *row: watched.append(row), **settings) is stop
    assert [row[0] for row in watched] == list(range(1, count + 1))


def test_time_spent_watching_is_not_solver_time():
    seconds, now = [], [0.0]

    def solver():
        while True:
            now[0] += 1.0
            yield Iterate(np.ones(2))

    def watch(iteration, spent, iterate):
        now[0] += 100.0
        seconds.append(spent)

    drive(solver(), watch, Limits(max_iter=4), clock=lambda: now[0])
    assert seconds == [1.0, 2.0, 3.0, 4.0]


def test_what_is_no_iterate_ends_in_a_sentence_that_names_the_file():
    def arrays():
        yield np.zeros(3)

    ended = iterates(ending=np.zeros(3))
    for source, words in (arrays(), "yields must be an Iterate"), (ended, "returns must be a Stop or nothing"):
        sentence = rf"what {source.__name__} \(test_run.py\) {words}, got ndarray: yield Iterate\(estimate\)"
        with pytest.raises(InputError, match=sentence):
            drive(source, lambda *of: None)


@pytest.mark.attempt("`LRLAB_MEMORY_GIB=-1`, `nan`, `1e-12`", "one sentence")
@pytest.mark.parametrize("wrong", ["-1", "0", "-0", "1e-12", "nan", "inf", "many", ""])
def test_a_limit_that_is_none_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", wrong)
    with pytest.raises(InputError, match="LRLAB_MEMORY_GIB must be a number of GiB above 0.*unset it"):
        memory_limit()


def test_what_fits_at_no_size_is_refused(monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "1e-6")
    with pytest.raises(InputError, match="^memory must be at most 1.0 KiB, got 689 KiB: make the problem smaller$"):
        make_job(SIGNS, "sir")


def test_sizes_are_in_units_of_which_there_is_one():
    sizes = {900: "900 bytes", 2**10: "1 KiB", 5_500: "5.4 KiB", 2**20: "1 MiB", 45 * 2**20: "45 MiB", 2**31: "2.0 GiB"}
    assert {size: memory_words(size) for size in sizes} == sizes


LOCAL, OTHERS, DONE = Stop.LOCAL_MINIMUM, Stop.NOT_UNIQUE, Stop.CONVERGED
EXACT = {DONE: ("error", 0.0, 1e-6)}
BEATEN = EXACT | {LOCAL: ("error", 1e-3, np.inf)}
PHASES, MATRIX = {"p": 30, "field": "real", "noise": 0.1}, {"m": 400, "d1": 15, "d2": 12, "rank": 2}
# 1.5 times the degrees of freedom: some rows have hardly more entries than unknowns.
ROWS = {"features": "canonical", "n1": 25, "n2": 25, "rank": 2, "observed": 0.23}
TOO_FEW = [
    ("phase-retrieval", {"m": 36, "p": 24}),
    ("phase-retrieval", {"m": 36, "p": 24, "noise": 0.05}),
    ("phase-retrieval", {"m": 22, "p": 24, "field": "real", "data": "intensity"}),
    ("coded-diffraction", {"masks": 1, "side": 12}),
    ("coded-diffraction", {"masks": 1, "side": 12, "photons": 1000.0}),
    ("rank-one-sensing", {"m": 90, "d1": 20, "d2": 20, "rank": 3, "noise": 0.05}),
    ("polynomial-network", {"m": 60, "p": 25, "r": 3, "noise": 0.05}),
]
NEVER = ("error", np.inf, -np.inf)
ENDS = [
    # A stationary point that the truth beats.
    ("rank-one-sensing", {"m": 50, "d1": 30, "d2": 15, "rank": 1}, "gauss-newton", range(7000, 7006), LOCAL, BEATEN),
    ("polynomial-network", {"m": 60, "p": 20, "r": 2, "condition": 30, "signs": "positive"}, "scaled-gradient",
     range(7000, 7006), LOCAL, BEATEN),
    ("phase-retrieval", {"m": 50, "p": 20, "field": "real"}, "alternating-projections", range(7000, 7006), LOCAL,
     BEATEN),
    # Of so few measurements the fit of x itself is .1; other points fit as well, and no one could tell.
    *(("phase-retrieval", {"m": 45, **PHASES}, solver, range(8100, 8108), LOCAL,
       {LOCAL: ("error", 0.3, np.inf), DONE: ("misfit", 0.0, 0.15)})
      for solver in ("gauss-newton", "alternating-projections")),
    *(("phase-retrieval", {"m": 600, **PHASES}, solver, range(8100, 8108), DONE, {DONE: ("error", 0.0, 0.1)})
      for solver in ("gauss-newton", "alternating-projections")),
    # A minimum that fits as well as the truth, and the best one of a rank below the true one.
    *(("rank-one-sensing", {**MATRIX, "noise": noise}, solver, [7001], DONE, {DONE: ("error", 0.0, 2 * noise + 0.01)})
      for solver in ("gauss-newton", "scaled-gradient", "nuclear-norm") for noise in (0.0, 0.2)),
    ("rank-one-sensing", {**MATRIX, "assumed_rank": 1}, "gauss-newton", [7001], DONE, {}),
    # Another matrix with the same entries.
    ("inductive-completion", ROWS, "r2rils", range(3000, 3006), OTHERS, EXACT | {OTHERS: ("error", 1e-3, np.inf)}),
    *(("phase-retrieval", {"m": 96, "p": 24}, solver, [7000], DONE, {})
      for solver in ("gauss-newton", "wirtinger-flow", "reweighted-amplitude-flow")),
    # Fewer measurements than unknowns.
    *((model, parameters, "gauss-newton", range(7000, 7003), OTHERS, {DONE: NEVER, Stop.FINISHED: NEVER})
      for model, parameters in TOO_FEW),
]  # fmt: skip
"""Model, parameters, solver and seeds of runs, a stop of theirs, and within what a metric lies at each stop."""


@pytest.mark.slow
@pytest.mark.parametrize(("model", "parameters", "solver", "seeds", "wanted", "bounds"), ENDS)
def test_runs_say_that_they_converged_only_if_neither_the_truth_nor_others_fit_better(
    model, parameters, solver, seeds, wanted, bounds
):
    traces = [solve(lrlab.spec(model, **parameters, seed=seed), solver, max_iter=2000) for seed in seeds]
    for trace in traces:
        metric, low, high = bounds.get(trace.stop, ("error", 0.0, np.inf))
        assert low <= trace.metrics[metric] <= high
    one = next(trace for trace in traces if trace.stop is wanted)
    assert wanted is not DONE or all(trace.stop is DONE for trace in traces)
    assert wanted is not DONE or "degrees of freedom" not in one.job.spec.remark
    assert wanted is not LOCAL or "the ground truth fits the data better" in one.summary()["message"]
    if wanted is OTHERS and model == "inductive-completion":
        assert one.metrics["misfit"] < 1e-10
        assert "take more data, or for matrices a smaller rank" in one.summary()["message"]
        assert solve(one.job.spec.replace(noise=0.1), "gauss-newton").stop is not OTHERS
    elif wanted is OTHERS:
        assert one.metrics["error"] > 0.1 and "degrees of freedom" in one.job.spec.remark


@pytest.mark.slow
def test_a_network_without_its_weakest_unit_is_not_called_converged():
    spec = lrlab.spec("polynomial-network", p=40, r=3, condition=1e4, m=234, seed=31000)
    solvers = ["gauss-newton", "scaled-gradient", "tangent-descent"]
    traces = {solver: [solve(trial_spec(spec, trial), solver) for trial in range(10)] for solver in solvers}
    # The rounding of the processor's products decides which trial of a solver misses the unit.
    beaten = [trace for own in traces.values() for trace in own if trace.stop is lrlab.Stop.LOCAL_MINIMUM]
    assert len(beaten) >= 4 and all(trace.metrics["weakest_error"] > 0.1 for trace in beaten)
    for own in traces.values():
        converged = [trace for trace in own if trace.stop is lrlab.Stop.CONVERGED]
        assert len(converged) >= 5 and all(trace.metrics["weakest_error"] < 1e-6 for trace in converged)
