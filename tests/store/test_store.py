"""The store: nothing is computed twice, nothing that was finished is lost, nothing that is not its own is touched."""

import csv
import json
import math
import os
import re
import shutil
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from lrlab import InputError, solve, spec
from lrlab.__main__ import main
from lrlab.engine.results import LocalResults
from lrlab.linalg import hard_threshold
from lrlab.model_entry import Success
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, TrialResult, run_traced, run_trial, trial_spec
from lrlab.store.store import Store, export, get_shared_store
from lrlab.sweeps import run as running
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.toml import parse, to_toml

SWEEP = Sweep(
    spec=spec("one-bit-sensing", n=200, p=5),
    axes={"noise": [0.1, 1.0], "ratio": [1, 20]},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=3,
    success=Success("error", below=0.5),
)
TOTAL = 2 * (1 + 2) * 3
"""pairwise-moment does not run at n = p."""


def swept(sweep, store):
    """Run a sweep here; return trials computed and reused, and the table."""
    results = run(sweep, store, LocalResults)
    # As text nan equals nan.
    return results.computed, results.reused, json.dumps(cell_rows(results))


def made(*numbers, job=SWEEP.jobs[0], **scores):
    """Return results of trials as if they had been computed."""
    return {Trial(job, n): TrialResult(n, "CONVERGED", 3, 0.1, scores or {"error": 0.25}) for n in numbers}


def test_threads_share_one_temporary_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LRLAB_STORE", str(tmp_path))
    with ThreadPoolExecutor(16) as pool:
        [store] = {*pool.map(lambda _: get_shared_store(), range(16))}
    assert store.warning and store.path.name == "temporary.sqlite"


