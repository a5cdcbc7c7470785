"""Stores of earlier releases: opened, and their trials used again where today's code gives the same."""

import json
import math
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import lrlab
from lrlab import catalog
from lrlab.__main__ import main
from lrlab.store import code_version, old_stores, store_file
from lrlab.store.store import Store

OLD = Path(__file__).with_name("format2.sqlite")
"""Written by the release before format 3: three sweeps of two trials each cell."""
SHIPPED = old_stores.TABLE
STALE = {"gauss-newton", "leml-squared", "logistic", "pairwise-moment", "tangent-descent"}
"""Solvers whose numbers have changed."""


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """Take the table as it would be written today: what is tested is what is done with it."""
    table = tmp_path / "table.json"
    table.write_text(json.dumps(old_stores.equivalent(json.loads(old_stores.TABLE.read_text()))))
    monkeypatch.setattr(old_stores, "TABLE", table)


@pytest.fixture
def path(tmp_path):
    return Path(shutil.copy(OLD, tmp_path / "old.sqlite"))


def definitions(path):
    with closing(store_file.connect(path)) as connection:
        return [text for (text,) in connection.execute("SELECT definition FROM sweeps ORDER BY changed")]


def test_an_old_store_opens_and_its_trials_are_used_again(path, tmp_path, capsys):
    counted = []
    for text in definitions(path):
        (tmp_path / "sweep.toml").write_text(text)
        assert main(["sweep", str(tmp_path / "sweep.toml"), "--store", str(path), "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        counted.append((document["trials_run"], document["trials_reused"]))
    # The four of leml-squared have other numbers since it takes its steps in single precision.
    assert counted == [(16, 8), (8, 0), (4, 4)], "all whose end the old store tells"


def test_trials_that_were_carried_over_are_those_of_today(path):
    """Their scores to the last digit; what they are said to have ended as, where that has changed."""
    with Store(path) as store:
        groups = store.groups()
        assert {group.solver for group in groups if group.stale} == STALE
        rows = [row for group in groups for row in store.rows(group)]
    assert len(rows) == 40
    for row in rows:
        if row["trial"] or row["stale"]:
            continue
        entry = catalog.solver(row["solver"], row["model"])
        spec = catalog.MODELS[row["model"]]
        parameters = {name: row[name] for name in spec().values() if name in row}
        again = solve(spec(**parameters), entry, row)
        assert again.stop.name == row["stop"] and len(again.rows) == row["iterations"]
        assert row["stop"] == ("FINISHED" if row["solver"] in ("marginal-mean", "cplst") else "CONVERGED")
        assert (row["residual"] is None or math.isnan(row["residual"])) == (row["stop"] == "FINISHED")
        for name, value in again.rows[-1].items():
            if name not in ("iteration", "seconds"):
                assert row[name] == pytest.approx(value, rel=1e-12, nan_ok=True)


def solve(spec, entry, row):
    return lrlab.solve(spec, entry.name, **{name: row[name] for name in entry.settings})


def test_conversion_is_one_transaction_and_done_once(path, monkeypatch):
    with closing(store_file.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (store_file.FORMAT,)
        assert connection.execute("SELECT sum(trials) FROM cells").fetchone() == (40,)
        assert connection.execute("SELECT count(*) FROM cells WHERE trials = 0").fetchone() == (0,)
    before = definitions(path)
    monkeypatch.setattr(old_stores, "convert", lambda *arguments: pytest.fail("converted again"))
    assert definitions(path) == before


def test_a_conversion_that_fails_leaves_the_old_store(path, monkeypatch):
    monkeypatch.setattr(old_stores, "_move_trials", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Store(path)
    monkeypatch.undo()
    with Store(path) as store:
        assert sum(group.trials for group in store.groups()) == 40


def test_a_later_change_of_numbers_makes_old_trials_stale(path, edit):
    edit("lrlab.solvers.single_index.moment_methods", "mean /= n", "mean /= n + 1")
    with Store(path) as store:
        stale = {group.solver for group in store.groups() if group.stale}
    assert stale == STALE | {"marginal-mean"}


def test_the_table_names_solvers_of_today():
    table = json.loads(SHIPPED.read_text())
    assert {model: set(known) for model, known in old_stores.equivalent(table).items()} == {
        model: set(known) for model, known in table.items()
    }, "python -m lrlab.store.old_stores writes it anew, after changes that leave all numbers as they are"
    made = old_stores.equivalent({"multilabel": {"cplst": "of a release", "none": "x"}, "none": {}})
    assert made == {"multilabel": {"cplst": {"of a release": code_version.version("multilabel", "cplst")}}}


@pytest.mark.parametrize(
    ("solver", "stop", "iterations", "residual", "today"),
    [
        ("marginal-mean", "CONVERGED", 1, 0.0, "FINISHED"),
        ("pairwise-moment", "CONVERGED", 9, 1e-9, "CONVERGED"),
        ("pairwise-moment", "MAX_ITER", 9, 0.1, "MAX_ITER"),
        ("geco", "CONVERGED", 5, None, "FINISHED"),
        ("svm", "CONVERGED", 2, None, "FINISHED"),
        ("svm", "CONVERGED", 4, None, None),
        ("logistic", "CONVERGED", 9, 1e-7, None),
        ("altmin", "CONVERGED", 5, 0.1, "EXHAUSTED"),
        ("altmin", "CONVERGED", 5, 1e-9, "CONVERGED"),
        ("ep-rom", "CONVERGED", 9, 1e-9, "SETTLED"),
        ("ep-rom", "CONVERGED", 9, 0.0, None),
        ("anything", "", 0, None, None),
    ],
)
def test_how_a_stored_run_is_said_to_have_ended(solver, stop, iterations, residual, today):
    cell = old_stores.Cell("polynomial-network", solver, {"precision": "double"}, 1e-8)
    ending = old_stores._stop_today(cell, stop, iterations, residual)
    assert (ending and ending.name) == today
