"""A full disk, a store that can no longer be written, a dead scheduler: each ends in a sentence and can be resumed."""

import resource
import subprocess
import sys
import time
from dataclasses import replace

import psutil
import pytest

from lrlab import spec
from lrlab.engine import engine as engines
from lrlab.engine.engine import get_engine, on_workers
from lrlab.engine.results import LocalResults
from lrlab.runs.job import make_job
from lrlab.store import connection as connections
from lrlab.store.location import SharedStore
from lrlab.sweeps import session
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import SweepRun
from lrlab.sweeps.toml import to_toml

PATIENCE = 60.0
SWEEP = Sweep(spec=spec("one-bit-sensing", n=200, p=5), axes={"noise": [0.1, 1.0]}, solvers=["sir"], trials=100)
QUICK = {"batch_seconds": 0.01}


@pytest.fixture
def home(tmp_path):
    return SharedStore(tmp_path / "trials.sqlite")


def in_small_batches(function, items):
    """Start a stream with many transactions."""
    return LocalResults(function, items, **QUICK)


@pytest.mark.parametrize(
    ("pragma", "sentence"),
    [("max_page_count = 1", "database or disk is full"), ("query_only = ON", "attempt to write a readonly database")],
)
def test_a_store_that_can_no_longer_be_written_ends_a_sweep_in_a_sentence(home, monkeypatch, pragma, sentence):
    whole = connections.connect

    def limited(*given):
        connection = whole(*given)
        connection.execute(f"PRAGMA {pragma}")
        return connection

    with monkeypatch.context() as fault:
        fault.setattr(connections, "connect", limited)
        run = SweepRun(SWEEP, home, session="me")
        run.go_on(in_small_batches)
        assert run.wait(PATIENCE) and run.state == "failed" and not run.alive
        assert run.error == f"The store {home.path} failed: {sentence}."
    with home.open() as store:
        kept = sum(len(store.results(job, SWEEP.trials)) for job in SWEEP.jobs)
        assert kept == run.results.done < SWEEP.total
    run.go_on(in_small_batches)
    assert run.wait(PATIENCE) and (run.state, run.done, run.error) == ("done", SWEEP.total, "")
    assert (run.results.reused, run.results.computed) == (kept, SWEEP.total - kept)
    with home.open() as store:
        assert [past.state for past in session.past(store, "me")] == ["done"]


@pytest.mark.attempt("a disk that is full during a sweep", "one line, and what is stored is used again")
@pytest.mark.soak
@pytest.mark.slow
def test_a_full_disk_ends_the_shell_in_one_line_and_what_is_stored_is_used_again(tmp_path):
    definition, path = tmp_path / "sweep.toml", tmp_path / "trials.sqlite"
    sweep = replace(SWEEP, trials=400)
    definition.write_text(to_toml(sweep))
    command = [sys.executable, "-m", "lrlab", "sweep", str(definition), "--store", str(path)]
    script = "import sys; from lrlab.__main__ import main; import lrlab.shell.sweep as s; "
    # In this process, so that the limit applies only to the process that writes the store.
    script += "import lrlab.engine.engine as e; from lrlab.engine.results import LocalResults; "
    script += "e.get_engine = lambda address: type('Here', (), {'map': staticmethod(LocalResults)}); sys.exit(main())"
    command[1:3] = ["-c", script]
    limit = (90_000, 90_000)
    full = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    )
    assert full.returncode == 1, full.stderr
    assert full.stderr.strip().splitlines()[-1].startswith(f"The store {path} failed: ")
    assert "Traceback" not in full.stderr
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    run, reused = (int(word) for word in again.stdout.splitlines()[-1].split() if word.isdigit())
    assert run + reused == sweep.total and run > 0


@pytest.mark.attempt("`kill -9` of the scheduler", "runs end in a sentence, the next one has another")
@pytest.mark.soak
@pytest.mark.slow
def test_a_dead_scheduler_ends_runs_in_a_sentence_and_the_next_one_has_another(home, monkeypatch):
    monkeypatch.setattr(engines, "_engines", {})
    monkeypatch.setenv("LRLAB_SPARE_WORKERS", "1")
    before = set(psutil.Process().children())
    try:
        get_engine().warm()
        following = get_engine().follow(
            [make_job(spec("one-bit-sensing", p=200), "pairwise-moment", tol=0, max_iter=1_000_000)]
        )
        run = SweepRun(SWEEP, home, session="me")
        run.go_on(on_workers)
        deadline = time.monotonic() + PATIENCE
        while not (following.refresh() and following.runs[0].trace.rows):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (host,) = set(psutil.Process().children()) - before
        host.kill()
        assert following.wait(PATIENCE) and "The engine that ran the job has ended" in following.runs[0].error
        assert run.wait(PATIENCE)
        if run.state == "failed":
            assert run.error.startswith("The engine that ran the job has ended")
        run.go_on(on_workers)
        assert run.wait(PATIENCE) and (run.state, run.done) == ("done", SWEEP.total)
    finally:
        engines.close_engines()
