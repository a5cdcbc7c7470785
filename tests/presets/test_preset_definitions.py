"""Preset files: one validated form; a mistake is one sentence with the line, before a trial runs."""

from importlib.resources import files

import pytest

from lrlab import InputError, presets
from lrlab.presets import claims, spectrum, sweeps
from lrlab.presets.definition import read

CURVES = """title = "Small"
reference = "Nobody (2020), Figure 0"
explanation = "Nothing."
model = "polynomial-network"
trials = 2
seed = 3

[spec]
p = 6
[settings]
max_iter = 4

[axes]
m = [40, 80]

[figure]
kind = "lines"
metric = "error"
metric_title = "error"

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
    CURVES.replace("[axes]\nm = [40, 80]\n", "")
    .replace('"lines"\n', '"lines"\nagainst = "iteration"\n')
    .replace("axes = { r = { from = 1, to = 2, steps = 2 } }\n", 'metric = "misfit"\n')
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
    ('title = "b"', "", r'panels\[1\]: title must be given, got nothing: add a line or a table "title" to the panels'),
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
