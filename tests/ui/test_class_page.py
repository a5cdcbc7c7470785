"""Classes that predict or draw: rooms, polls, the distance of drawn lines, and the pages of student and teacher."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from lrlab import catalog
from lrlab.engine.results import LocalResults
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import TrialResult, run_trial
from lrlab.ui.classroom import room, views
from lrlab.ui.classroom.room import PlacePoll
from lrlab.ui.lessons import drawing
from tests.ui import driving
from tests.ui.driving import drawn, errors, figure, figures, opened, words

visit = partial(opened, "classroom")


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Compute in this process, drawn lines with a known contour, and forget all classes afterwards."""
    monkeypatch.setattr(room, "on_workers", lambda function, items: LocalResults(function, items, math.inf))
    monkeypatch.setattr(drawing, "on_workers", lambda _, trials: LocalResults(trial, trials, math.inf))
    yield
    room._rooms.clear()


def begun(owner="teacher"):
    return room.open_room(owner, "Why one bit is enough", room.of_lesson("one-bit", 1))


def test_a_browser_has_one_prediction_a_round_and_none_once_it_is_computed():
    one = begun()
    for member, option in (("a", 0), ("b", 2), ("a", 2)):
        one.join(member)
        one.answer(0, member, option)
    assert one.round.counts == [0, 0, 2] and len(one.members) == 2
    present = room.Present(one)
    one.reveal()
    assert one.round.state == room.RUNNING and not present.alive
    one.answer(0, "b", 1)
    while one.round.state == room.RUNNING:
        one.refresh()
    assert one.round.truth.right == 2 and one.round.counts == [0, 0, 2]
    assert "Right is: .9" in views.in_words(one.round)
    one.ask(1)
    assert one.round.poll.number == 2 and one.round.state == room.OPEN and len(one.members) == 2
    one.answer(0, "a", 1)
    assert one.round.counts == [0, 0, 0], "a prediction of the round before comes too late"
    rows = [row for row in one.rows if row["predictions"]]
    assert [(row["round"], row["option"], row["right"]) for row in rows] == [(1, ".9", 1)]
    one.end()
    assert room.find(one.code) is None


def test_the_place_where_recovery_begins_is_found_by_trials():
    job = make_job(catalog.spec("one-bit-sensing", p=20, n=400), "marginal-mean")
    poll = PlacePoll(job)
    computed = poll.begin()
    assert computed.total == room.TRIALS * len(poll.options)
    computed.refresh()
    truth = poll.truth(computed)
    assert list(truth.shares) == list(range(len(poll.options))) and truth.shares[len(poll.options) - 1] == 1.0
    assert all(truth.shares[k] < 0.5 for k in range(truth.right)) and truth.shares[truth.right] >= 0.5
    number = truth.right * 2 % computed.total
    trial = LocalResults(run_trial, [poll.trials[number]], math.inf)
    trial.refresh()
    assert trial.values[0].scores["overlap"] == computed.values[number].scores["overlap"]
    # If no trial succeeds, no option is right.
    failed = {k: SimpleNamespace(scores={"overlap": 0.0}) for k in range(len(poll.options))}
    assert poll.truth(SimpleNamespace(values=failed, alive=False)).right == -1


def test_every_model_has_a_place_to_predict_or_one_sentence():
    for model in catalog.MODELS:
        try:
            assert len(room.axis_of(model).values) >= 5
        except InputError as error:
            assert str(error).startswith("model must be one whose number of measurements can be varied"), model


def test_a_browser_has_one_class_and_a_server_not_more_than_it_may(monkeypatch):
    first = begun()
    assert room.find(first.code.lower()) is first
    second = begun()
    assert first.over and room.find(first.code) is None and room.find(second.code) is second
    monkeypatch.setattr(room, "MOST_ROOMS", 1)
    with pytest.raises(InputError, match="classes must be fewer than 1 on this server, got 1: wait until one ends"):
        begun("another")
    second.used_at -= room.IDLE_SECONDS + 1.0
    assert room.find(begun("another").code)


def test_a_place_is_sent_as_it_stands():
    job = make_job(catalog.spec("one-bit-sensing", p=20, n=400), "marginal-mean")
    one = room.open_room("teacher", "Run", [PlacePoll(job)])
    at = visit(code=one.code)
    at.select_slider[0].set_value(one.round.poll.options[3]).run()
    drawn(at.button(key="class-send").click().run())
    assert one.round.counts.index(1) == 3


def test_the_screen_of_the_teacher_is_that_of_the_browser_that_opened_the_class():
    one = begun()
    assert not [b for b in visit(code=one.code, teacher="true").button if b.key == "class-step"]
    at = visit("teacher", code=one.code, teacher="true")
    at.session_state["class:from"] = "converge", {"p": "8"}
    one.join("a")
    one.answer(0, "a", 1)
    drawn(at.run())
    assert words(at, "class.count").endswith("1 of 2 have predicted")
    drawn(at.button(key="class-end").click().run())
    assert room.find(one.code) is None and at.session_state["live:to"][0].endswith("/converge?p=8")


COLUMNS = np.linspace(0.05, 0.95, 13)
ROW = 0.075
TRUE = 0.1 + 0.5 * COLUMNS


def trial(one):
    """Succeed below a known line, 0.1 + n/p / 2."""
    spec = one.job.spec
    below = spec.sparsity / spec.n < 0.1 + 0.5 * spec.n / spec.p
    return TrialResult(one.number, "CONVERGED", 10, 0.01, {"error": 1e-6 if below else 1.0})


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
