"""The crosshair of the phase diagram shows the first trial of a grid point, chosen by sliders or a click."""

import numpy as np
import pytest

from lrlab.runs.run import run_job, trial_spec
from lrlab.ui.sweep import crosshair, sweep_offers
from tests.ui import driving
from tests.ui.driving import errors, figure, finished, words
from tests.waiting import until

SMALL = {
    "d1": "8",
    "d2": "7",
    "x-from": "1",
    "x-to": "2",
    "x-points": "2",
    "y-from": "10",
    "y-to": "120",
    "y-points": "3",
}
PLACE = "transition:place"


def opened(**address):
    """Return the phase diagram of a small plane."""
    return driving.opened("transition", **{**SMALL, **address})


def settled(at):
    """Draw the page again until the runs of its cell are over, as the live channel has it."""
    at.run()
    runs = at.session_state["transition:cell"][1]
    until(lambda: (runs.refresh(), not runs.alive)[1])
    return at.run()


def sweep_of(at):
    return at.session_state["transition:run"].sweep


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
def test_a_cell_is_shown_beside_the_map_as_its_first_trial_runs():
    at = finished(opened(crosshair="true", trials="1"), "transition")
    at.run()
    assert not errors(at)
    sweep = sweep_of(at)
    ranks, sizes = sweep.grid.values()
    for place in ((0, 2), (1, 0)):
        at.session_state[PLACE] = place
        settled(at)
        [job] = crosshair.jobs_at(sweep, place)
        [cell] = [one for one in sweep.cells if tuple(one.axes.values()) == (ranks[place[0]], sizes[place[1]])]
        assert job.spec == trial_spec(cell.job.spec, 0)
        drawn = figure(at, "transition-cell-curves")["data"][0]
        assert drawn["name"] == "Gauss-Newton"
        count = 1 if run_job(job).rows[-1]["weakest_error"] < 0.1 else 0
        assert f"recovered by {count} of 1 solvers" in words(at, "transition.cell-sentence")
        lines = figure(at, "transition-map")["data"][-1]
        assert lines["mode"] == "lines" and lines["x"][0] == ranks[place[0]] and lines["y"][-1] == sizes[place[1]]


@pytest.mark.usefixtures("engine")
def test_a_slider_answers_each_position_and_a_click_moves_the_crosshair(monkeypatch):
    at = finished(opened(crosshair="true", trials="1"), "transition")
    at.run()
    sweep = sweep_of(at)
    drag = at.session_state["live:tab"].previews["transition.crosshair.m"]
    # A slow worker needs some tries.
    until(lambda: any(np.isfinite(one.y).any() for one in drag.show(0)["transition.cell-curves"].data[:1]))
    parts, low = drag.show(0), list(sweep.grid["m"])[0]
    assert parts["transition.map"].data[-1].y[-1] == low
    assert f"{low:g} measurements for" in parts["transition.cell-sentence"]
    values = [own[-1] for own in sweep.grid.values()]
    data = [*values, "Gauss-Newton"]
    click = sweep_offers.open_on_click(sweep, 2, together=True, crossed="transition")
    state = {}
    monkeypatch.setattr(crosshair.st, "session_state", state)
    click({"customdata": data})
    assert state == {PLACE: [len(own) - 1 for own in sweep.grid.values()]}


def test_there_is_none_unless_it_is_wanted():
    at = opened(crosshair="false")
    assert "transition.cell-sentence" not in str(at.main)
