"""Draw the phase transition: lines get their distance from the measured contour, in a class and on *Learn*."""

import math

import numpy as np
import pytest

from lrlab.engine.results import LocalResults
from lrlab.parameters import InputError
from lrlab.runs.run import TrialResult
from lrlab.ui.classroom import drawing, room, views
from tests.ui import driving
from tests.ui.driving import drawn, errors, figure, figures

COLUMNS = np.linspace(0.05, 0.95, 13)
ROW = 0.075
TRUE = 0.1 + 0.5 * COLUMNS


def trial(one):
    """Succeed below a known line, 0.1 + n/p / 2."""
    spec = one.job.spec
    below = spec.sparsity / spec.n < 0.1 + 0.5 * spec.n / spec.p
    return TrialResult(one.number, "CONVERGED", 10, 0.01, {"error": 1e-6 if below else 1.0})


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Compute all trials at once in this process, with a known line, and forget all classes afterwards."""
    monkeypatch.setattr(drawing, "on_workers", lambda _, trials: LocalResults(trial, trials, math.inf))
    yield
    room._rooms.clear()


def computed():
    results = drawing.begin()
    results.refresh()
    assert not results.alive
    return results


def named(figure, name):
    return [one for one in figure.data if one.name == name]


def test_the_distance_from_a_known_contour_is_measured_in_grid_rows():
    contour = drawing.measured(computed())
    inside = contour["low"].le(TRUE + ROW) & contour["high"].ge(TRUE - ROW)
    assert inside.all() and np.abs(contour["half"] - TRUE).max() < ROW
    near, low, high = drawing.distances([TRUE, TRUE - 3 * ROW, contour["half"] + 2 * ROW], contour)
    assert near < 0.6 and low == pytest.approx(3.0, abs=0.6) and high == pytest.approx(2.0)
    assert drawing.own_words(tuple(contour["half"] + 2 * ROW), contour).startswith("Your line is 2.0 grid rows")
    # A column that does not cross 50% has no distance.
    contour.iloc[:3] = np.nan
    assert drawing.distances([contour["half"].fillna(0.9) + ROW], contour) == pytest.approx([1.0])
    assert "in 10 of 13 columns" in drawing.class_words([], contour)
    contour.iloc[:] = np.nan
    assert not drawing.own_words(tuple(TRUE), contour) and "unknown" in drawing.class_words([tuple(TRUE)], contour)


def test_a_class_of_more_than_sixty_is_drawn_over_the_diagram_and_scored():
    one = room.open_room("teacher", drawing.TITLE, [drawing.DrawnPoll()])
    for member in range(61):
        one.join(str(member))
        one.answer(0, str(member), tuple(TRUE + ROW * (member - 30) / 10))
    before = views.shown(one.round)
    assert sum(map(math.isnan, named(before, "lines of the class")[0].y)) == drawing.MOST_LINES
    hidden = [figure for figure in before.data if figure.type == "heatmap"]
    assert np.isnan([figure.z for figure in hidden]).all() and not named(before, "measured contour")
    one.reveal()
    one.refresh()
    after = views.shown(one.round, one.round.answers["60"])
    assert named(after, "measured contour") and named(after, "your line") and named(after, "Donoho-Tanner")
    assert len(named(after, "lines of the class")[0].y) == 59 * 16
    said = views.in_words(one.round)
    assert (
        "61 lines: the median is 1." in said and "Half of the lines are 0." in said and "determine the contour" in said
    )
    assert len(one.rows) == 61 * 13 and one.rows[0]["s/n drawn"] == pytest.approx(TRUE[0] - 3 * ROW)
    assert one.rows[-1]["drawing"] == 61 and abs(one.rows[-1]["s/n half"] - TRUE[-1]) < ROW


FORGED = {
    "too short": [0.5] * 12,
    "a million numbers": [0.5] * 1_000_000,
    "nan": [0.5] * 12 + [math.nan],
    "huge": [1e308] * 13,
    "texts": ["0.5"] * 13,
    "truths": [True] * 13,
    "nested": [[0.5]] * 13,
    "no list": {"0": 0.5},
    "nothing": None,
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_forged_drawing_is_one_short_sentence(forged):
    with pytest.raises(InputError, match="^drawing must be 13 values from 0.0125 to 0.9875") as error:
        drawing.checked(forged)
    assert len(str(error.value)) < 140 and str(error.value).endswith(": draw the line again")


def test_a_refused_drawing_leaves_the_one_before(monkeypatch):
    one, sent = room.open_room("teacher", drawing.TITLE, [drawing.DrawnPoll()]), [TRUE.tolist()]
    # What the browser would send while the page is drawn.
    monkeypatch.setattr(drawing, "ask", lambda key, line, taken: taken(sent.pop()) if sent else None)
    at = driving.opened("classroom", "student", code=one.code)
    assert not errors(at) and one.round.answers == {"student": tuple(TRUE)}
    sent.append([0.5] * 12 + [math.inf])
    assert len(errors(drawn(at.run()))) == 1 and one.round.answers == {"student": tuple(TRUE)}
    assert "Your line is sent." in [text.value for text in at.markdown][-1] and not figures(at)
    one.reveal()
    one.refresh()
    drawn(at.run())
    assert "Your line is 0." in [text.value for text in at.markdown][-1] and len(figures(at)) == 1


@pytest.mark.slow
def test_one_person_draws_before_anything_is_computed(monkeypatch):
    sent = [[0.5], TRUE.tolist()]
    monkeypatch.setattr(drawing, "ask", lambda key, line, taken: taken(sent.pop()))
    # The run is still alive after the first script, as on workers.
    monkeypatch.setattr(drawing, "on_workers", lambda _, trials: LocalResults(trial, trials, 1e-9))
    at = driving.opened("learn", lesson="draw-the-transition")
    assert "learn:run" not in at.session_state and not figures(at)
    drawn(at.run())
    running = at.session_state["learn:run"]
    assert running.alive and "measured contour" not in [one.get("name") for one in figure(at, "learn-diagram")["data"]]
    while running.alive:
        running.refresh()
    drawn(at.run())
    assert "Your line is 0." in at.markdown[-1].value and "in 13 of 13 columns" in at.markdown[-1].value
    assert "measured contour" in [one.get("name") for one in figure(at, "learn-diagram")["data"]]
    # Another line is scored without another run, and a forged one changes nothing.
    drawn(at.button(key="learn-redraw").click().run())
    assert len(errors(at)) == 1 and "learn:line" not in at.session_state and not figures(at)
