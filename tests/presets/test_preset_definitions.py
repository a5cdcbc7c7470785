"""Preset files: one validated form; a mistake is one sentence with the line, before a trial runs."""

from importlib.resources import files

import pytest

from lrlab import InputError, presets
from lrlab.engine.results import LocalResults, collect
from lrlab.presets import sweeps
from lrlab.presets.reading import read
from lrlab.sweeps.toml import titled

CURVES = """title = "Small"
reference = "Nobody (2020), Figure 0"
explanation = "Nothing."
model = "polynomial-network"
trials = 2
seed = 3
success = { metric = "error", below = 0.05 }

[spec]
p = 6
[settings]
max_iter = 4

[axes]
m = [40, 80]

[figure]
kind = "lines"
measure_title = "share"

[[series]]
label = "one"
solver = "ep-rom"
settings = { step_rule = "fixed" }

[[series]]
label = "two"
solver = "tangent-descent"
spec = { noise = 0.1 }

[[panels]]
title = "a"
[[panels]]
title = "b"
axes = { r = { from = 1, to = 2, steps = 2 } }
"""
TRACES = (
    CURVES.replace('success = { metric = "error", below = 0.05 }\n', "")
    .replace("[axes]\nm = [40, 80]\n", "")
    .replace('"lines"\n', '"lines"\nmeasure = "error"\nagainst = "iteration"\n')
    .replace("axes = { r = { from = 1, to = 2, steps = 2 } }\n", 'measure = "misfit"\n')
)


@pytest.mark.parametrize("name", sweeps.names())
def test_every_sweep_of_the_library_is_a_valid_definition(name):
    sweep = sweeps.load(name)
    assert sweep.title and sweep.explanation.endswith(".") and sweep.reference and sweep.sweep.total


def test_a_sweep_definition_with_a_figure_is_a_preset():
    head = 'model = "one-bit-sensing"\nsolvers = ["pairwise-moment", "sir"]\ntrials = 2\n[axes]\nn = [500, 900]\n'
    texts = 'title = "T"\nreference = "R"\nexplanation = "E"\n'
    assert titled(texts + head).sweep.total == 8
    preset = read("one", texts + head + '[figure]\nkind = "lines"\nmeasure = "error"\nmeasure_title = "error"\n')
    plan = presets.plan(preset)
    result = plan.finish(collect(LocalResults(plan.function, plan.items)))
    assert [panel.title for panel in result.panels] == ["T"]
    assert set(result.trials["series"]) == {
        "pairwise-moment",
        "sir",
    }


@pytest.mark.parametrize(("old", "name"), [("theorem", "jain2013-fig1c"), ("fits", "yu2014-fig1")])
def test_old_kinds_and_keys_are_read(old, name):
    today = presets.load(name)
    text = files(presets).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    text = text.replace(f'kind = "{today.kind}"', f'kind = "{old}"').replace("\nrows = {", "\nwhere = {")
    assert ("where = {" in text) == (today.kind == "table")
    before = read(name, text)
    assert before.kind == today.kind and before.panels == today.panels


def test_the_examples_are_valid():
    assert len(presets.plan(read("curves", CURVES)).items) == 16
    assert len(presets.plan(read("traces", TRACES)).items) == 4, "panels with the same runs share them"


