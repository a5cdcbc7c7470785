"""What a sweep will take is said beforehand, and what would take too long is refused."""

from dataclasses import replace

import pytest

from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.engine.stream import LocalStream
from lrlab.runs.job import make_job
from lrlab.runs.memory import cores, memory_needed
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store.store import Store
from lrlab.sweeps import forecast as forecasts
from lrlab.sweeps import timed_trials
from lrlab.sweeps.adaptive import SolverGrid
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.forecast import Forecast, TimedTrial, forecast, require_time, time_trial
from lrlab.sweeps.results import Results
from lrlab.sweeps.run import run
from lrlab.sweeps.toml import to_toml

SWEEP = Sweep(
    spec=spec("one-bit-sensing", p=10),
    axes={"noise": [0.1, 0.5, 1.0], "ratio": Span(5, 50, 4)},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=6,
)


def size(job):
    return memory_needed(job.spec, job.entry, dict(job.options))


class Clock:
    """Trials that take a nanosecond a byte, half as much again without noise; and the jobs that were timed."""

    def __init__(self, longest=1e9):
        """Cut off what takes longer."""
        self.jobs, self.longest = [], longest

    def seconds(self, job):
        """Return the true time of a trial."""
        return job.spec.data_bytes * 1e-9 * (2.0 - job.spec.noise)

    def __call__(self, job, limits=()):
        """Return what is measured of a trial."""
        self.jobs.append(job)
        whole = self.seconds(job)
        measured = min(whole, self.longest)
        return TimedTrial(measured, measured, round(40 * measured / whole), measured == whole)

    __wrapped__ = __call__


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    found.__wrapped__ = found.__call__
    monkeypatch.setattr(forecasts, "time_trial", found)
    return found


def test_what_was_not_measured_follows_from_sizes(clock):
    found = forecast(SWEEP, workers=1)
    true = sum(clock.seconds(job) for job in SWEEP.jobs) * SWEEP.trials
    assert found.trials == SWEEP.total and found.seconds == pytest.approx(true, rel=0.1)
    assert found.bytes == max(map(size, SWEEP.jobs)) and len(set(clock.jobs)) < len(SWEEP.jobs)
    assert forecast(SWEEP, workers=4).seconds == pytest.approx(found.seconds / 4)
    assert forecast(SWEEP).seconds == pytest.approx(found.seconds / cores())


def test_trials_that_were_cut_off_are_extrapolated(clock):
    clock.longest = 0.2 * max(clock.seconds(job) for job in SWEEP.jobs)
    true = sum(clock.seconds(job) for job in SWEEP.jobs) * SWEEP.trials
    assert forecast(SWEEP, workers=1).seconds == pytest.approx(true, rel=0.2)


RECORDED = {
    "completion": (
        spec("inductive-completion", n1=200, n2=200, d1=40, d2=40, rank=3),
        {"observed": [0.005, 0.0108, 0.0232, 0.05]},
        {
            "gauss-newton": [[(0.21, 15), (0.96, 38), (6.0, 200)], [(0.157, 13)], [(0.058, 11)], [(0.05, 10)]],
            "altmin": [[(0.31, 200)], [(0.15, 120)], [(0.06, 36)], [(0.029, 19)]],
        },
    ),
    "sparse": (
        spec("flipped-logistic", p=30, sparsity=5),
        {"n": [400, 1086, 2947, 8000]},
        {
            "logistic": [[(0.002, 5)], [(0.003, 5)], [(0.005, 4)], [(0.011, 4)]],
            "sparse-probit": [[(0.08, 10)], [(0.095, 11)], [(0.2, 15)], [(0.49, 16)]],
        },
    ),
    "sensing": (
        spec("rank-one-sensing", d1=30, d2=30, rank=3),
        {"per-freedom": [0.9, 1.42, 1.95, 2.5, 3.0]},
        {"altmin": [[(0.082, 200)], [(0.072, 200)], [(0.025, 78)], [(0.021, 49)], [(0.027, 39)]]},
    ),
}
"""Costs of trials as they were measured: seconds and iterations of each cell, at limits and at the end."""


@pytest.mark.parametrize("name", RECORDED)
def test_forecasts_are_within_a_factor_of_two_of_recorded_costs(name, monkeypatch):
    base, axes, costs = RECORDED[name]
    sweep = Sweep(spec=base, axes=axes, solvers=list(costs), trials=3)
    courses = {
        grid.jobs[k, 0]: costs[s][k] for s in costs for grid in [SolverGrid(sweep, s)] for k in range(len(costs[s]))
    }

    def recorded(job, limits=(0.15,)):
        course = courses[job]
        seconds, iterations = next((at for at in course if at[0] >= limits[0]), course[-1])
        return TimedTrial(seconds, seconds, iterations, (seconds, iterations) == course[-1])

    recorded.__wrapped__ = recorded
    monkeypatch.setattr(forecasts, "time_trial", recorded)
    true = 3 * sum(course[-1][0] for course in courses.values())
    assert 0.5 < forecast(sweep, workers=1).seconds / true < 2.0


