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
  { label = "quiet" }, { label = "loud", spec = { noise = 0.5 }, settings = { LEML = { regularization = 2.0 } } },
]
series = [
  { label = "power", solver = "one-bit-power" },
  { label = "LEML", solver = "leml-squared", settings = { regularization = 9.0 } },
]
panels = [
  { title = "area", metric = "auc", metric_title = "AUC (%)", scale = 100 },
  { title = "error", metric = "error", metric_title = "error" },
]
[paper]
columns = ["column", "series", "auc"]
rows = [["quiet", "power", 99.0], ["quiet", "LEML", ""], ["loud", "power", 95.5], ["loud", "LEML", ""]]
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
    strengths = [dict(item.job.options)["regularization"] for item in items if item.job.solver == "leml-squared"]
    assert strengths == [9.0, 2.0, 9.0, 2.0] and {item.job.limits.max_iter for item in items} == {3}


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


NUMBERS = [name for name in presets.names() if "rows" in presets.load(name).content.get("paper", {})]


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_that_is_drawn_is_printed_and_every_printed_one_of_a_panel_is_drawn(name):
    content = presets.load(name).content
    for panel in content["panels"]:
        figure, column = redrawn(name).get(panel["title"]), panel.get("paper", panel["metric"])
        traces = figure.data if figure else ()
        drawn = {float(y) for trace in traces for y in trace.y}
        assert all(trace.name.endswith(", paper") for trace in traces)
        columns, where = content["paper"]["columns"], panel.get("rows", {})
        rows = [dict(zip(columns, row, strict=True)) for row in content["paper"]["rows"]]
        full = {one["label"] for one in content["series"] if one.get("full_rank")}
        own = [
            row for row in rows
            if all(row[key] == value or (key == "share" and row["series"] in full) for key, value in where.items())
        ]  # fmt: skip
        assert drawn == {float(row[column]) for row in own if row.get(column, "") != ""}
