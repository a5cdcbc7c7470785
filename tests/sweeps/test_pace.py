"""The time that is left of a sweep, by its pace; what would take too long ends with the number that fits."""

from dataclasses import replace

import pytest

from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.runs.job import memory_needed, memory_words
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


def test_the_time_that_is_left_follows_from_the_trials_of_this_run(clock):
    results = SweepResults(SWEEP)
    results.reused, left = 40, Pace(results)
    for clock[0], done in ((10.0, 40), (50.0, 44)):
        left(done, 100)
        assert left.seconds_left is None, "stored trials took no time, and workers may need long to start"
    clock[0] = 60.0
    left(54, 100)
    assert left.seconds_left == pytest.approx(46.0)


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
    monkeypatch.setattr(pace, "FIRST_SECONDS", 0.0)


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


def test_a_sweep_may_be_too_slow_a_minute_after_its_first_results(clock, monkeypatch):
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "1")
    left = Pace(SweepResults(SWEEP))
    for clock[0], done in ((1000.0, 1), (1059.0, 2)):
        left(done, 100)
    clock[0] = 1061.0
    with pytest.raises(InputError, match="within 1 hours"):
        left(2, 100)