CLAIM = CURVES + '[[claims]]\npaper = "One is below."\nrule = "each"\nlower = ["one"]\nhigher = ["two"]\n'
COMPARISON, FITS, SPECTRUM, RATES = (
    files(presets).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    for name in ("qiu2017-table1", "yu2014-table5", "yi2015-fig1", "yi2015-fig3")
)
BROKEN = [
    (CURVES, "trials = 2", "trails = 2", 'key of a preset must be one of .*, got trails: did you mean "trials"?'),
    (CURVES, "trials = 2", 'trials = "2"', 'trials must be a whole number, got "2": write it as a whole number'),
    (CURVES, "polynomial-network", "polynomial", 'model must be one of .* did you mean "polynomial-network"?'),
    (CURVES, 'model = "polynomial-network"', "", "model must be given, got nothing: add it to the panel, or above all"),
    (CURVES, "p = 6", "q = 6", "parameter must be one of .*, got q"),
    (CURVES, "max_iter = 4", "max_itr = 4", 'setting of ep-rom must be one of .* did you mean "max_iter"?'),
    (CURVES, "m = [40, 80]", "mm = [40, 80]", "axis must be one of .*, got mm"),
    (CURVES, "m = [40, 80]", "m = []", "m must be a list of different numbers, got an empty list"),
    (CURVES, '"error"', '"eror"', 'measure must be one of error, .* did you mean "error"?'),
    (CURVES, "below = 0.05", "below = 0.05, above = 1", "success must be a metric with one level, .* got both"),
    (CURVES, '"lines"', '"liness"', 'kind must be one of .*, got liness: did you mean "lines"?'),
    (CURVES, "measure_title", "measur_title", "key of figure must be one of .*, got measur_title"),
    (CURVES, '"share"', '"share"\nmeasure = "error"', r"measure must be given in \[figure\], or success .*, got both"),
    (CURVES, 'label = "two"', 'label = "one"', "label must be different in all series, got one"),
    (CURVES, '"ep-rom"', '"ep-ram"', 'solver must be one of .* did you mean "ep-rom"?'),
    (CURVES, '"ep-rom"', '"sir"', "solver must be made for polynomial-network .*, got sir"),
    (CURVES, 'solver = "tangent-descent"', "", "solver must be given, got nothing: add it to the series, or solvers"),
    (CURVES, 'step_rule = "fixed"', 'step_rule = "fix"', 'step_rule must be one of .* did you mean "fixed"?'),
    (CLAIM, '"each"', '"earch"', 'rule must be one of each, sooner, .* did you mean "each"?'),
    (CLAIM, 'higher = ["two"]', 'higher = ["three"]', "series must be one of one, two, got three: take one of these"),
    (CLAIM, 'rule = "each"', 'rule = "each"\npanel = "c"', "panel must be one of a, b, got c"),
    (CURVES, 'label = "two"', 'label = "two"\ngrid = { tol = 1 }', "tol must be a list of values, got 1: write for"),
    (TRACES, '"iteration"', '"iterations"', 'against must be one of .* did you mean "iteration"?'),
    (TRACES, '"misfit"', '"misfits"', 'measure must be one of .* did you mean "misfit"?'),
    (TRACES, 'label = "one"', 'label = "one"\nfull_rank = true', "key of series must be one of .*, got full_rank"),
    (COMPARISON, "94.90, 94.30] }", "94.90] }", "sign_auc must be a number for each of the 11 columns, got 10"),
    (COMPARISON, "sign_auc = [95", "sing_auc = [95", 'measure must be one of .* did you mean "sign_auc"?'),
    (COMPARISON, 'measure = "hamming"', 'measure = "haming"', 'measure must be one of .* did you mean "hamming"?'),
    (FITS, '["autofood", "BCS"', '["autofood", "BCD"', 'series must be one of LEML, .*, got BCD: did you mean "BCS"?'),
    (FITS, "0.2, 31.67, ", "0.2, ", "row must be a value for each of the 7 columns, got 6"),
    (FITS, "0.4, 0.2, 31.67", "0.4, 2, 31.67", "observed must be a number above 0, at most 1, got 2"),
    (FITS, "ndcg@5", "ndcg@4", "metric must be one of .*, got ndcg@4"),
    (FITS, 'axis = "data"', 'axis = "set"', "axis must be one of share, observed, data, seconds, got set"),
    (FITS, 'solver = "bcs"', 'solver = "gauss-newton"', "solver must be one of .*, got gauss-newton"),
    (FITS, '"hamming", "auc"]', '"haming", "auc"]', 'measure must be one of .* did you mean "hamming"?'),
    (SPECTRUM, "axes = { threshold", "axes = { thresold", 'axis must be one of .* did you mean "threshold"?'),
    (RATES, "32, 44, 60,", "32, 44,", "trials must be a number for each of the 8 values, got 7"),
    (RATES, "32, 44, 60,", '32, 44, "60",', 'trials must be a whole number, got "60"'),
]


@pytest.mark.parametrize(("text", "old", "new", "sentence"), BROKEN)
def test_a_mistake_is_one_sentence_before_a_trial_runs(text, old, new, sentence):
    start = text.rindex(old)
    broken = text[:start] + new + text[start + len(old) :]
    with pytest.raises(InputError, match=sentence) as caught:
        presets.plan(read("small", broken))
    assert str(caught.value).startswith("small.toml: ") and "\n" not in str(caught.value)
