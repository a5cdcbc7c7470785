"""Preset files: one validated form; a mistake is one sentence with the line, before a trial runs."""

from importlib.resources import files

import pytest

from lrlab import InputError, presets
from lrlab.engine.results import LocalResults, collect
from lrlab.presets import claims, sweeps
from lrlab.presets.definition import read
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


SPECTRUM = files(presets).joinpath("yi2015-fig1.toml").read_text(encoding="utf-8")
BROKEN = [
    ("trials = 2", "trails = 2", 'key of a preset must be one of .*, got trails: did you mean "trials"?'),
    ("trials = 2", 'trials = "2"', 'trials must be a whole number, got "2": write it as a whole number'),
    ('"lines"', '"liness"', 'kind must be one of .*, got liness: did you mean "lines"?'),
    ("measure_title", "measur_title", "key of figure must be one of .*, got measur_title"),
    ('label = "one"', 'label = "one"\nfull_rank = true', "key of series must be one of .*, got full_rank"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BROKEN)
def test_a_wrong_key_or_kind_is_one_sentence_with_its_path(old, new, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        read("small", CURVES.replace(old, new, 1))
    assert str(caught.value).startswith("small.toml: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", presets.names())
def test_claims_and_reduced_runs_name_what_the_file_has(name):
    """A name with a mistake would leave a claim undecided, or a panel out, without a word."""
    preset = presets.load(name)
    content, panels = preset.content, [panel["title"] for panel in preset.panels]
    labels = {*preset.labels, *(line["label"] for line in content.get("lines", ()) if "bound" in line)}
    for claim in content.get("claims", ()):
        assert claim.get("panel", panels[0]) in panels
        for rule in (claim, *([claim["remark"]] if "remark" in claim else [])):
            assert set(claims.named(rule)) <= labels and rule["rule"] in claims.RULES
    for table in (*content.get("lines", ()), *preset.panels):
        assert {table.get("series", preset.labels[0]), *table.get("only", ()), *table.get("ratio", ())} <= labels
        assert table.get("panel", panels[0]) in panels
    only = content.get("quick", {}).get("only", {})
    assert set(only.get("series", ())) <= labels and set(only.get("panels", ())) <= set(panels)
    assert set(only.get("columns", ())) <= {column["label"] for column in content.get("columns", ())}
    known = {
        name
        for table in (content, *preset.panels, *preset.series)
        for key in ("axes", "grid")
        for name in table.get(key, ())
    }
    assert only.keys() <= {"series", "panels", "columns", *known, *content.get("paper", {}).get("columns", ())}
    assert not preset.positions or preset.start in preset.positions
    assert len(set(panels)) == len(panels) and len(set(preset.labels)) == len(preset.labels)
