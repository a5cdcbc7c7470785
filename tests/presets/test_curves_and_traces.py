"""Presets of kinds `curves` and `traces`: small versions of their figures, and the statistics that these show."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from lrlab import presets
from lrlab.engine.stream import LocalStream, collect
from lrlab.presets import curves, traces
from lrlab.sweeps.toml_source import Source


def small_plan(name, **changes):
    """Plan a preset with other content."""
    preset, source = presets.load(name), Source("")
    source.content = {**preset.content, **changes}
    return presets.plan(dataclasses.replace(preset, source=source))


def small(name, **changes):
    plan = small_plan(name, **changes)
    return plan.finish(collect(LocalStream(plan.function, plan.items)))


def test_a_figure_of_successes_tells_where_half_of_them_succeed():
    content = presets.load("soltani2018-fig2a").content
    series = [one for one in content["series"] if one["solver"] in ("gauss-newton", "ep-rom")][:2]
    series = [{"label": "tangent", "solver": "tangent-descent"}, *series]
    result = small(
        "soltani2018-fig2a", axes={"m": [20, 200, 600]}, trials=4, series=series,
        spec={"p": 20, "r": 2, "signs": "positive"},
    )  # fmt: skip
    points = result.table[result.table["level"] == "point"]
    assert points["trials"].eq(4).all(), "trials that diverged are counted"
    share = points[points["series"] == "tangent"].set_index("m")["share"]
    assert share[600] == 1
    halves = result.table[result.table["level"] == "series"].set_index("series")["half"]
    assert 20 < halves["tangent"] <= 600
    assert f"tangent at {halves['tangent']:.0f}" in result.panels[0].caption
    assert any("degrees of freedom (39)" in (trace.name or "") for trace in result.panels[0].figure.data)


def test_half_points():
    rows = pd.DataFrame({"series": ["a"] * 4 + ["b"] * 2, "x": [1, 2, 3, 4, 1, 2], "share": [0, 0.2, 0.6, 1, 0, 0.1]})
    found = curves.half_points(rows)
    assert found["a"] == pytest.approx(2.75) and np.isnan(found["b"])


def test_figures_of_errors_show_medians_and_leave_out_what_cannot_be():
    result = small("jain2013-fig1d", axes={"d": [1, 4]}, trials=3)
    points = result.table
    assert set(zip(points["series"], points["d"], strict=True)) == {
        ("k = 1", 1),
        ("k = 1", 4),
        ("k = 2", 4),
        ("k = 3", 4),
    }
    refused = result.trials[result.trials["refused"] != ""]
    assert len(refused) == 2 and refused["refused"].str.contains("lower rank").all()


def test_figures_of_traces_share_their_runs_between_panels():
    content = presets.load("soltani2018-fig2b").content
    spec = {"p": 12, "r": 2, "m": 400, "noise": 0.1}
    plan = small_plan("soltani2018-fig2b", spec=spec, trials=2, settings={"max_iter": 5, "tol": 0})
    assert len(plan.items) == 2 * len(content["series"])
    result = plan.finish(collect(LocalStream(plan.function, plan.items)))
    misfit, error = result.panels
    assert "misfit" in misfit.figure.layout.yaxis.title.text and "L̂" in error.figure.layout.yaxis.title.text
    assert set(result.table["panel"]) == {misfit.title, error.title}


def test_a_run_that_has_ended_keeps_its_last_value_in_the_median():
    rows = pd.DataFrame(
        [("s", 0, 1, 0.1, 4.0), ("s", 0, 2, 0.2, 2.0), ("s", 0, 3, 0.3, 1.0), ("s", 1, 1, 0.1, 6.0)],
        columns=["series", "trial", "iteration", "seconds", "error"],
    )
    found = traces.median_traces(rows, "error")
    assert found["y"].tolist() == [5.0, 4.0, 3.5] and found["trials"].tolist() == [2, 2, 2]
