"""Sweeps in threads of a server: paused, gone on with, looked at, lost and found, with the list of past ones."""

import os
import threading
import time
from dataclasses import replace
from functools import cache, partial
from itertools import count

import pytest

from lrlab import InputError, spec
from lrlab.engine.results import EngineClosed, LocalResults
from lrlab.store import store as stores
from lrlab.store.store import SharedStore, Store, default_path, get_shared_store
from lrlab.sweeps import session
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import SweepRun, get_run, under_way
from lrlab.sweeps.toml import to_toml
from lrlab.ui.shared.progress import ending
from tests.waiting import PATIENCE

SWEEP = Sweep(
    spec=spec("one-bit-sensing", n=200, p=5),
    axes={"noise": [0.1, 1.0], "ratio": [1, 20]},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=3,
)
TOTAL = 18


@pytest.fixture
def home(tmp_path):
    return SharedStore(tmp_path / "trials.sqlite")


class Gate:
    """The sixth trial of all, and all later ones, wait until somebody opens."""

    def __init__(self, results=LocalResults):
        self.open, self.waits, self.begun, self.results = threading.Event(), threading.Event(), 0, results

    def __call__(self, function, items):
        """Start a stream."""

        def gated(trial):
            self.begun += 1
            if self.begun == 6:
                self.waits.set()
                assert self.open.wait(PATIENCE)
            return function(trial)

        return self.results(gated, items, batch_seconds=0.0)


def listed(home):
    with home.open() as store:
        return [(past.title, past.state, past.done, past.total) for past in session.past(store, "me")]


def begun(home, gate, session="me"):
    run = get_run(SWEEP, home, session, "Mine")
    run.go_on(gate)
    assert gate.waits.wait(PATIENCE)
    return run


def test_a_sweep_is_paused_and_gone_on_with(home, monkeypatch):
    # The list has its next line at the end, however long five trials take.
    monkeypatch.setattr(session, "NOTE_SECONDS", PATIENCE)
    gate = Gate()
    run = begun(home, gate)
    assert run.alive and run.computing and run.done == 5 and run.seconds_left > 0
    assert listed(home) == [("Mine", "running", 0, TOTAL)]
    run.pause()
    assert run.alive and not run.computing
    gate.open.set()
    assert run.wait(PATIENCE) and run.state == "paused" and run.seconds_left == 0
    assert listed(home) == [("Mine", "paused", 6, TOTAL)]
    counts = [len(run.results.results(job)) for job in SWEEP.jobs]
    assert counts == [1] * 6, "a sweep that is cut short has measured the whole grid"
    run.go_on(gate)
    assert run.wait(PATIENCE) and (run.state, run.done, run.error) == ("done", TOTAL, "")
    assert listed(home) == [("Mine", "done", TOTAL, TOTAL)]
    run.cancel()
    run.pause()
    assert run.state == "done" and not run.computing, "what is over is over"


def test_what_arrives_as_a_sweep_is_stopped_is_counted(home):
    class Late(LocalResults):
        def cancel(self):
            return [*self.take(), *super().cancel()]

    gate = Gate(Late)
    run = begun(home, gate)
    run.pause()
    gate.open.set()
    assert run.wait(PATIENCE) and (run.state, run.done) == ("paused", 7)
    assert listed(home) == [("Mine", "paused", 7, TOTAL)]
    run.look("paused")
    assert run.wait(PATIENCE) and run.done == 7


def test_a_sweep_that_is_ending_can_be_begun_again(home):
    gate = Gate()
    run = begun(home, gate)
    run.cancel()
    run.pause()
    threading.Timer(0.1, gate.open.set).start()
    run.go_on(gate)
    assert run.wait(PATIENCE) and (run.state, run.done) == ("done", TOTAL)


def test_a_page_that_comes_back_finds_the_run_of_its_own_session(home):
    gate = Gate()
    begun(home, gate)
    assert under_way(SWEEP, home, "me") is get_run(SWEEP, home, "me")
    assert under_way(SWEEP, home, "somebody else") is None
    other = get_run(replace(SWEEP, trials=2), home, "me")
    assert other is not get_run(SWEEP, home, "me") and under_way(other.sweep, home, "me") is None
    run = get_run(SWEEP, home, "me")
    gate.open.set()
    assert run.wait(PATIENCE) and under_way(SWEEP, home, "me") is None


