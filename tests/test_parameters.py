"""Declarations and settings with their sentences, and the driver that owns loop, clock and stopping."""

import itertools
import math
import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlab import settings
from lrlab.parameters import InputError, Parameter, declared, settle
from lrlab.protocol import Interrupted, Iterate, Stop, child
from lrlab.runs.run import drive


def example(
    problem,
    *,
    rank: Annotated[int, Parameter(meaning="rank", low=1, high=30)] = 5,
    step: Annotated[float, Parameter(meaning="step", symbol="η", low=0)] = 1.0,
    exact: Annotated[bool, Parameter(meaning="exact")] = True,
    start: Annotated[str, Parameter(meaning="start", choices=("spectral", "random"))] = "spectral",
    rng=None,
):
    return rank, step, exact, start


@dataclass(frozen=True)
class Example:
    """One declared field and one that is not."""

    size: Annotated[int, Parameter(meaning="size", low=1, high=9)] = 3
    plain: int = 0


def test_a_signature_and_a_dataclass_declare_alike():
    assert list(declared(example)) == ["rank", "step", "exact", "start"]
    assert list(declared(Example)) == ["size"]
    rank = declared(example)["rank"]
    assert (rank.name, rank.symbol, rank.kind, rank.default) == ("rank", "rank", int, 5)
    assert declared(example)["step"].symbol == "η"


@pytest.mark.parametrize(
    ("given_values", "expected"),
    [
        ({}, (5, 1.0, True, "spectral")),
        ({"rank": "7", "step": "1e-3", "exact": "no", "start": "random"}, (7, 1e-3, False, "random")),
        ({"rank": 1.0, "step": 2}, (1, 2.0, True, "spectral")),
        ({"rank": "3e1"}, (30, 1.0, True, "spectral")),
    ],
)
def test_values_and_texts_are_read(given_values, expected):
    settled = settle(declared(example), given_values)
    assert tuple(settled.values()) == expected
    assert [type(v) for v in settled.values()] == [int, float, bool, str]


@pytest.mark.parametrize(
    ("given_values", "sentence"),
    [
        ({"rank": 31}, "rank must be a whole number in 1..30, got 31: lower rank to 30 or less"),
        ({"rank": 0}, "rank must be a whole number in 1..30, got 0: raise rank to 1 or more"),
        ({"rank": 2.5}, "rank must be a whole number in 1..30, got 2.5: give rank such a value, for example 5"),
        ({"rank": "many"}, "rank must be a whole number in 1..30, got many: give rank such a value, for example 5"),
        ({"rank": True}, "rank must be a whole number in 1..30, got True: give rank such a value, for example 5"),
        ({"step": math.nan}, "step must be a number in 0..any, got nan: give step such a value, for example 1"),
        ({"step": "inf"}, "step must be a number in 0..any, got inf: give step such a value, for example 1"),
        ({"exact": "maybe"}, "exact must be true or false, got maybe: give exact such a value, for example True"),
        ({"start": "spectra"}, 'start must be one of spectral, random, got spectra: did you mean "spectral"?'),
        ({"rnk": 3}, 'parameter must be one of rank, step, exact, start, got rnk: did you mean "rank"?'),
    ],
)
def test_bad_values_get_one_sentence(given_values, sentence):
    with pytest.raises(InputError) as caught:
        settle(declared(example), given_values)
    assert str(caught.value) == sentence


def test_an_error_survives_pickling():
    error = InputError("rank", "in 1..30", 40, "lower it")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.slow
@given(st.one_of(st.text(), st.integers(), st.floats(), st.binary(), st.none(), st.lists(st.integers())))
def test_any_value_is_settled_or_refused_in_one_line(value):
    for name in declared(example):
        try:
            settle(declared(example), {name: value})
        except InputError as error:
            assert "\n" not in str(error) and str(error).startswith(f"{name} must be ")


def iterates(*states, after=None, ending=None):
    for objective, residual in states:
        yield Iterate(np.array([objective or 0.0]), objective=objective, residual=residual)
    if after:
        raise after
    return ending


