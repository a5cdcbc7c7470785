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
kind = "curves"
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
    .replace('"curves"\n', '"traces"\nmeasure = "error"\nagainst = "iteration"\n')
    .replace("axes = { r = { from = 1, to = 2, steps = 2 } }\n", 'measure = "misfit"\n')
)


@pytest.mark.parametrize("name", presets.names())
def test_every_preset_is_a_valid_definition(name, tmp_path):
    preset = presets.load(name)
    for file in (f"{data}-{part}.npz" for data in preset.data for part in ("train", "test")):
        (tmp_path / file).touch()
    assert presets.plan(preset, 2, tmp_path if preset.data else None).items


@pytest.mark.parametrize("name", sweeps.names())
def test_every_sweep_of_the_library_is_a_valid_definition(name):
    sweep = sweeps.load(name)
    assert sweep.title and sweep.explanation.endswith(".") and sweep.reference and sweep.sweep.total


def test_a_sweep_definition_with_a_figure_is_a_preset():
    head = 'model = "one-bit-sensing"\nsolvers = ["pairwise-moment", "sir"]\ntrials = 2\n[axes]\nn = [500, 900]\n'
    texts = 'title = "T"\nreference = "R"\nexplanation = "E"\n'
    assert titled(texts + head).sweep.total == 8
    preset = read("one", texts + head + '[figure]\nkind = "curves"\nmeasure = "error"\nmeasure_title = "error"\n')
    plan = presets.plan(preset)
    result = plan.finish(collect(LocalResults(plan.function, plan.items)))
    assert [panel.title for panel in result.panels] == ["T"]
    assert set(result.trials["series"]) == {
        "pairwise-moment",
        "sir",
    }


def test_the_examples_are_valid():
    assert len(presets.plan(read("curves", CURVES)).items) == 16
    assert len(presets.plan(read("traces", TRACES)).items) == 4, "panels with the same runs share them"


