"""Rules of claims: what is reproduced, not reproduced and not decided, on numbers where the answer is known."""

import numpy as np
import pytest

from lrlab.presets import claims
from lrlab.presets.evidence import Samples, interval

X = [1.0, 2.0, 3.0, 4.0, 5.0]
FAR = {"a": [1, 1, 1, 1, 1], "b": [9, 9, 9, 9, 9], "up": [1, 2, 4, 8, 16], "down": [16, 8, 4, 2, 1]}
FAR |= {"bent": [1, 2, 4, 8, 2], "late": [9, 9, 1e-8, 1e-8, 1e-8], "flat": [1, 1, 1, 1, 1]}
FAR |= {"line": X, "twice": [2 * x for x in X]}


def held(trials, spread=0.01, numbers=FAR):
    """Return samples of numbers with a relative spread."""
    rng = np.random.default_rng(5)
    values = {
        name: {x: y * np.exp(spread * rng.normal(size=trials)) for x, y in zip(X, row, strict=True)}
        for name, row in numbers.items()
    }
    return Samples(values)


LOWER, ABOVE = {"lower": ["a"], "higher": ["b"]}, {"lower": ["b"], "higher": ["a"]}


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"rule": "each", **LOWER}, True),
        ({"rule": "each", **LOWER, "by": 5}, True),
        ({"rule": "each", **LOWER, "by": 20}, False),
        ({"rule": "each", **ABOVE}, False),
        ({"rule": "each", "lower": ["a"], "higher": ["up"]}, None),
        ({"rule": "each", "lower": ["a"], "higher": ["up"], "from": 2}, True),
        ({"rule": "each", "lower": ["up"], "higher": ["down"]}, False),
        ({"rule": "each", "lower": ["up"], "higher": ["down"], "at": 1}, True),
        ({"rule": "similar", "series": ["a", "flat"], "within": 1.2}, True),
        ({"rule": "similar", "series": ["a", "b"], "within": 1.2}, False),
        ({"rule": "similar", "series": ["a", "b"], "within": 10}, True),
        ({"rule": "rising", "series": ["up"]}, True),
        ({"rule": "falling", "series": ["up"]}, False),
        ({"rule": "rising", "series": ["bent"]}, False),
        ({"rule": "rising", "series": ["flat"]}, None),
        ({"rule": "rising", "series": ["up", "down"]}, False),
        ({"rule": "rising", "series": ["up"], "to": 2}, None),
        ({"rule": "about", "series": ["a"], "level": 1, "within": 1.1}, True),
        ({"rule": "about", "series": ["b"], "level": 1, "within": 1.1}, False),
        ({"rule": "each", "lower": ["flat"], "higher": ["down", "up"], "any": True, "by": 0.9}, True),
        ({"rule": "each", "lower": ["b"], "higher": ["a", "flat"], "any": True}, False),
        ({"rule": "constant", "series": ["a", "b"], "within": 1.1}, True),
        ({"rule": "proportional", "series": ["line", "twice"]}, True),
        ({"rule": "proportional", "series": ["flat", "a"]}, False),
        ({"rule": "constant", "series": ["a", "up"], "within": 1.1}, False),
        ({"rule": "each", "lower": ["absent"], "higher": ["b"]}, None),
        ({"rule": "each", "lower": ["absent", "a"], "higher": ["b"]}, None),
        ({"rule": "each", "lower": ["absent", "b"], "higher": ["a"]}, False),
    ],
)
def test_rules_decide_clear_numbers_and_nothing_of_one_trial(rule, holds):
    for trials in (4, 20):
        found = claims.judge(rule, held(trials, 0.005))
        assert found.holds is holds and found.measured, found
    assert claims.judge(rule, held(1)).holds is None, "one trial has no interval"
    if rule["rule"] not in ("about", "similar"):
        assert claims.judge(rule, held(2, 3.0)).holds is None, "two trials with a large spread"


