"""Presets of kind `table` in columns: what is run, what is reported beside the paper's numbers, and those numbers."""

import numpy as np
import pytest

from lrlab import presets, solve
from lrlab.engine.results import LocalResults, collect
from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.presets import table
from lrlab.presets.definition import read
from lrlab.presets.table import redrawn

TEXT = """
title = "t"
reference = "r"
explanation = "e"
trials = 2
model = "one-bit-multilabel"
settings = { max_iter = 3 }
spec = { m = 400, d1 = 8, d2 = 5, rank = 2 }
figure = { kind = "table" }
columns = [
  { label = "quiet" }, { label = "loud", spec = { noise = 0.5 }, settings = { LEML = { steps = 2 } } },
]
series = [
  { label = "power", solver = "one-bit-power", paper = { auc = [99.0, 95.5] } },
  { label = "LEML", solver = "leml-squared", settings = { steps = 9 } },
]
panels = [
  { title = "area", measure = "auc", measure_title = "AUC (%)", scale = 100 },
  { title = "error", measure = "error", measure_title = "error" },
]
"""


@pytest.fixture(scope="module")
def result():
    plan = table.plan(read("small", TEXT))
    assert len(plan.items) == 2 * 2 * 2
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def test_runs_are_those_of_the_file_and_solvers_see_the_same_data():
    items = table.plan(read("small", TEXT)).items
    specs = {item.seeded.spec for item in items}
    assert len(specs) == 4 and {spec.noise for spec in specs} == {0.0, 0.5} and {spec.m for spec in specs} == {400}
    steps = [dict(item.job.options)["steps"] for item in items if item.job.solver == "leml-squared"]
    assert steps == [9, 2, 9, 2] and {item.job.limits.max_iter for item in items} == {3}


def test_ours_stand_beside_what_was_printed(result):
    keys = ["panel", "series", "column"]
    rows, trials = result.table.dropna(subset=keys).set_index(keys).sort_index(), result.trials
    own = trials[(trials["series"] == "power") & (trials["column"] == "loud")]
    row = rows.loc[("area", "power", "loud")]
    assert row["ours"] == pytest.approx(100 * own["auc"].mean()) and row["spread"] == pytest.approx(
        100 * own["auc"].std()
    )
    judged = result.table[result.table["level"] == "claim"]
    assert list(judged["panel"]) == ["area"] and judged["verdict"].iloc[0] in result.panels[0].caption
    assert row["paper"] == 95.5 and row["difference"] == pytest.approx(row["ours"] - 95.5) and row["trials"] == 2
    assert np.isnan(rows.loc[("area", "LEML", "loud"), "paper"]) and np.isnan(
        rows.loc[("error", "power", "loud"), "paper"]
    )
    assert rows.loc[("error", "power", "loud"), "ours"] == pytest.approx(own["error"].mean())
    seed = int(own["seed"].iloc[0])
    again = solve(OneBitMultilabel(m=400, d1=8, d2=5, rank=2, noise=0.5, seed=seed), "one-bit-power", max_iter=3)
    assert again.metrics["auc"] == pytest.approx(own["auc"].iloc[0])


def has_numbers(content):
    """Return whether a file has numbers that its paper prints."""
    own = [one.get("paper") for one in content.get("series", ())]
    return "rows" in content.get("paper", {}) or any(isinstance(one, dict) for one in own)


NUMBERS = [name for name in presets.names() if has_numbers(presets.load(name).content)]


def test_all_files_with_printed_numbers_have_such_figures():
    assert [name for name in presets.names() if redrawn(name)] == NUMBERS and len(NUMBERS) > 8


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_that_is_drawn_is_printed_and_every_printed_one_of_a_panel_is_drawn(name):
    content = presets.load(name).content
    for panel in content["panels"]:
        figure, measure = redrawn(name).get(panel["title"]), panel["measure"]
        traces = figure.data if figure else ()
        drawn = {float(y) for trace in traces for y in trace.y}
        assert all(trace.name.endswith(", paper") for trace in traces)
        if "rows" in content.get("paper", {}):
            columns, where = content["paper"]["columns"], panel.get("rows", {})
            rows = [dict(zip(columns, row, strict=True)) for row in content["paper"]["rows"]]
            full = {one["label"] for one in content["series"] if one.get("full_rank")}
            own = [
                row for row in rows
                if all(row[key] == value or (key == "share" and row["series"] in full) for key, value in where.items())
            ]  # fmt: skip
            assert drawn == {float(row[measure]) for row in own if row[measure] != ""}
        else:
            key = panel.get("paper", measure)
            printed = [one["paper"][key] for one in content["series"] if key in one.get("paper", {})]
            assert drawn == {float(y) for own in printed for y in own if y == y}