REFERENCE = 'reference = "Nobody (2020), Figure 0"'
CLAIM = CURVES + '[[claims]]\npaper = "One is below."\nrule = "each"\nlower = ["one"]\nhigher = ["two"]\n'
COMPARISON, FITS, SPECTRUM, RATES = (
    files(presets).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    for name in ("qiu2017-table1", "yu2014-table5", "yi2015-fig1", "yi2015-fig3")
)
BROKEN = [
    (CURVES, "trials = 2", "trails = 2", 'key of a preset must be one of .*, got trails: did you mean "trials"?'),
    (CURVES, "trials = 2", "trials = 0", "trials must be a whole number in 1..1000000, got 0: raise trials"),
    (CURVES, "trials = 2", 'trials = "2"', 'trials must be a whole number, got "2": write it as a whole number'),
    (CURVES, 'title = "Small"', "title = 1", "title must be text in quotes, got 1"),
    (CURVES, REFERENCE, "", 'reference must be given, got nothing: add a line or a table "reference" to the preset'),
    (CURVES, "polynomial-network", "polynomial", 'model must be one of .* did you mean "polynomial-network"?'),
    (CURVES, 'model = "polynomial-network"', "", "model must be given, got nothing: add it to the panel, or above all"),
    (CURVES, "p = 6", "q = 6", "parameter must be one of .*, got q"),
    (CURVES, "p = 6", 'p = "6"', 'p must be a whole number in .*, got "6": write it without quotes'),
    (CURVES, "p = 6", "p = 0", "p must be a whole number in 1.*, got 0: raise p"),
    (CURVES, "max_iter = 4", "max_itr = 4", 'setting of ep-rom must be one of .* did you mean "max_iter"?'),
    (CURVES, "max_iter = 4", "max_iter = 0", "max_iter must be a whole number in .*, got 0"),
    (CURVES, "m = [40, 80]", "mm = [40, 80]", "axis must be one of .*, got mm"),
    (CURVES, "m = [40, 80]", "m = [40, 0]", "m must be a whole number in .*, got 0"),
    (CURVES, "m = [40, 80]", "m = []", "m must be a list of different numbers, got an empty list"),
    (CURVES, "axes = { r", "axes = { m = [40], r", "axes must be one axis, got m, r: write for example"),
    (CURVES, "steps = 2", "step = 2", 'key of the range r must be one of .* did you mean "steps"?'),
    (CURVES, '"error"', '"eror"', 'measure must be one of error, .* did you mean "error"?'),
    (CURVES, "below = 0.05", "under = 0.05", "key of success must be one of metric, below, above, got under"),
    (CURVES, "below = 0.05", "below = 0.05, above = 1", "success must be a metric with one level, .* got both"),
    (CURVES, '"curves"', '"curvs"', 'kind must be one of .*, got curvs: did you mean "curves"?'),
    (CURVES, "measure_title", "measur_title", "key of figure must be one of .*, got measur_title"),
    (CURVES, 'measure_title = "share"', 'measure_title = "share"\nlog_x = 1', "log_x must be true or false, got 1"),
    (CURVES, '"share"', '"share"\nmeasure = "error"', r"measure must be given in \[figure\], or success .*, got both"),
    (CURVES, 'label = "two"', 'label = "one"', "label must be different in all series, got one"),
    (CURVES, 'label = "two"', "", 'label must be given, got nothing: add a line or a table "label" to the series'),
    (CURVES, '"ep-rom"', '"ep-ram"', 'solver must be one of .* did you mean "ep-rom"?'),
    (CURVES, '"ep-rom"', '"sir"', "solver must be made for polynomial-network .*, got sir"),
    (CURVES, 'solver = "tangent-descent"', "", "solver must be given, got nothing: add it to the series, or solvers"),
    (CURVES, 'step_rule = "fixed"', 'step_rule = "fix"', 'step_rule must be one of .* did you mean "fixed"?'),
    (CURVES, "noise = 0.1", "noise = -0.1", "noise must be a number in 0.*, got -0.1: raise noise"),
    (CURVES, "spec = { noise", "spec = { niose", 'parameter must be one of .* did you mean "noise"?'),
    (CURVES, 'title = "b"', 'title = "b"\ntrials = -1', "trials must be a whole number in .*, got -1"),
    (CURVES, 'title = "b"', 'title = "b"\nmeasure = "error"', "key of panels must be one of .*, got measure"),
    (CLAIM, '"each"', '"earch"', 'rule must be one of each, sooner, .* did you mean "each"?'),
    (CLAIM, 'higher = ["two"]', 'higher = ["three"]', "series must be one of one, two, got three: take one of these"),
    (CLAIM, 'rule = "each"', 'rule = "each"\npanel = "c"', "panel must be one of a, b, got c"),
    (CURVES, 'label = "two"', 'label = "two"\ngrid = { tol = 1 }', "tol must be a list of values, got 1: write for"),
    (TRACES, '"iteration"', '"iterations"', 'against must be one of .* did you mean "iteration"?'),
    (TRACES, '"misfit"', '"misfits"', 'measure must be one of .* did you mean "misfit"?'),
    (TRACES, 'measure = "error"', "", 'measure must be given, got nothing: add a line or a table "measure" to the fig'),
    (TRACES, 'label = "one"', 'label = "one"\npaper = { error = [1] }', "key of series must be one of .*, got paper"),
    (COMPARISON, "{ flip = 0.1 }", "{ flop = 0.1 }", 'parameter must be one of .* did you mean "flip"?'),
    (COMPARISON, "94.90, 94.30] }", "94.90] }", "sign_auc must be a number for each of the 11 columns, got 10"),
    (COMPARISON, "sign_auc = [95", "sing_auc = [95", 'measure must be one of .* did you mean "sign_auc"?'),
    (COMPARISON, "{ fitted_rank = 3 }", "{ fitted_rank = -1 }", "fitted_rank must be a whole number in 0.*, got -1"),
    (COMPARISON, 'measure = "hamming"', 'measure = "haming"', 'measure must be one of .* did you mean "hamming"?'),
    (COMPARISON, "scale = 100", 'scale = "100"', 'scale must be a number, got "100"'),
    (FITS, '["autofood", "BCS"', '["autofood", "BCD"', 'series must be one of LEML, .*, got BCD: did you mean "BCS"?'),
    (FITS, "0.2, 31.67, ", "0.2, ", "row must be a value for each of the 7 columns, got 6"),
    (FITS, "0.4, 0.2, 31.67", "0.4, 2, 31.67", "observed must be a number above 0, at most 1, got 2"),
    (FITS, "ndcg@5", "ndcg@4", "metric must be one of .*, got ndcg@4"),
    (FITS, "max_iter = 10", "max_iter = 0", "max_iter must be a whole number in .*, got 0"),
    (FITS, "ratio = 0", "ration = 0", 'setting of bcs must be one of .* did you mean "ratio"?'),
    (FITS, 'axis = "data"', 'axis = "set"', "axis must be one of share, observed, data, seconds, got set"),
    (FITS, 'solver = "bcs"', 'solver = "gauss-newton"', "solver must be one of .*, got gauss-newton"),
    (FITS, '"hamming", "auc"]', '"haming", "auc"]', 'measure must be one of .* did you mean "hamming"?'),
    (SPECTRUM, "axes = { threshold", "axes = { thresold", 'axis must be one of .* did you mean "threshold"?'),
    (SPECTRUM, "0.0, 0.05,", "-0.1, 0.05,", "flip must be a number in .*, got -0.1"),
    (RATES, "threshold_factor", "threshold_facto", 'key of figure must be .* did you mean "threshold_factor"?'),
    (RATES, "32, 44, 60,", "32, 44,", "trials must be a number for each of the 8 values, got 7"),
    (RATES, "32, 44, 60,", '32, 44, "60",', 'trials must be a whole number, got "60"'),
    (RATES, "axes = { sparse-rate", "axes = { sparsity", "rate must be one of dense-rate, sparse-rate, got sparsity"),
]


