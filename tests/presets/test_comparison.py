"""Presets of kind `comparison`: what is run, what is reported beside the paper's numbers, and those numbers."""

import numpy as np
import pytest

from lrlab import presets, solve
from lrlab.engine.results import LocalResults, collect
from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.presets import comparison
from lrlab.presets.reading import read

TEXT = """
title = "t"
reference = "r"
explanation = "e"
trials = 2
model = "one-bit-multilabel"
settings = { max_iter = 3 }
spec = { m = 400, d1 = 8, d2 = 5, rank = 2 }
figure = { kind = "comparison" }
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
    plan = comparison.plan(read("small", TEXT))
    assert len(plan.items) == 2 * 2 * 2
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def test_runs_are_those_of_the_file_and_solvers_see_the_same_data():
    items = comparison.plan(read("small", TEXT)).items
    specs = {item.seeded.spec for item in items}
    assert len(specs) == 4 and {spec.noise for spec in specs} == {0.0, 0.5} and {spec.m for spec in specs} == {400}
    steps = [dict(item.job.options)["steps"] for item in items if item.job.solver == "leml-squared"]
    assert steps == [9, 2, 9, 2] and {item.job.limits.max_iter for item in items} == {3}


def test_ours_stand_beside_what_was_printed(result):
    keys = ["panel", "series", "column"]
    table, trials = result.table.dropna(subset=keys).set_index(keys).sort_index(), result.trials
    own = trials[(trials["series"] == "power") & (trials["column"] == "loud")]
    row = table.loc[("area", "power", "loud")]
    assert row["ours"] == pytest.approx(100 * own["auc"].mean()) and row["spread"] == pytest.approx(
        100 * own["auc"].std()
    )
    judged = result.table[result.table["level"] == "claim"]
    assert list(judged["panel"]) == ["area"] and judged["verdict"].iloc[0] in result.panels[0].caption
    assert row["paper"] == 95.5 and row["difference"] == pytest.approx(row["ours"] - 95.5) and row["trials"] == 2
    assert np.isnan(table.loc[("area", "LEML", "loud"), "paper"]) and np.isnan(
        table.loc[("error", "power", "loud"), "paper"]
    )
    assert table.loc[("error", "power", "loud"), "ours"] == pytest.approx(own["error"].mean())
    seed = int(own["seed"].iloc[0])
    again = solve(OneBitMultilabel(m=400, d1=8, d2=5, rank=2, noise=0.5, seed=seed), "one-bit-power", max_iter=3)
    assert again.metrics["auc"] == pytest.approx(own["auc"].iloc[0])


def test_panels_have_filled_markers_for_ours_and_open_ones_for_the_paper(result):
    area, error = result.panels
    assert [trace.name for trace in area.figure.data] == ["power, here", "power, paper", "LEML, here"]
    assert list(area.figure.data[0].x) == ["quiet", "loud"] and "Open: printed" in area.caption
    assert [trace.name for trace in error.figure.data] == ["power, here", "LEML, here"] and "Open" not in error.caption


@pytest.mark.parametrize(("name", "columns"), [("qiu2017-table1", 8 + 3), ("qiu2017-table2", 3)])
def test_the_paper_s_tables_are_whole(name, columns):
    content = presets.load(name).content
    printed = [numbers for one in content["series"] for numbers in one.get("paper", {}).values()]
    assert len(content["columns"]) == columns and {len(numbers) for numbers in printed} == {columns}
    specs = {item.job.spec for item in presets.plan(presets.load(name)).items}
    assert len(specs) == columns and {spec.rank for spec in specs} == {3}
