"""Declarations, their checks and their one-sentence messages."""

import math
import pickle
from dataclasses import dataclass
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrlab.parameters import InputError, Parameter, declared, settle


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
