"""The teacher's page: off by default, behind a password, with all runs and a button that ends each."""

import threading
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from lrlab import spec
from lrlab.engine.engine import get_engine
from lrlab.engine.stream import LocalStream
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.store.location import get_shared_store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import get_run
from lrlab.ui import teacher
from lrlab.ui.live import channel
from tests.ui.driving import errors

PAGE = Path(__file__).parents[2] / "pages" / "teacher.py"
PASSWORD = "a long enough one: ä"
SWEEP = Sweep(spec=spec("one-bit-sensing", n=100, p=4, seed=77), axes={"noise": [0.1]}, solvers=["sir"], trials=50)


@pytest.fixture(autouse=True)
def quick(engine, monkeypatch):
    """Let the page find the session's engine, and answer wrong passwords at once."""
    monkeypatch.setattr(teacher, "WRONG_SECONDS", 0.0)


def opened_with(given):
    at = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not at.exception and not at.metric and "teacher:opened" not in at.session_state
    at.text_input(key="teacher-password").set_value(given)
    at.button[0].click().run()
    assert not at.exception
    return at


def test_without_a_password_there_is_nothing(monkeypatch):
    monkeypatch.delenv("LRLAB_TEACHER_PASSWORD", raising=False)
    at = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not at.exception and not at.metric and not at.text_input and "LRLAB_TEACHER_PASSWORD" in at.info[0].value
    home = AppTest.from_file(str(PAGE.parents[1] / "app.py"), default_timeout=60).run()
    assert not home.exception


@pytest.mark.parametrize("given", ["", "x", PASSWORD[:-1], PASSWORD + "x", "\ud800", "é" * 3000])
def test_another_password_opens_nothing(monkeypatch, given):
    monkeypatch.setenv("LRLAB_TEACHER_PASSWORD", PASSWORD)
    at = opened_with(given.encode("utf-8", "ignore").decode())
    assert not at.metric and errors(at)[0].startswith("password must be the one")


@pytest.mark.attempt("wrong passwords for the teacher's page, in several tabs", "counted together")
def test_wrong_passwords_in_all_tabs_count_together(monkeypatch):
    monkeypatch.setenv("LRLAB_TEACHER_PASSWORD", PASSWORD)
    monkeypatch.setattr(teacher, "WRONG_SECONDS", 100.0)
    monkeypatch.setattr(teacher, "guesses", teacher.Guesses())
    assert errors(opened_with("wrong"))[0].startswith("password must be the one")
    at = opened_with(PASSWORD)
    assert not at.metric and "given 60 s from now, since one before was wrong" in errors(at)[0]


@pytest.mark.attempt("the same, one after the other", "each doubles the wait")
def test_each_wrong_password_doubles_the_wait_up_to_a_minute(monkeypatch):
    monkeypatch.setenv("LRLAB_TEACHER_PASSWORD", PASSWORD)
    monkeypatch.setattr(teacher, "WRONG_SECONDS", 1.0)
    now = [50.0]
    guesses = teacher.Guesses(lambda: now[0])
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        assert not guesses.is_right("wrong")
        now[0] += seconds - 0.1
        with pytest.raises(InputError, match="given 1 s from now"):
            guesses.is_right(PASSWORD)
        now[0] += 0.1
    assert guesses.is_right(PASSWORD) and not guesses.is_right("wrong")
    now[0] += 1.0
    assert guesses.is_right(PASSWORD)


def test_a_short_password_opens_nothing(monkeypatch):
    monkeypatch.setenv("LRLAB_TEACHER_PASSWORD", "secret")
    at = opened_with("secret")
    assert not at.metric and "at least 12 characters, got 6 characters" in errors(at)[0]


def test_a_sweep_is_listed_and_ended(monkeypatch):
    monkeypatch.setenv("LRLAB_TEACHER_PASSWORD", PASSWORD)
    begun, gate = threading.Event(), threading.Event()

    class Waiting(LocalStream):
        def take(self, wait_seconds=0.05):
            begun.set()
            return super().take() if gate.wait(0.05) else []

    run = get_run(SWEEP, get_shared_store(), "f" * 32, "sweep", "<b>mine</b>")
    run.go_on(Waiting)
    assert begun.wait(30)
    at = opened_with(PASSWORD)
    assert {metric.label for metric in at.metric} >= {"open tabs", "workers", "memory of workers"}
    texts = [text.value for text in at.text]
    assert "<b>mine</b>" in texts and "0 of 50 trials" in texts and "f" * 32 not in texts
    at.button(key="teacher-end-0").click().run()
    assert not at.exception and run.wait(30) and run.state == "cancelled"
    assert "Nothing runs." in [caption.value for caption in at.run().caption]


def test_a_run_of_solvers_is_described_and_the_engine_counts_it(monkeypatch):
    job = make_job(spec("one-bit-sensing", seed=78), "pairwise-moment", tol=0, max_iter=1_000_000)
    following = get_engine().follow([job])
    held = channel.Followed("tab", "f" * 32, "converge", following)
    monkeypatch.setattr(channel.Channel, "under_way", lambda self: [held])
    deadline = time.monotonic() + 30
    while not (following.refresh() and following.runs[0].state == "running"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    state = get_engine().overview()
    assert state is not None and state.running >= 1 and state.memory and min(state.memory.values()) > 10**7
    [row] = teacher.rows()
    assert (row.what, row.progress) == ("one-bit-sensing: pairwise-moment", "0 of 1 done")
    row.end()
    assert following.wait(30) and not following.alive