def test_what_is_looked_at_is_read_and_not_computed(home):
    run = SweepRun(replace(SWEEP, trials=2), home)
    run.go_on(LocalResults)
    assert run.wait(PATIENCE) and run.state == "done" and listed(home) == []
    again = SweepRun(SWEEP, home)
    again.look("running")
    assert again.wait(PATIENCE) and (again.state, again.done, again.total) == ("paused", 12, TOTAL)
    with home.open() as store:
        for job in SWEEP.jobs:
            shown, stored = again.results.results(job), store.results(job, 3)
            assert [one.scores["error"] for one in shown.values()] == [one.scores["error"] for one in stored.values()]
            assert shown.keys() == stored.keys() == {0, 1}
    assert {"error", "overlap", "iterations"} <= set(dict(again.results.metrics())[SWEEP.jobs[0]])
    for state, after in (("done", "done"), ("paused", "cancelled")):
        again.look(state)
        again.cancel()
        assert again.wait(PATIENCE) and again.state == after


def test_a_sweep_whose_store_was_removed_is_stored_anew(home):
    run = SweepRun(SWEEP, home)
    for _ in range(2):
        run.go_on(LocalResults)
        assert run.wait(PATIENCE) and (run.state, run.results.computed) == ("done", TOTAL)
        with home.open() as store:
            assert sum(group.trials for group in store.groups()) == TOTAL
        for file in home.path.parent.iterdir():
            file.unlink()
        # As the list of past sweeps does.
        with home.open() as store:
            assert not store.groups()


def test_what_ends_a_sweep_is_reported(home, monkeypatch):
    def refuse(function, items):
        raise InputError("scheduler", "the address of one that answers", "tcp://nowhere", "start one")

    run = SweepRun(SWEEP, home, session="me")
    run.go_on(refuse)
    assert run.wait(PATIENCE) and run.error.startswith("scheduler must be") and run.state == "failed"
    assert listed(home) == [("", "failed", 0, TOTAL)]
    monkeypatch.setattr(Store, "add", lambda self, batch: 1 / 0)
    run.go_on(LocalResults)
    assert run.wait(PATIENCE) and "ZeroDivisionError" in run.error
    with pytest.raises(InputError, match="axes must be such that a solver accepts some grid point"):
        get_run(replace(SWEEP, axes={"n": [2]}, solvers=["pairwise-moment"]), home, "me")


@pytest.mark.slow
@pytest.mark.attempt("a disk that is full during a sweep", "one sentence, and what is stored is used again")
@pytest.mark.parametrize(
    ("pragma", "sentence"),
    [("max_page_count = 1", "database or disk is full"), ("query_only = ON", "attempt to write a readonly database")],
)
def test_a_store_that_can_no_longer_be_written_ends_a_sweep_in_a_sentence(home, monkeypatch, pragma, sentence):
    whole, often = stores.connect, partial(LocalResults, batch_seconds=0.01)

    def limited(*given):
        opened = whole(*given)
        opened.execute(f"PRAGMA {pragma}")
        return opened

    run = SweepRun(replace(SWEEP, trials=60), home, session="me")
    with monkeypatch.context() as fault:
        fault.setattr(stores, "connect", limited)
        run.go_on(often)
        assert run.wait(PATIENCE) and run.state == "failed" and not run.alive
        assert run.error == f"The store {home.path} failed: {sentence}."
    with home.open() as store:
        kept = sum(group.trials for group in store.groups())
    assert kept == run.results.done < run.total
    run.go_on(often)
    assert run.wait(PATIENCE) and (run.state, run.done, run.error) == ("done", run.total, "")
    assert (run.results.reused, run.results.computed) == (kept, run.total - kept)


@pytest.mark.attempt("`SIGTERM` of the server during a sweep", "*interrupted*, with Resume")
def test_a_sweep_whose_server_ends_is_interrupted_and_can_be_resumed(home):
    class Closed(LocalResults):
        def take(self, wait_seconds=0.05):
            raise EngineClosed

    run = SweepRun(SWEEP, home, session="me")
    run.go_on(Closed)
    assert run.wait(PATIENCE) and run.state == "paused" and "run it again" in run.error
    assert listed(home) == [("", "running", 0, TOTAL)], "which the list calls interrupted if nothing runs"
    run.go_on(LocalResults)
    assert run.wait(PATIENCE) and (run.state, run.done, run.error) == ("done", TOTAL, "")


