"""Shells and workers end at random points of a sweep: stored trials stay, and the same command finishes it.

The suite ends one shell; `LRLAB_KILLS=100` (`make soak`) ends that many shells and workers.
"""

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import psutil
import pytest

from lrlab.engine.results import LocalResults
from lrlab.store.store import Store
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.toml import parse
from tests.waiting import stored_trials, until

KILLS = int(os.environ.get("LRLAB_KILLS", "1"))
FOLDERS = ("lrlab-", "pymp-", "dask-")
"""First letters of the names of an engine's temporary folders."""
ENDS = {signal.SIGKILL: "", signal.SIGINT: "Interrupted. ", signal.SIGTERM: "Terminated. "}
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
    words = rf"{ENDS[how]}\d+ trials of this sweep are stored in .*: the same command resumes.\n"
    assert re.fullmatch(words if ENDS[how] else "", message), message
    assert shell.returncode == (-how if how is signal.SIGKILL else 128 + how)


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


@pytest.mark.attempt("`SIGTERM` and `kill -9` of shells that share a store", "the others finish the sweep")
@pytest.mark.slow
@pytest.mark.soak
def test_shells_share_a_store_and_one_finishes_what_another_leaves(command, tmp_path):
    path, total = tmp_path / "s.sqlite", parse(DEFINITION).total
    shells = [started(command) for _ in range(3)]
    until(lambda: stored_trials(path) > total // 10)
    end(shells[0], signal.SIGKILL)
    end(shells[1], signal.SIGTERM)
    document = json.loads(shells[2].communicate()[0])
    assert shells[2].returncode == 0 and document["trials_run"] + document["trials_reused"] == total == len(rows(path))
