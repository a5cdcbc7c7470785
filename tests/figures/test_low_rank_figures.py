"""Figures and presets of low-rank models: what is drawn is what was measured."""

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab import presets
from lrlab.figures import factors
from lrlab.figures import moments as moment_figures
from lrlab.figures.recovery import Recovery
from lrlab.presets import curves
from lrlab.presets import traces as trace_kind
from lrlab.runs.trial import in_process
from lrlab.spectra import moments
from lrlab.sweeps import traces


def run_of(solver="gauss-newton", **values):
    spec = lrlab.spec("rank-one-sensing", **{"m": 300, "d1": 10, "d2": 8, "rank": 2, **values})
    trace = lrlab.solve(spec, solver)
    return trace, Recovery("Gauss-Newton", rows=trace.rows, history=trace.history, estimate=trace.estimate)


def test_heat_maps_show_truth_estimate_and_difference():
    trace, run = run_of(noise=0.1)
    truth = trace.problem.truth
    figure = factors.matrices(truth, [run])
    shown = [np.array(trace.z) for trace in figure.data]
    np.testing.assert_allclose(shown[0], truth.dense(), atol=1e-6)
    np.testing.assert_allclose(shown[1], trace.estimate.dense(), atol=1e-6)
    np.testing.assert_allclose(shown[2], shown[1] - shown[0], atol=1e-6)
    assert all(t.zmin == -t.zmax for t in figure.data)
    frames = factors.matrix_frames(truth, [run])
    np.testing.assert_array_equal(frames[-1].data[0].z, figure.data[1].z)
    assert len(frames) == len(trace.history)
    waiting = factors.matrices(truth, [Recovery("Gauss-Newton")])
    assert np.isnan(np.array(waiting.data[1].z, dtype=float)).all()


def test_large_matrices_are_drawn_in_part():
    trace, run = run_of(d1=120, d2=90, m=3000)
    figure = factors.matrices(trace.problem.truth, [run])
    assert np.array(figure.data[0].z).shape == (factors.SIDE, factors.SIDE)


def test_singular_values_are_sorted_and_keep_their_signs():
    trace = lrlab.solve(lrlab.spec("polynomial-network", m=300, p=10, r=3), "gauss-newton")
    run = Recovery("Gauss-Newton", estimate=trace.estimate)
    figure = factors.singular_values(trace.problem.truth, [run])
    np.testing.assert_allclose(figure.data[0].y, figure.data[1].y, atol=1e-8)
    assert list(figure.data[0].y) == sorted(figure.data[0].y, reverse=True) and min(figure.data[0].y) < 0
    assert "eigenvalue" in figure.layout.yaxis.title.text


@pytest.mark.parametrize("model", ["rank-one-sensing", "polynomial-network"])
def test_the_moment_comes_close_to_its_gaussian_approximation_with_many_measurements(model):
    spec = lrlab.spec(model)
    table = moments.compare(moments.moments(spec, "m", [20_000], trials=3), moments.ranks(spec, "m", [20_000]))
    [limit] = moments.predictions(spec, "m", [20_000]).to_dict("records")
    [row] = table.to_dict("records")
    assert row["mean_next"] == pytest.approx(limit["edge"], rel=0.15)
    assert row["mean_smallest"] == pytest.approx(limit["smallest"], rel=0.1)
    assert row["mean_overlap"] == pytest.approx(limit["overlap"], abs=0.03)
    figure = moment_figures.values(table, moments.predictions(spec, "m", [500, 20_000]), axis_title="m")
    assert figure.layout.xaxis.title.text == "m" and len(figure.data) == 9


def test_the_moment_does_not_depend_on_where_it_is_computed():
    spec = lrlab.spec("inductive-completion", n1=40, n2=30, d1=5, d2=5, rank=2)
    one, two = (moments.moments(spec, "observed", [0.1, 0.3], trials=2) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)
    assert set(one["rank"]) == {1, 2, 3}


def small(name, **changes):
    content = {**presets.load(name).content, **changes}
    kind = curves if content["kind"] == "curves" else trace_kind
    plan = kind.plan(content)
    return plan.finish(in_process(plan.function, plan.items))


def test_a_figure_of_successes_tells_where_half_of_them_succeed():
    content = presets.load("soltani2018-fig2a").content
    series = [one for one in content["series"] if one["solver"] in ("gauss-newton", "ep-rom")][:2]
    series = [{"label": "tangent", "solver": "tangent-descent"}, *series]
    result = small(
        "soltani2018-fig2a", values=[20, 200, 600], trials=4, series=series,
        spec={"p": 20, "r": 2, "seed": 0, "signs": "positive"},
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
    result = small("jain2013-fig1d", values=[1, 4], trials=3)
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
    spec = {"p": 12, "r": 2, "m": 400, "noise": 0.1, "seed": 0}
    plan = trace_kind.plan({**content, "spec": spec, "trials": 2, "settings": {"max_iter": 5, "tol": 0}})
    assert len(plan.items) == 2 * len(content["series"])
    result = plan.finish(in_process(plan.function, plan.items))
    misfit, error = result.panels
    assert "misfit" in misfit.figure.layout.yaxis.title.text and "L̂" in error.figure.layout.yaxis.title.text
    assert set(result.table["panel"]) == {misfit.title, error.title}


def test_a_run_that_has_ended_keeps_its_last_value_in_the_median():
    rows = pd.DataFrame(
        [("s", 0, 1, 0.1, 4.0), ("s", 0, 2, 0.2, 2.0), ("s", 0, 3, 0.3, 1.0), ("s", 1, 1, 0.1, 6.0)],
        columns=["series", "trial", "iteration", "seconds", "error"],
    )
    found = traces.gathered(rows, ["series"], "error")
    assert found["y"].tolist() == [5.0, 4.0, 3.5] and found["trials"].tolist() == [2, 2, 2]


@pytest.mark.parametrize("field", ["real", "complex"])
def test_the_moment_of_phase_retrieval_lies_on_its_exact_curves(field):
    spec = lrlab.spec("phase-retrieval", p=200, field=field)
    table = moments.compare(
        moments.moments(spec, "ratio", [3.0, 6.0], trials=4), moments.ranks(spec, "ratio", [3.0, 6.0])
    )
    exact = moments.predictions(spec, "ratio", [3.0, 6.0])
    for row, limit in zip(table.to_dict("records"), exact.to_dict("records"), strict=True):
        assert row["mean_largest"] == pytest.approx(limit["largest"], abs=0.12)
        assert row["mean_next"] == pytest.approx(limit["edge"], abs=0.12)
        assert row["mean_overlap"] == pytest.approx(limit["overlap"], abs=0.08)
    assert exact["overlap"][0] > 0.5 and exact["largest"][1] > exact["edge"][1]
    figure = moment_figures.values(table, exact, axis_title="m/p")
    assert "largest" not in [trace.name for trace in figure.data]
