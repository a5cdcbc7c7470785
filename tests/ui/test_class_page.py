"""Classes that predict: rooms accept and refuse predictions; the page of student and teacher."""

import math
from functools import partial
from types import SimpleNamespace

import pytest

from lrlab import catalog
from lrlab.engine.results import LocalResults
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import run_trial
from lrlab.ui.classroom import polls, room, views
from lrlab.ui.classroom.polls import PlacePoll
from tests.ui.driving import drawn, errors, opened, words

visit = partial(opened, "classroom")


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Compute in this process, without workers, and forget all classes afterwards."""
    monkeypatch.setattr(polls, "on_workers", lambda function, items: LocalResults(function, items, math.inf))
    yield
    room._rooms.clear()


def begun(owner="teacher"):
    return room.open_room(owner, "Why one bit is enough", polls.of_lesson("one-bit", 1))


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
    assert computed.total == polls.TRIALS * len(poll.options)
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
            assert len(polls.axis_of(model).values) >= 5
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
    one = room.open_room("teacher", "Run", polls.of_jobs([job]))
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


def test_a_code_that_no_class_has_is_one_sentence():
    assert errors(visit(code="NOPE")) == [
        "code must be the code of an open class, got NOPE: ask your teacher; it may have ended"
    ]
