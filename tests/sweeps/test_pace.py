"""The time that is left of a sweep, by its pace; what would take too long ends with the number that fits."""

from dataclasses import replace

import pytest

from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.runs.job import memory_needed, memory_words
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import Store
from lrlab.sweeps import pace
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.pace import Pace, require_time, size_words
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.toml import to_toml

SWEEP = Sweep(
    spec=spec("one-bit-sensing", p=10),
    axes={"noise": [0.1, 0.5, 1.0], "ratio": Span(5, 50, 4)},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=6,
)


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: now[0])
    return now


def add(results, job, seconds, numbers=range(SWEEP.trials)):
    """Add trials of a job that took so many seconds each."""
    results.add({Trial(job, k): TrialResult(k, "CONVERGED", 3, seconds, {}) for k in numbers})


def test_the_time_that_is_left_goes_by_the_data_of_the_cells(clock):
    results, costs = SweepResults(SWEEP), {job: 1e-6 * job.spec.data_bytes for job in SWEEP.jobs}
    left = Pace(results)
    assert left.seconds_left(SWEEP.total) is None
    for number, job in enumerate(SWEEP.jobs):
        add(results, job, costs[job])
        clock[0] += 2.0 * SWEEP.trials * costs[job]
        rest = 2.0 * SWEEP.trials * sum(costs[other] for other in SWEEP.jobs[number + 1 :])
        assert left.seconds_left(0) == pytest.approx(rest)


def test_an_adaptive_sweep_has_its_budget_where_trials_are_long(clock):
    adaptive = replace(SWEEP, adaptive=True, trials=50)
    results = SweepResults(adaptive)
    left = Pace(results)
    for k, job in enumerate(adaptive.jobs):
        add(results, job, 1.0 + 9.0 * (k % 2), range(1))
    clock[0] = 5.5 * len(adaptive.jobs)
    trials = adaptive.most - len(adaptive.jobs)
    assert 5.5 * trials < left.seconds_left(trials) == pytest.approx(101 / 11 * trials)


def test_a_sweep_has_a_size():
    most = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in SWEEP.jobs)
    assert size_words(SWEEP) == f"up to {SWEEP.total} trials, {memory_words(most)} per worker"
    adaptive = replace(SWEEP, adaptive=True, trials=50)
    assert size_words(adaptive).startswith(f"up to {adaptive.most} trials")


def test_what_takes_too_long_is_refused_with_what_fits(monkeypatch):
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "2")
    require_time(SWEEP, 7200.0)
    with pytest.raises(InputError, match="trials must be at most 4 within 2 hours, got 6, which take about 3: lower"):
        require_time(SWEEP, 3 * 3600.0)
    with pytest.raises(InputError, match="budget must be at most 50 within 2 hours, got 100, which take about 4"):
        require_time(replace(SWEEP, adaptive=True, budget=100), 4 * 3600.0)
    with pytest.raises(
        InputError, match="grid points must be at most 2 within 2 hours, got 24; one trial for each takes longer"
    ):
        require_time(SWEEP, 24 * 6 * 3600.0)


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "1e-12")
    monkeypatch.setattr(pace, "CHECK_SECONDS", 0.0)


@pytest.mark.usefixtures("hasty", "engine")
def test_the_shell_ends_what_takes_too_long_and_stores_what_is_done(tmp_path, capsys):
    file, store_file = tmp_path / "sweep.toml", tmp_path / "trials.sqlite"
    file.write_text(to_toml(SWEEP))
    assert main(["sweep", str(file), "--json", "--store", str(store_file)]) == 2
    captured = capsys.readouterr()
    assert (
        captured.out == ""
        and captured.err.startswith("grid points must be at most 0 within 1e-12 hours")
        and captured.err.count("\n") == 1
    )
    with Store(store_file) as store:
        assert any(store.results(job, SWEEP.trials) for job in SWEEP.jobs)


def test_the_pace_is_looked_at_once_a_minute_after_the_first_results(clock, monkeypatch):
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "1")
    results = SweepResults(SWEEP)
    left = Pace(results)
    for clock[0], job in zip((1000.0, 1059.0), SWEEP.jobs, strict=False):
        add(results, job, 1.0)
        left.require_time(SWEEP.total)
    clock[0] = 4601.0
    with pytest.raises(InputError, match="within 1 hours"):
        left.require_time(SWEEP.total)
    left.require_time(SWEEP.total)