def test_a_lab_without_a_store_of_its_own_says_so_and_goes_on(tmp_path):
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("my thesis")
    home = SharedStore(thesis)
    assert home.warning.startswith("store must be a store of lrlab, got") and home.path != thesis
    assert home.warning.endswith("Until then sweeps are stored only while this server runs.")
    run = SweepRun(SWEEP, home)
    run.go_on(LocalResults)
    assert run.wait(PATIENCE) and run.state == "done" and thesis.read_text() == "my thesis"
    assert SharedStore(tmp_path / "no" / "trials.sqlite").warning and not SharedStore(tmp_path / "new.sqlite").warning


def test_the_shared_store_is_where_it_was_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "_shared", cache(SharedStore))
    monkeypatch.setenv("LRLAB_STORE", str(tmp_path / "chosen.sqlite"))
    assert get_shared_store() is get_shared_store() and get_shared_store().path == tmp_path / "chosen.sqlite"
    monkeypatch.delenv("LRLAB_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert get_shared_store().path == default_path() == tmp_path / "data" / "lrlab" / "trials.sqlite"
    assert not get_shared_store().warning and default_path().exists()
    monkeypatch.setenv("XDG_DATA_HOME", os.devnull)
    assert "Until then" in get_shared_store().warning


def noted(store, sweep=SWEEP, who="me", state="running", done=0):
    session.note(store, session.Past(who, to_toml(sweep), "Mine", state, done, 6, time.time()))


def test_a_session_sees_its_own_sweeps_newest_first():
    other = replace(SWEEP, trials=4)
    with Store() as store:
        noted(store)
        noted(store, other)
        noted(store, who="somebody else")
        noted(store, state="paused", done=4)
        assert [(past.sweep, past.state, past.done) for past in session.past(store, "me")] == [
            (SWEEP, "paused", 4),
            (other, "running", 0),
        ], "a sweep has one line"
        assert len(session.past(store, "me", most=1)) == 1
        session.forget(store, "me", to_toml(SWEEP))
        assert [past.sweep for past in session.past(store, "me")] == [other]
        assert len(session.past(store, "somebody else")) == 1


def test_a_race_pauses_when_its_budget_is_used_and_resumes(home, monkeypatch):
    run = SweepRun(replace(SWEEP, race=True, trials=5), home)
    monkeypatch.setattr(session, "RACE_SECONDS", 0.0)
    run.go_on(partial(LocalResults, batch_seconds=0.0))
    assert (run.seconds_left or 0.0) == 0.0
    assert run.wait(PATIENCE) and run.state == "paused" and 0 < run.done < run.total
    assert ending(run).startswith("The time is used up: ") and ending(run).endswith("Resume goes on.")
    monkeypatch.setattr(session, "RACE_SECONDS", PATIENCE)
    run.go_on(LocalResults)
    assert run.wait(PATIENCE) and run.state == "done" and run.results.complete and not run.spent


def test_a_sweep_pauses_when_its_hours_are_used_and_the_time_left_is_of_computed_trials(home, monkeypatch):
    one_by_one = partial(LocalResults, batch_seconds=0.0)
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "1e-12")
    run = SweepRun(SWEEP, home)
    run.go_on(one_by_one)
    assert run.wait(PATIENCE) and run.state == "paused" and run.spent and run.done < TOTAL
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "inf")
    stored = SweepRun(replace(SWEEP, trials=1), home)
    stored.go_on(one_by_one)
    assert stored.wait(PATIENCE) and stored.state == "done"
    # Each reading of the clock is a second later.
    ticks, left, tell = count(), [], run._progress
    monkeypatch.setattr(session.time, "monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr(run, "_progress", lambda *numbers: (tell(*numbers), left.append(run.seconds_left)))
    run.go_on(one_by_one)
    assert run.wait(PATIENCE) and run.state == "done" and run.results.reused
    assert left[0] is left[1] is None and left[2] > left[-2] > left[-1] == 0.0
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "often")
    run.go_on(one_by_one)
    assert run.wait(PATIENCE) and run.error.startswith("LRLAB_SWEEP_HOURS must be a number")