def endless(objective=1.0, residual=1.0):
    return (Iterate(np.ones(2), objective=objective, residual=residual) for _ in itertools.count())


@pytest.mark.parametrize(
    ("source", "settings", "stop", "count"),
    [
        (iterates((3.0, 1.0), (2.0, 1e-9), (1.0, 1e-9)), {}, Stop.CONVERGED, 2),
        (iterates((3.0, 1.0)), {}, Stop.FINISHED, 1),
        (iterates((3.0, 1.0), ending=Stop.STALLED), {}, Stop.STALLED, 1),
        (iterates((3.0, 1.0), ending=Stop.CONVERGED), {}, Stop.CONVERGED, 1),
        (endless(), {"max_iter": 7}, Stop.MAX_ITER, 7),
        (endless(), {"max_seconds": 0.0}, Stop.TIMEOUT, 1),
        (endless(), {"cancelled": lambda: True}, Stop.CANCELLED, 1),
        (iterates((1.0, 1.0), (1e9, 1.0), (1e12, 1.0)), {}, Stop.DIVERGED, 2),
        (iterates((1.0, 1.0), (np.nan, 1.0)), {}, Stop.NONFINITE, 1),
        (iterates((1.0, None), after=Interrupted(Stop.TIMEOUT)), {}, Stop.TIMEOUT, 1),
    ],
)
def test_every_way_to_end(source, settings, stop, count):
    watched = []
    assert drive(source, lambda *row: watched.append(row), **settings) is stop
    assert [row[0] for row in watched] == list(range(1, count + 1))


def test_time_spent_watching_is_not_solver_time():
    seconds, now = [], [0.0]

    def solver():
        while True:
            now[0] += 1.0
            yield Iterate(np.ones(2))

    def watch(iteration, spent, iterate):
        now[0] += 100.0
        seconds.append(spent)

    drive(solver(), watch, max_iter=4, clock=lambda: now[0])
    assert seconds == [1.0, 2.0, 3.0, 4.0]


def test_block_streams_differ_and_repeat():
    stream = np.random.SeedSequence(3).spawn(2)[1]
    first, again, other = (child(stream, k).standard_normal(4) for k in (0, 0, 1))
    assert (first == again).all() and (first != other).all()


def test_what_is_no_iterate_ends_in_a_sentence_that_names_the_file():
    def arrays():
        yield np.zeros(3)

    sentence = r"what arrays \(test_parameters.py\) yields must be an Iterate, got ndarray: yield Iterate\(estimate\)"
    with pytest.raises(InputError, match=sentence):
        drive(arrays(), lambda *of: None)


ROOT = Path(__file__).parents[1]


def test_a_profile_sets_what_is_not_set_by_itself(monkeypatch):
    assert settings.number("LRLAB_SWEEP_HOURS") == 24
    monkeypatch.setenv("LRLAB_PROFILE", "classroom")
    assert settings.number("LRLAB_SWEEP_HOURS") == 1
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "3.5")
    assert settings.number("LRLAB_SWEEP_HOURS") == 3.5
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "inf")
    assert settings.number("LRLAB_SWEEP_HOURS") == float("inf")


@pytest.mark.parametrize("bad", ["many", "nan", "0", "-1"])
@pytest.mark.parametrize("name", list(settings.SETTINGS))
def test_a_wrong_value_is_one_sentence(monkeypatch, name, bad):
    monkeypatch.setenv(name, bad)
    with pytest.raises(InputError, match=f"{name} must be a number in .*, got {bad}: "):
        settings.number(name)


def test_an_unknown_profile_is_one_sentence(monkeypatch):
    monkeypatch.setenv("LRLAB_PROFILE", "school")
    with pytest.raises(InputError, match="LRLAB_PROFILE must be one of laptop, classroom"):
        settings.profile()


def test_every_setting_is_in_the_table():
    used = {name for path in (ROOT / "lrlab").rglob("*.py") for name in re.findall(r"LRLAB_[A-Z_]+", path.read_text())}
    assert used - {"LRLAB_PROFILE", "LRLAB_"} == {*settings.SETTINGS, *settings.TEXTS}
