"""Limits on the runs and sweeps of a browser: every page refuses one more with a sentence."""

import pytest

from tests.ui.driving import drawn, errors, opened
from tests.waiting import PATIENCE

LONG = {"solvers": "pairwise-moment", "p": "200", "x-axis": "n", "x-from": "10000", "x-to": "20000", "x-points": "4"}
LONG |= {"trials": "1000"}


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def pressed(at, key):
    return drawn(at.button(key=key).click().run())


@pytest.mark.slow
def test_sweeps_count_towards_the_runs_that_a_browser_may_have(monkeypatch):
    monkeypatch.setenv("LRLAB_BROWSER_RUNS", "1")
    at = pressed(opened("sweep", "a" * 32, **LONG, seed="2003"), "transition-run")
    first = at.session_state["transition:run"]
    assert first.alive
    for page in ("converge", "transition"):
        other = pressed(opened(page, "a" * 32), f"{page}-run")
        assert any("runs must be fewer than 1 in this browser, got 1" in error for error in errors(other))
        assert f"{page}:run" not in other.session_state
    first.cancel()
    assert first.wait(PATIENCE)


def test_a_paused_sweep_is_not_resumed_beside_another(monkeypatch):
    at = pressed(opened("sweep", "b" * 32, **LONG, seed="2004"), "transition-run")
    first = at.session_state["transition:run"]
    pressed(at, "transition-pause")
    assert first.wait(PATIENCE) and first.state == "paused"
    monkeypatch.setenv("LRLAB_BROWSER_RUNS", "1")
    second = pressed(opened("sweep", "b" * 32, **LONG, seed="2005"), "transition-run").session_state["transition:run"]
    at = pressed(drawn(at.run()), "transition-resume")
    assert any("cancel one, or close its tab" in error for error in errors(at)) and not first.alive
    second.cancel()
    assert second.wait(PATIENCE)
    pressed(drawn(at.run()), "transition-resume")
    assert first.alive
    first.cancel()
    assert first.wait(PATIENCE)