@pytest.mark.parametrize("name", ["store.sqlite", ":memory:"])
def test_nothing_is_computed_twice(name, tmp_path, monkeypatch):
    """The file may have any name."""
    monkeypatch.chdir(tmp_path)
    with Store(Path(name)) as store:
        first = swept(SWEEP, store)
    assert first[:2] == (TOTAL, 0)
    with Store(Path(name)) as store:
        assert swept(SWEEP, store) == (0, TOTAL, first[2])
        assert swept(parse(to_toml(SWEEP)), store) == (0, TOTAL, first[2]), "however it was defined"
        wider = replace(SWEEP, axes={"noise": [0.1, 0.5, 1.0], "ratio": [1, 20]})
        assert swept(wider, store)[:2] == (TOTAL // 2, TOTAL), "only the new cells"
        assert swept(replace(wider, trials=5), store)[:2] == (TOTAL, TOTAL * 3 // 2), "only the further trials"
        assert swept(SWEEP, store) == (0, TOTAL, first[2])
        assert swept(replace(SWEEP, settings={"pairs": "all"}), store)[0] == 6, "of the one solver that has this option"
        assert swept(replace(SWEEP, settings={"max_seconds": 5}), store)[0] == TOTAL
        assert swept(replace(SWEEP, spec=SWEEP.spec.replace(seed=1)), store)[0] == TOTAL
        assert sum(group.trials for group in store.groups()) == len([*store.rows()])


def test_cells_count_what_was_measured():
    with Store() as store:
        rows = cell_rows(run(SWEEP, store, LocalResults))
        job = next(job for job in SWEEP.jobs if job.solver == "pairwise-moment")
        traces = [solve(trial_spec(job.spec, t), job.solver) for t in range(3)]
        errors = [trace.metrics["error"] for trace in traces]
        row = next(row for row in rows if row["solver"] == job.solver and row["trials"])
        assert row["metrics"]["error"] == pd.Series(errors).quantile([0.25, 0.5, 0.75]).tolist()
        assert row["successes"] == sum(error < 0.5 for error in errors)
        assert row["stops"] == Counter(trace.stop.name for trace in traces)
        assert [r["trials"] for r in rows] == [0, 3, 3, 3] * 2 and rows[0]["refused"].startswith("n must be")
        with pytest.raises(InputError, match="metric must be one that these trials have .*, got support"):
            swept(replace(SWEEP, success=Success("support", above=0.9)), store)


def test_a_changed_solver_makes_its_own_trials_stale_and_no_others(path, edit):
    with Store(path) as store:
        before = swept(SWEEP, store)
        edit("lrlab.solvers.single_index.moment_methods.hard_threshold", lambda b, s: hard_threshold(b, s))
        assert {group.solver: group.stale for group in store.groups()} == {
            "marginal-mean": True,
            "pairwise-moment": False,
        }
        assert swept(SWEEP, store) == (12, 6, before[2])
        assert store.prune() == 12 and store.prune() == 0
        assert [(group.solver, group.trials, group.stale) for group in store.groups()] == [
            ("marginal-mean", 12, False),
            ("pairwise-moment", 6, False),
        ]
        assert swept(SWEEP, store) == (0, TOTAL, before[2])


def test_seeds_and_traces_of_trials_are_those_that_stores_hold():
    """Where these change, `code_hash.EDITION` has to."""
    one_bit = spec("one-bit-sensing", n=500)
    assert [trial_spec(one_bit, t).seed for t in range(2)] == [4274526460, 461802117]
    rows = run_traced(Trial(make_job(one_bit, "gamp", max_iter=3), 1))
    columns = ["iteration", "residual", "error", "overlap", "misfit"]
    held = [[row[name] for name in columns] for row in rows]
    assert held == [
        pytest.approx([1, 0.1650804284, 0.2367624125, 0.9447291411, 0.1902737169], rel=1e-6),
        pytest.approx([2, 0.0778305447, 0.1087404015, 0.9882104796, 0.0954952552], rel=1e-6),
        pytest.approx([3, 0.0398523577, 0.0682555330, 0.9953466084, 0.0645205670], rel=1e-6),
    ]
    assert {(row["solver"], row["trial"], row["seed"], row["stop"]) for row in rows} == {
        ("gamp", 1, 461802117, "MAX_ITER")
    }


def test_what_is_there_already_stays_to_the_last_digit(path):
    scores = {"error": math.inf, "residual": math.nan, "overlap": 0.1 + 0.2, "objective": -math.inf}
    with Store(path) as store, Store(path) as other:
        store.add(made(9, **scores))
        assert repr(store.results(SWEEP.jobs[0], 10)[9].scores) == repr(scores)
        store.add(made(0, 1))
        other.add(made(1, error=7.0) | made(2))
        assert [o.scores["error"] for o in store.results(SWEEP.jobs[0], 9).values()] == [0.25] * 3
        assert store.groups()[0].trials == 4 and store.results(SWEEP.jobs[0], 2).keys() == {0, 1}


def test_a_trial_that_fails_is_not_kept_and_tried_again(monkeypatch):
    def fragile(item):
        return run_trial(item) if item[1] else 1 / 0

    with Store() as store:
        monkeypatch.setattr(running, "run_trial", fragile)
        done = run(SWEEP, store, LocalResults)
        assert (done.computed, done.reused, len(done.failures)) == (TOTAL - 6, 0, 6)
        rows = cell_rows(done)
        assert [(row["trials"], row["failed"]) for row in rows] == [(0, 0), (2, 1), (2, 1), (2, 1)] * 2
        assert "ZeroDivisionError" in next(iter(done.failures.values()))
        monkeypatch.undo()
        assert swept(SWEEP, store)[:2] == (6, TOTAL - 6)


def files(folder):
    return {entry.name: entry.read_bytes() for entry in folder.iterdir() if not entry.name.endswith(("-shm", "-wal"))}


def spoil(path, start, bytes_):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(bytes_)


def executed(script):
    """Return what runs a script of SQL on a store."""

    def harm(path):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(script)

    return harm


FOREIGN, DAMAGED = "store must be a store of lrlab, got", "it is damaged: recover it with `sqlite3 "
OTHER_FORMAT = "store must be of format 4, got .*: another version of lrlab wrote it \\(format "
NO_FILE = "store must be a file that can be read and written, .*: it is not a regular"


@pytest.mark.attempt("a store with damaged rows, columns, tables or pages", "one sentence that says how to recover it")
@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda path: path.write_text("my thesis"), f"{FOREIGN} .*: it holds something else"),
        (lambda path: path.write_bytes(b"SQLite format 3\0"), FOREIGN),
        (lambda path: spoil(path, 68, b"abcd"), FOREIGN),
        (lambda path: spoil(path, 60, (5).to_bytes(4, "big")), f"{OTHER_FORMAT}5"),
        (lambda path: spoil(path, 60, (3).to_bytes(4, "big")), f"{OTHER_FORMAT}3"),
        (lambda path: path.unlink() or path.mkdir(), NO_FILE),
        (lambda path: path.unlink() or os.mkfifo(path), NO_FILE),
        (lambda path: path.unlink() or path.symlink_to("/dev/null"), NO_FILE),
        (executed("UPDATE trials SET metrics = '[0.1' WHERE cell = 2 AND trial = 3"), DAMAGED),
        (executed("UPDATE trials SET metrics = '[0.1, x]' WHERE cell = 2 AND trial = 3"), DAMAGED),
        (executed("UPDATE trials SET metrics = CAST(x'1b5b33316dff' AS TEXT) WHERE cell = 2 AND trial = 3"), DAMAGED),
        (executed("ALTER TABLE trials DROP COLUMN seconds"), DAMAGED),
        (executed("DROP TABLE cells"), DAMAGED),
        (lambda path: spoil(path, 3 * 4096, os.urandom(4096)), DAMAGED),
        (lambda path: spoil(path, path.stat().st_size - 2 * 4096, os.urandom(4096)), DAMAGED),
    ],
)
def test_what_is_foreign_damaged_or_of_another_format_is_one_sentence_and_stays(tmp_path, path, harm, sentence, capsys):
    wide = replace(SWEEP, trials=200)
    with Store(path) as store:
        for job in wide.jobs:
            store.add(made(*range(wide.trials), job=job))
    harm(path)
    before = files(tmp_path) if path.is_file() else None
    definition, out = tmp_path.parent / f"{tmp_path.name}.toml", tmp_path.parent / f"{tmp_path.name}.csv"
    definition.write_text(to_toml(wide))
    for arguments in (["sweep", str(definition), "--store"], ["store", "--export", str(out)], ["store", "--prune"]):
        if (sentence, arguments[-1]) != (DAMAGED, "--prune"):
            assert main([*arguments, str(path)]) == 2
            printed = capsys.readouterr()
            assert printed.out == "" and printed.err.count("\n") == 1 and "\x1b" not in printed.err
            assert re.search(sentence, printed.err), printed.err
    assert before is None or files(tmp_path) == before


