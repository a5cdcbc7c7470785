"""Preset files are validated, and rules of claims decide numbers whose answer is known."""

from importlib.resources import files

import numpy as np
import pytest

from lrlab import InputError, presets
from lrlab.presets import claims, spectrum, sweeps
from lrlab.presets.definition import read
from lrlab.presets.evidence import Samples, interval

X = [1.0, 2.0, 3.0, 4.0, 5.0]
FAR = {"a": [1, 1, 1, 1, 1], "b": [9, 9, 9, 9, 9], "up": [1, 2, 4, 8, 16], "down": [16, 8, 4, 2, 1]}
FAR |= {"bent": [1, 2, 4, 8, 2], "late": [9, 9, 1e-8, 1e-8, 1e-8], "flat": [1, 1, 1, 1, 1]}
FAR |= {"line": X, "twice": [2 * x for x in X], "sinking": [1.045, 1.036, 1.027, 1.018, 1.0]}


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
        ({"rule": "similar", "series": ["a", "absent"], "within": 10}, None),
        ({"rule": "rising", "series": ["up"]}, True),
        ({"rule": "falling", "series": ["up"]}, False),
        ({"rule": "rising", "series": ["bent"]}, False),
        ({"rule": "rising", "series": ["sinking"]}, False),
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


def test_one_trial_tells_of_two_series_where_both_have_blocks_of_test_rows():
    held = Samples({"a": {1.0: np.array([1.0, 1.01, 0.99])}, "b": {1.0: np.array([9.0])}})
    known = held._replace(blocks={"a": {1.0: np.array([0.9, 1.1])}, "b": {1.0: np.array([9.1, 8.9])}})
    assert claims.judge({"rule": "each", **LOWER}, known).holds
    assert claims.judge({"rule": "each", **LOWER}, known._replace(blocks={"a": known.blocks["a"]})).holds is None


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
        ({"rule": "decays", "series": ["ones"], "level": 0.0}, "reproduced"),
    ],
)
def test_a_claim_whose_size_differs_agrees_in_direction_and_a_short_range_shows_no_shape(rule, word):
    samples = held(20, 0.005)
    powers = {"power": {x: np.full(4, x**2) for x in (1.0, 3.0, 9.0)}, "short": {x: np.full(4, x**2) for x in X}}
    powers["ones"] = {x: np.ones(4) for x in X}
    assert claims.judge(rule, samples._replace(values={**samples.values, **powers})).word == word


CURVES = """
title = "Small"
reference = "Nobody (2020), Figure 0"
explanation = "Nothing."
model = "polynomial-network"
trials = 2
seed = 3
spec = { p = 6 }
settings = { max_iter = 4 }
axes = { m = [40, 80] }
figure = { kind = "lines", metric = "error", metric_title = "error" }
series = [
  { label = "one", solver = "ep-rom", settings = { step_rule = "fixed" } },
  { label = "two", solver = "tangent-descent", spec = { noise = 0.1 } },
]
panels = [{ title = "a" }, { title = "b", axes = { r = { from = 1, to = 2, steps = 2 } } }]
"""
TRACES = (
    CURVES.replace("axes = { m = [40, 80] }\n", "")
    .replace('"lines"', '"lines", against = "iteration"')
    .replace("axes = { r = { from = 1, to = 2, steps = 2 } }", 'metric = "misfit"')
)


@pytest.mark.parametrize("name", sweeps.names())
def test_every_sweep_of_the_library_is_a_valid_definition(name):
    sweep = sweeps.load(name)
    assert sweep.title and sweep.explanation.endswith(".") and sweep.reference and sweep.sweep.total


def test_the_examples_are_valid():
    assert len(presets.plan(read("curves", CURVES)).items) == 16
    assert len(presets.plan(read("traces", TRACES)).items) == 4, "panels with the same runs share them"


SPECTRUM = files(presets).joinpath("yi2015-fig1.toml").read_text(encoding="utf-8")
BROKEN = [
    ("trials = 2", "trails = 2", 'key of a preset must be one of .*, got trails: did you mean "trials"?'),
    ("trials = 2", 'trials = "2"', 'trials must be a whole number, got "2": write it as a whole number'),
    ('"lines"', '"liness"', 'kind must be one of .*, got liness: did you mean "lines"?'),
    ("metric_title", "metri_title", "key of figure must be one of .*, got metri_title"),
    ('label = "two"', 'label_ = "two"', r"series\[1\].label_: key of series must be one of .*, got label_"),
    (
        'title = "b", ',
        "",
        r'panels\[1\]: title must be given, got nothing: add a line or a table "title" to the panels',
    ),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BROKEN)
def test_a_wrong_key_or_kind_is_one_sentence_with_its_path(old, new, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        read("small", CURVES.replace(old, new, 1))
    assert str(caught.value).startswith("small.toml: ") and "\n" not in str(caught.value)


def test_an_axis_that_no_parameter_has_is_refused_before_a_trial_runs():
    with pytest.raises(InputError, match='axis must be one of .*, got mm: did you mean "m"'):
        presets.plan(read("small", CURVES.replace("m = [40, 80]", "mm = [40, 80]")))


@pytest.mark.parametrize("name", presets.names())
def test_claims_and_reduced_runs_name_what_the_file_has(name):
    """A name with a mistake would leave a claim undecided, or a panel out, without a word."""
    preset = presets.load(name)
    content, panels = preset.content, [panel["title"] for panel in preset.panels]
    names = [series["label"] for series in preset.series] or list(spectrum.EIGENVALUES)
    labels = {*names, *(line["label"] for line in content.get("lines", ()) if "bound" in line)}
    for claim in content.get("claims", ()):
        assert claim.get("panel", panels[0]) in panels
        for rule in (claim, *([claim["remark"]] if "remark" in claim else [])):
            assert set(claims.named(rule)) <= labels and rule["rule"] in claims.RULES
    for table in (*content.get("lines", ()), *preset.panels):
        assert {table.get("series", names[0]), *table.get("only", ()), *table.get("ratio", ())} <= labels
        assert table.get("panel", panels[0]) in panels
    only = content.get("quick", {}).get("only", {})
    assert set(only.get("series", ())) <= labels and set(only.get("panels", ())) <= set(panels)
    known = {
        name
        for table in (content, *preset.panels, *preset.series)
        for key in ("axes", "grid")
        for name in table.get(key, ())
    }
    assert only.keys() <= {"series", "panels", *known, *content.get("paper", {}).get("columns", ())}
    assert not preset.positions or preset.start in preset.positions
    assert len(set(panels)) == len(panels) and len(set(names)) == len(names)
