"""The list of past sweeps."""

import time

import pytest

from lrlab import InputError, spec
from lrlab.store.store import Store
from lrlab.sweeps import history
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.toml import parse, titled, to_toml

SWEEP = Sweep(spec=spec("one-bit-sensing", p=5), axes={"ratio": [5, 20]}, solvers=["marginal-mean"], trials=3)
OTHER = Sweep(spec=spec("one-bit-sensing", p=6), axes={"ratio": [5, 20]}, solvers=["marginal-mean"], trials=3)


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


def test_a_newer_format_that_only_the_log_knows_of_is_refused(tmp_path):
    path = tmp_path / "newer.sqlite"
    with Store(path) as store, store.writing() as connection:
        connection.execute("PRAGMA user_version = 5")
        connection.execute("COMMIT")
        connection.execute("BEGIN")
        with pytest.raises(InputError, match=r"store must be of format 4, got .*\(format 5\)"):
            Store(path)


def test_a_file_may_have_a_title_and_an_explanation():
    text = f'title = "Signs & noise"\n{to_toml(SWEEP)}'
    assert parse(text) == SWEEP
    read = titled(f'explanation = """\nMore\nis better. """\nreference = "Nobody (2020)"\n{text}')
    assert read == (SWEEP, "Signs & noise", "More\nis better.", "Nobody (2020)")
    assert titled(to_toml(SWEEP)).title == ""
    with pytest.raises(InputError, match="title must be text in quotes, got 7"):
        parse(f"title = 7\n{to_toml(SWEEP)}")