def test_the_time_that_is_left_goes_by_the_costs_of_the_cells(monkeypatch):
    results, clock = Results(SWEEP), [0.0]
    costs = {job: 10.0 ** (k % 3) for k, job in enumerate(SWEEP.jobs)}
    monkeypatch.setattr(forecasts, "job_seconds", lambda sweep: {job: 5.0 * seconds for job, seconds in costs.items()})
    monkeypatch.setattr(forecasts.time, "monotonic", lambda: clock[0])
    left = forecasts.Pace(results)
    assert left.seconds_left(SWEEP.total) is None
    for number, job in enumerate(SWEEP.jobs):
        trials = {Trial(job, k): TrialResult(k, "CONVERGED", 3, costs[job], {}) for k in range(SWEEP.trials)}
        results.add(trials)
        clock[0] += 2.0 * SWEEP.trials * costs[job]
        rest = 2.0 * SWEEP.trials * sum(costs[other] for other in SWEEP.jobs[number + 1 :])
        assert left.seconds_left(0) == pytest.approx(rest)


def test_what_is_made_before_the_first_iteration_is_made_once():
    assert TimedTrial(0.5, 0.1, 2, False).extrapolated(20, 60.0) == pytest.approx(0.4 + 1.0)
    assert TimedTrial(0.5, 0.1, 2, False).extrapolated(10**9, 60.0) == pytest.approx(0.4 + 60.0)
    assert TimedTrial(0.5, 0.0, 0, False).extrapolated(20, 60.0) == 0.5


def test_what_a_store_has_costs_nothing(clock):
    with Store() as store:
        whole = forecast(SWEEP, store)
        run(replace(SWEEP, trials=3), store, LocalStream)
        rest = forecast(SWEEP, store)
        assert rest.trials == whole.trials / 2 and rest.seconds == pytest.approx(whole.seconds / 2)
        run(SWEEP, store, LocalStream)
        assert forecast(SWEEP, store)[::2] == (0.0, 0)


def test_an_adaptive_sweep_has_its_budget(clock):
    adaptive = replace(SWEEP, adaptive=True, trials=50)
    found = forecast(adaptive, workers=1)
    assert found.trials == adaptive.most == 0.3 * adaptive.total
    assert found.seconds > 0.3 * forecast(replace(adaptive, adaptive=False), workers=1).seconds, "where trials are long"


def test_of_an_adaptive_sweep_what_is_done_costs_nothing(clock):
    adaptive = replace(SWEEP, adaptive=True, trials=5)
    with Store() as store:
        results = Results(adaptive)
        run(adaptive, store, LocalStream, stop=lambda: results.changes > 0, results=results)
        there = results.computed
        assert 0 < there < adaptive.most and forecast(adaptive, store).trials == adaptive.most - there
        done = run(adaptive, store, LocalStream)
        assert done.computed + done.reused <= adaptive.most
        assert forecast(adaptive, store)[::2] == (0.0, 0)


def test_a_trial_that_fails_is_forecast_too(monkeypatch):
    monkeypatch.setattr(timed_trials, "run_trial", lambda item: 1 / 0)
    monkeypatch.setattr(timed_trials, "run_stack", lambda items: 1 / 0)
    time_trial.cache_clear()
    assert forecast(SWEEP).trials == SWEEP.total
    time_trial.cache_clear()


def test_only_what_is_small_is_measured(clock, monkeypatch):
    monkeypatch.setattr(forecasts, "MAX_DATA_BYTES", 0)
    found = forecast(SWEEP, workers=1)
    assert len(set(clock.jobs)) == len(SWEEP.solvers), "the smallest cell of each"
    assert found.seconds == pytest.approx(sum(map(clock.seconds, SWEEP.jobs)) * SWEEP.trials, rel=0.5)


def test_a_trial_is_timed_for_a_moment():
    job = SWEEP.jobs[0]
    timed = time_trial(job)
    assert timed.whole and timed.seconds > 0 and timed.iterations > 0
    long = make_job(spec("one-bit-sensing", n=10**5), "pairwise-moment", tol=0, max_iter=10**6)
    assert not time_trial(long).whole and time_trial(long) is time_trial(long), "timed once"


def test_what_takes_too_long_is_refused_with_what_fits(monkeypatch):
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "2")
    require_time(SWEEP, Forecast(7200.0, 0, 144))
    with pytest.raises(InputError, match="trials must be at most 4 within 2 hours, got 6, which take about 3: lower"):
        require_time(SWEEP, Forecast(3 * 3600.0, 0, 144))
    with pytest.raises(InputError, match="budget must be at most 50 within 2 hours, got 100, which take about 4"):
        require_time(replace(SWEEP, adaptive=True, budget=100), Forecast(4 * 3600.0, 0, 100))
    with pytest.raises(InputError, match="cells must be at most 2 within 2 hours, got 24, of which one trial each"):
        require_time(SWEEP, Forecast(24 * 6 * 3600.0, 0, 144))
    for bad in ("soon", "0", "-1", "nan"):
        monkeypatch.setenv("LRLAB_SWEEP_HOURS", bad)
        with pytest.raises(InputError, match="LRLAB_SWEEP_HOURS must be a number of hours above 0, got"):
            require_time(SWEEP, Forecast(1.0, 0, 1))


def test_the_shell_tells_beforehand_and_refuses(clock, tmp_path, capsys, monkeypatch):
    file = tmp_path / "sweep.toml"
    file.write_text(to_toml(SWEEP))
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "1e-12")
    assert main(["sweep", str(file), "--json"]) == 2
    captured = capsys.readouterr()
    assert (
        captured.out == ""
        and captured.err.startswith("cells must be at most 0 within 1e-12 hours")
        and captured.err.count("\n") == 1
    )