@pytest.mark.attempt("a store that was written in part", "lrlab retains whole batches, the sweep goes on")
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.7, 0.999, 1.0])
def test_a_half_written_store_has_whole_batches_and_goes_on(tmp_path, path, share):
    copy = tmp_path / "copy.sqlite"
    with Store(path) as store:
        for batch in range(10):
            store.add(made(*range(10 * batch, 10 * batch + 10)))
        # As the machine would have left it, had it stopped while the log was written.
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    log = Path(f"{copy}-wal")
    os.truncate(log, int(share * log.stat().st_size))
    with Store(copy) as store:
        found = store.results(SWEEP.jobs[0], 1000).keys()
        assert len(found) % 10 == 0 and found == set(range(len(found)))
        assert sum(group.trials for group in store.groups()) == len(found) and (share < 1 or len(found) == 100)
        store.add(made(*range(100)))
        assert store.groups()[0].trials == 100


def test_an_empty_file_becomes_a_store_and_a_missing_one_only_where_it_is_wanted(path):
    with pytest.raises(InputError, match="store must be an existing file"):
        Store(path, create=False)
    path.touch()
    with Store(path) as store:
        assert [export(store, path.with_name(name)) for name in ("none.csv", "none.parquet")] == [0, 0]
        store.add(made(0))
    with Store(path, create=False) as store:
        assert store.groups()[0].trials == 1
    assert {entry.name for entry in path.parent.iterdir()} == {path.name, "none.csv", "none.parquet"}
    with pytest.raises(InputError, match="store must be a file that can be read and written"):
        Store(path.parent / "nowhere" / "store.sqlite")


def test_the_shell_lists_exports_and_prunes(path, tmp_path, capsys, edit):
    with Store(path) as store:
        swept(SWEEP, store)
    out = tmp_path / "trials.csv"
    assert main(["store", str(path), "--export", str(out)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 4 and "marginal-mean  12 trials at 4 grid points  current" in shown[0]
    assert main(["store", str(path), "--export", str(tmp_path / "trials.parquet")]) == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == TOTAL and {"noise", "n", "seed", "base_seed", "trial", "error", "stop", "pairs"} <= set(rows[0])
    again = solve(
        SWEEP.spec.replace(n=int(rows[0]["n"]), noise=rows[0]["noise"], seed=rows[0]["seed"]), "marginal-mean"
    )
    assert again.metrics["error"] == float(rows[0]["error"]), "a row opens its own trial"
    parquet = pd.read_parquet(tmp_path / "trials.parquet")
    assert list(parquet.columns) == list(rows[0]) and parquet["n"].dtype == "int64"
    assert [float(row["error"]) for row in rows] == parquet["error"].tolist(), "to the last digit"
    capsys.readouterr()
    edit("lrlab.solvers.single_index.moment_methods.hard_threshold", lambda b, s: hard_threshold(b, s))
    assert main(["store", str(path), "--prune", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["trials_pruned"] == 12 and [group["solver"] for group in document["groups"]] == ["pairwise-moment"]
    for bad, sentence in [("trials.xls", "ends in .csv or .parquet"), ("no/trials.csv", "can be written")]:
        assert main(["store", str(path), "--export", str(tmp_path / bad)]) == 2
        assert sentence in (message := capsys.readouterr().err) and message.count("\n") == 1
