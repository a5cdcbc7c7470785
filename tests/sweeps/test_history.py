"""The list of past sweeps, and stores of other formats."""

import csv
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.store.store import Store
from lrlab.sweeps import history
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.toml import parse, titled, to_toml

SWEEP = Sweep(spec=spec("one-bit-sensing", p=5), axes={"ratio": [5, 20]}, solvers=["marginal-mean"], trials=3)
OTHER = Sweep(spec=spec("one-bit-sensing", p=6), axes={"ratio": [5, 20]}, solvers=["marginal-mean"], trials=3)

OLD = Path(__file__).parents[1] / "store" / "format2.sqlite"


def noted(store, sweep=SWEEP, session="me", state="running", done=0):
    line = history.Past(session, to_toml(sweep), "Mine", "sweep", state, done, 6, time.time())
    history.note(store, line)


def test_a_session_sees_its_own_sweeps_newest_first():
    with Store() as store:
        noted(store)
        noted(store, OTHER)
        noted(store, session="somebody else")
        noted(store, state="paused", done=4)
        assert [(past.sweep, past.state, past.done) for past in history.past(store, "me")] == [
            (SWEEP, "paused", 4),
            (OTHER, "running", 0),
        ], "a sweep has one line"
        assert len(history.past(store, "me", most=1)) == 1
        history.forget(store, "me", to_toml(SWEEP))
        assert [past.sweep for past in history.past(store, "me")] == [OTHER]
        assert len(history.past(store, "somebody else")) == 1
        with pytest.raises(InputError, match="state must be one of running, .*, got lost"):
            noted(store, state="lost")


@pytest.fixture
def older(tmp_path):
    """Return a store of format 1, with trials."""
    path = tmp_path / "older.sqlite"
    shutil.copy(OLD, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE sweeps; PRAGMA user_version = 1")
    return path


@pytest.mark.parametrize("form", [1, 2])
def test_an_older_store_is_refused_and_exported(older, form, tmp_path, capsys):
    path = older if form == 1 else Path(shutil.copy(OLD, tmp_path / "format 2.sqlite"))
    before = path.read_bytes()
    with pytest.raises(InputError, match=rf"store must be of format 3, got .*\(format {form}\): `store FILE --export"):
        Store(path)
    assert main(["store", str(path), "--export", str(tmp_path / "trials.csv")]) == 0
    assert "40 trials written" in capsys.readouterr().out
    with (tmp_path / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40 and {row["stale"] for row in rows} == {"True"}
    assert sum(float(row["overlap"] or "nan") > 0.0 for row in rows) > 10
    assert path.read_bytes() == before and main(["store", str(path)]) != 0
    path.write_bytes(before[:4096])
    assert main(["store", str(path), "--export", str(tmp_path / "more.csv")]) != 0
    assert "sound store" in capsys.readouterr().err


def test_a_newer_format_that_only_the_log_knows_of_is_refused(tmp_path):
    path = tmp_path / "newer.sqlite"
    with Store(path) as store, store.writing() as connection:
        connection.execute("PRAGMA user_version = 4")
        connection.execute("COMMIT")
        connection.execute("BEGIN")
        with pytest.raises(InputError, match=r"store must be of format 3, got .*\(format 4\)"):
            Store(path)


def test_a_file_may_have_a_title_and_an_explanation():
    text = f'title = "Signs & noise"\n{to_toml(SWEEP)}'
    assert parse(text) == SWEEP
    read = titled(f'explanation = """\nMore\nis better. """\nreference = "Nobody (2020)"\n{text}')
    assert read == (SWEEP, "Signs & noise", "More\nis better.", "Nobody (2020)")
    assert titled(to_toml(SWEEP)).title == ""
    with pytest.raises(InputError, match="title must be text in quotes, got 7"):
        parse(f"title = 7\n{to_toml(SWEEP)}")
