"""Stores that other processes remove, replace, lock or kill; LRLAB_KILLS is the number of shells that are killed."""

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lrlab import spec
from lrlab.__main__ import main
from lrlab.engine.results import LocalResults
from lrlab.runs.run import run_trial
from lrlab.store import store as stores
from lrlab.store.store import Store
from lrlab.sweeps import run as running
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.toml import parse, to_toml
from tests.waiting import until

SWEEP = Sweep(
    spec=spec("one-bit-sensing", n=200, p=5),
    axes={"noise": [0.1, 0.5, 1.0]},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=20,
)
TOTAL = 120


def stored_trials(path):
    """Return the number of trials in a store, 0 before it is one; cheaper than to open a `Store`."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM trials").fetchone()[0])
    return 0


def one_by_one(function, items):
    return LocalResults(function, items, batch_seconds=0.0)


def remove_all(path):
    for file in path.parent.iterdir():
        file.unlink()


def replace_by_another(path):
    remove_all(path)
    with Store(path) as store:
        store.add_items({b"another": 1})


def replace_by_text(path):
    path.unlink()
    path.write_text("my thesis")


@pytest.mark.slow
@pytest.mark.attempt("a store removed or replaced during a sweep", "a sentence and status 1; run again, it resumes")
@pytest.mark.parametrize("remove", [Path.unlink, remove_all, replace_by_another, replace_by_text])
def test_a_store_that_is_removed_during_a_sweep_ends_it(path, tmp_path, capsys, monkeypatch, remove):
    definition = tmp_path.parent / f"{tmp_path.name}.toml"
    definition.write_text(to_toml(SWEEP))

    def removing(trial):
        if trial.number == 3 and not removed:
            removed.append(remove(path))
        return run_trial(trial)

    removed = []
    monkeypatch.setattr(running, "run_trial", removing)
    monkeypatch.setattr("lrlab.engine.engine.Engine.map", lambda self, *work: one_by_one(*work))
    command = ["sweep", str(definition), "--store", str(path)]
    assert main(command) == 1
    sentence = capsys.readouterr().err
    assert "was removed or replaced while it was in use: run this again" in sentence and sentence.count("\n") == 1
    if remove is replace_by_text:
        assert path.read_text() == "my thesis"
        return
    assert main(command) == 0 and stored_trials(path) == TOTAL


@pytest.fixture
def lock(path):
    """Return what locks the store, as another program does, until the returned connection is closed."""
    others = []

    def locked():
        others.append(sqlite3.connect(path, isolation_level=None, check_same_thread=False))
        others[-1].execute("BEGIN EXCLUSIVE")
        return others[-1]

    yield locked
    for other in others:
        other.close()


def test_a_locked_store_is_waited_for(path, lock):
    with Store(path) as store:
        # So that nothing is imported while the store is locked.
        run(replace(SWEEP, trials=1), store, LocalResults)
        threading.Timer(0.5, lock().close).start()
        assert run(SWEEP, store, LocalResults).computed == TOTAL - TOTAL // 20


@pytest.mark.slow
@pytest.mark.attempt("a store locked by another program", "waited for, then a sentence with what is stored")
def test_a_store_that_stays_locked_ends_the_sweep_with_what_is_stored(path, lock, tmp_path, monkeypatch, capsys):
    definition = tmp_path / "sweep.toml"
    definition.write_text(to_toml(SWEEP))
    monkeypatch.setattr(stores, "LOCK_WAIT_SECONDS", 0.5)
    locked = []

    def locking(trial):
        if trial.number == 3 and not locked:
            locked.append(lock())
        return run_trial(trial)

    monkeypatch.setattr(running, "run_trial", locking)
    monkeypatch.setattr("lrlab.engine.engine.Engine.map", lambda self, *work: one_by_one(*work))
    assert main(["sweep", str(definition), "--store", str(path)]) == 1
    locked[0].close()
    *_, sentence = capsys.readouterr().err.splitlines()
    stored = stored_trials(path)
    holds = f"run this again. {path} holds {stored} trials of this sweep: the same command resumes."
    assert 0 < stored < TOTAL and f"locked by another program: end that program, and {holds}" in sentence


def together(path, *starts):
    """Run the sweep in threads with stores of their own; return the results."""

    def one(start):
        with Store(path) as store:
            return run(SWEEP, store, start)

    with ThreadPoolExecutor(len(starts)) as threads:
        return [*threads.map(one, starts)]


def slow(function, items):
    def later(item):
        time.sleep(0.002)
        return function(item)

    return LocalResults(later, items, batch_seconds=0.01)


@pytest.mark.slow
def test_thirty_of_one_process_make_a_store_and_divide_a_sweep(path):
    with Store() as store:
        expected = json.dumps(cell_rows(run(SWEEP, store, LocalResults)))
    done = together(path, *[slow] * 30)
    assert sum(results.computed for results in done) == TOTAL
    assert {results.computed + results.reused for results in done} == {TOTAL}
    assert {json.dumps(cell_rows(results)) for results in done} == {expected}


@pytest.mark.slow
def test_a_trial_that_failed_elsewhere_is_tried_here(path):
    def failing(function, items):
        def fails(item):
            time.sleep(0.002)
            return function(item) if item.number else 1 / 0

        return LocalResults(fails, items, batch_seconds=0.01)

    Store(path).close()
    first, second = together(path, failing, slow)
    assert second.computed + second.reused == TOTAL and not second.failures
    assert len(first.failures) + first.computed + first.reused >= TOTAL


KILLS = int(os.environ.get("LRLAB_KILLS", "1"))
FOLDERS = ("lrlab-", "pymp-", "dask-")
"""First letters of the names of an engine's temporary folders."""
ENDS = {signal.SIGKILL: "", signal.SIGINT: "Interrupted. ", signal.SIGTERM: ""}
"""Signals that end a shell, and how its sentence begins."""
TRIALS = 20 + 10 * KILLS
DEFINITION = f"""
model = "one-bit-sensing"
solvers = ["pairwise-moment", "sir"]
trials = {TRIALS}
[spec]
p = 20
[axes]
noise = [0.1, 0.5, 1.0]
ratio = [20, 60]
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return the command of a sweep whose store and temporary files all lie in one folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("LRLAB_SPARE_WORKERS", "1")
    (tmp_path / "sweep.toml").write_text(DEFINITION)
    return [sys.executable, "-m", "lrlab", "sweep", str(tmp_path / "sweep.toml"), "--store", str(tmp_path / "s.sqlite")]


def rows(path):
    """Return all trials of a sound store by cell and number."""
    with closing(sqlite3.connect(path)) as connection:
        table = connection.execute("SELECT cell, trial, seed, stop, iterations, metrics FROM trials").fetchall()
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    trials = {(cell, trial): rest for cell, trial, *rest in table}
    assert len(trials) == len(table), "a trial is stored once"
    return trials


def started(command):
    return subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end(shell, how):
    """End a shell, and ask that its processes end with it and that its sentence says how to go on."""
    others = psutil.Process(shell.pid).children(recursive=True)
    shell.send_signal(how)
    _, message = shell.communicate()
    until(lambda: not any(map(runs, others)))
    words = rf"{ENDS[how]}.* holds \d+ trials of this sweep: the same command resumes.\n"
    assert re.fullmatch(words if ENDS[how] else "", message), message
    assert shell.returncode == (128 + how if ENDS[how] else -how)


@pytest.mark.attempt("`kill -9` of workers and shells at random moments", "nothing stored is lost or doubled")
@pytest.mark.slow
def test_a_sweep_that_is_killed_again_and_again_gives_the_same_table(command, tmp_path):
    path, chance = tmp_path / "s.sqlite", random.Random(7)
    total, before, shell = parse(DEFINITION).total, {}, started(command)
    for kill in range(KILLS):
        # So early that the sweep is far from its end whenever this process has its turn.
        goal = len(before) + chance.randrange(1, total // (4 * KILLS + 8))
        until(lambda: stored_trials(path) >= goal or shell.poll() is not None)  # noqa: B023
        assert shell.poll() is None, "the sweep ended before the kill"
        if kill % 3 == 2:
            workers = [one for one in psutil.Process(shell.pid).children(recursive=True) if not one.children()]
            chance.choice(workers).kill()
        else:
            end(shell, [*ENDS][kill % 3 and chance.randrange(3)])
            shell = started(command)
        now = rows(path)
        assert before.items() <= now.items(), "stored trials stay as they were"
        before = now
    document = json.loads(shell.communicate()[0])
    assert shell.returncode == 0 and document["trials_run"] + document["trials_reused"] == total == stored_trials(path)
    with Store() as whole:
        expected = cell_rows(run(parse(DEFINITION), whole, LocalResults))
    assert document["cells"] == json.loads(json.dumps(expected).replace("NaN", "null"))
    assert not [name for name in os.listdir(tmp_path) if name.startswith(FOLDERS)]