@pytest.mark.parametrize(("trials", "holds"), [(1, None), (3, None), (4, True), (50, True)])
def test_a_transition_is_decided_by_intervals_of_shares(trials, holds):
    def shares(first):
        return {x: np.full(trials, float(x >= first)) for x in X}

    found = Samples({"early": shares(2.0), "late": shares(4.0), "same": shares(2.0)})
    assert claims.judge({"rule": "transition", "lower": ["early"], "higher": ["late"]}, found).holds is holds
    reverse = claims.judge({"rule": "transition", "lower": ["late"], "higher": ["early"]}, found)
    assert reverse.holds is (None if holds is None else False)
    assert claims.judge({"rule": "transition", "lower": ["early"], "higher": ["same"]}, found).holds is None


@pytest.mark.parametrize("count", [2, 3, 5, 6, 9, 20, 51])
def test_intervals_cover_the_centre_of_normal_numbers(count):
    rng = np.random.default_rng(count)
    found = [interval(rng.normal(size=count)) for _ in range(600)]
    covered = np.mean([one.low <= 0.0 <= one.high for one in found])
    assert covered >= 0.93, "95% but for the draws"
    among = [interval(rng.normal(size=count), among=5) for _ in range(600)]
    assert np.mean([one.low <= 0.0 <= one.high for one in among]) >= 0.98


def test_a_failed_trial_could_have_any_number():
    failed = Samples({"a": {1.0: np.array([1.0, 1.0, 1.0, np.inf])}, "b": {1.0: np.full(4, 9.0)}})
    assert claims.judge({"rule": "each", **LOWER}, failed).holds is None


def test_one_trial_tells_of_two_series_where_both_are_known_to_an_error():
    held = Samples({"a": {1.0: np.array([1.0, 1.01, 0.99])}, "b": {1.0: np.array([9.0])}})
    known = held._replace(errors={"a": {1.0: 0.1}, "b": {1.0: 0.1}})
    assert claims.judge({"rule": "each", **LOWER}, known).holds
    assert claims.judge({"rule": "each", **LOWER}, known._replace(errors={"a": {1.0: 0.1}})).holds is None


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ({"rule": "each", **LOWER, "by": 20}, "agrees in direction"),
        ({"rule": "each", **ABOVE, "by": 20}, "not reproduced"),
        ({"rule": "each", **LOWER, "level": 2, "within": 1.5}, "agrees in direction"),
        ({"rule": "slope", "series": ["power"], "level": 1.0, "within": 0.2}, "agrees in direction"),
        ({"rule": "slope", "series": ["power"], "level": -1.0, "within": 0.2}, "not reproduced"),
        ({"rule": "slope", "series": ["power"], "level": 2.0, "within": 0.2}, "reproduced"),
        ({"rule": "decays", "series": ["short"], "level": 3.0}, "not decided"),
        ({"rule": "decays", "series": ["power"], "level": 3.0}, "reproduced"),
        ({"rule": "decays", "series": ["power"], "level": 1.0}, "not reproduced"),
    ],
)
def test_a_claim_whose_size_differs_agrees_in_direction_and_a_short_range_shows_no_shape(rule, word):
    samples = held(20, 0.005)
    powers = {"power": {x: np.full(4, x**2) for x in (1.0, 3.0, 9.0)}, "short": {x: np.full(4, x**2) for x in X}}
    assert claims.judge(rule, samples._replace(values={**samples.values, **powers})).word == word


@pytest.mark.parametrize(
    ("ours", "word"),
    [
        ([50.0, 60.2, 70.1, 80.0, 90.0], "reproduced"),
        ([50.0, 66.0, 70.1, 80.0, 95.0], "better than printed"),
        ([45.0, 58.0, 71.0, 82.0, 93.0], "agrees in direction"),
        ([90.0, 60.0, 70.0, 50.0, 45.0], "not reproduced"),
    ],
)
def test_printed_numbers_are_judged_per_method(ours, word):
    printed = {"a": dict(zip(X, [50.0, 60.0, 70.0, 80.0, 90.0], strict=True)), "b": dict.fromkeys(X, 20.0)}
    rows = {"a": ours, "b": [20.0] * 5}
    values = {
        name: {x: y + np.array([-0.1, 0.0, 0.1]) for x, y in zip(X, row, strict=True)} for name, row in rows.items()
    }
    found = {
        verdict.claim: verdict.verdict
        for verdict in claims.on_numbers({**printed, "c": dict.fromkeys(X, 30.0)}, Samples(values), best=1)
    }
    assert found["the numbers of the table, a"] == word, found