@pytest.mark.parametrize(("text", "old", "new", "sentence"), BROKEN)
def test_a_mistake_is_one_sentence_before_a_trial_runs(text, old, new, sentence):
    start = text.rindex(old)
    broken = text[:start] + new + text[start + len(old) :]
    with pytest.raises(InputError, match=sentence) as caught:
        presets.plan(read("small", broken))
    assert str(caught.value).startswith("small.toml: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in presets.names() if name.startswith(("jain2013", "soltani2018"))])
def test_figures_of_low_rank_papers_end_with_verdicts(name):
    content = presets.load(name).content
    panels = {claim.get("panel", presets.load(name).panels[0]["title"]) for claim in content.get("claims", ())}
    assert panels or any("claimed" in series for series in content["series"])


def test_both_heads_of_ap_rom_stand_at_three_depths():
    series = [
        one["settings"] for one in presets.load("soltani2018-fig2c").content["series"] if one["solver"] == "ap-rom"
    ]
    heads = {(one["head"], one["blocks"]) for one in series}
    assert heads == {(head, blocks) for head in ("one-sided", "tangent") for blocks in (2, 4, 7)}


def test_a_kind_of_figure_is_one_module(tmp_path, monkeypatch):
    module = "from lrlab.presets.file_keys import file_keys\nKEYS = file_keys({'level': float}, (), {'model': str})\n"
    (tmp_path / "dots.py").write_text(module)
    monkeypatch.setattr(presets, "__path__", [*presets.__path__, str(tmp_path)])
    text = 'title = "A"\nreference = "B"\nexplanation = "C"\ntrials = 2\n[figure]\nkind = "dots"\nlevel = 0.5\n'
    assert read("a", text).kind == "dots"
    with pytest.raises(InputError, match="key of figure must be one of .*, got levle: did you mean"):
        read("a", text.replace("level", "levle"))
    with pytest.raises(InputError, match="kind must be one of .*, got papers"):
        read("a", text.replace("dots", "papers"))
