"""Figures as dictionaries: what plotly's classes say, names at the ends of curves, limits, numbers, matrices."""

import base64
import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

import lrlab
from lrlab import catalog
from lrlab.figures import build, convergence, recovery, spectrum, theme
from lrlab.figures.convergence import curves
from lrlab.figures.numbers import rounded
from lrlab.figures.recovery import Recovery
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.spectra import moments
from lrlab.theory.predicted_overlap import best_overlap
from lrlab.ui.converge.run_controls import theory_caption


def test_a_figure_is_what_plotly_makes_of_the_same_calls():
    points = pd.DataFrame({"x": [1.0, 2.0], "y": [0.5, np.nan], "n": [3, 4]})
    ours, theirs = build.Figure(), go.Figure()
    for figure in (ours, theirs):
        figure.add_scatter(x=points["x"], y=points["y"], customdata=points[["n", "y"]], line={"dash": "dot"}, name="a")
        figure.add_bar(x=[1, 2], y=np.array([2.0, 3.0], dtype=np.float32), marker={"color": "#123456"})
        figure.add_vrect(x0=0.0, x1=1.0, fillcolor="#abcdef", line_width=0, layer="below")
        figure.update_xaxes(title_text="x", range=[0, 3]).update_yaxes(type="log", title={"text": "y"})
        figure.update_yaxes(title_text="other").update_layout(height=300, showlegend=False)
    mine, plotly = ours.plotly().to_dict(), theirs.to_dict()
    del plotly["layout"]["template"], mine["layout"]["template"]
    assert mine["layout"] == plotly["layout"]
    assert [trace["type"] for trace in mine["data"]] == ["scatter", "bar"]
    assert mine["data"][0]["customdata"] == [[3, 0.5], [4, None]] or "bdata" in mine["data"][0]["customdata"]


def test_subplots_lie_where_plotly_puts_them():
    gaps = {"horizontal_spacing": 0.06, "vertical_spacing": 0.11}
    ours = build.grid(2, 3, list("abcde"), *gaps.values())
    theirs = make_subplots(2, 3, subplot_titles=list("abcde"), **gaps)
    ours.add_trace(build.trace("scatter", x=[1], y=[2]), subplot=4)
    theirs.add_scatter(x=[1], y=[2], row=2, col=2)
    mine, plotly = ours.layout, theirs.to_dict()["layout"]
    for name in (name for name in plotly if "axis" in name):
        assert mine[name]["anchor"] == plotly[name]["anchor"]
        np.testing.assert_allclose(mine[name]["domain"], plotly[name]["domain"], atol=1e-12)
    for note, other in zip(mine["annotations"], plotly["annotations"], strict=True):
        assert note["text"] == other["text"]
        np.testing.assert_allclose([note["x"], note["y"]], [other["x"], other["y"]], atol=1e-12)
    assert (ours.data[0].xaxis, ours.data[0].yaxis) == (theirs.data[0].xaxis, theirs.data[0].yaxis)


def test_what_is_not_a_number_is_null_and_the_template_is_valid():
    figure = theme.style(build.Figure().add_scatter(x=[1.0, float("nan")], y=np.array([np.inf, 1], dtype=object)))
    read = json.loads(figure.to_json())
    assert read["data"][0]["x"] == [1.0, None] and read["data"][0]["y"] == [None, 1]
    assert read["layout"]["template"]["layout"]["colorway"] == list(theme.PALETTE)
    figure.plotly()


def numbers(values):
    """Return an array that a figure has as bytes, or as a list."""
    if not isinstance(values, dict):
        return np.asarray(values, dtype=float)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return flat.reshape([int(n) for n in values.get("shape", str(len(flat))).split(",")])


def test_arrays_are_the_bytes_that_plotly_makes():
    for array in (np.arange(5), np.eye(2), np.arange(3, dtype=np.uint8), np.array([2**40, 1]), np.array([])):
        [mine] = json.loads(build.Figure().add_scatter(y=array).to_json())["data"]
        np.testing.assert_array_equal(numbers(mine["y"]), array)


def run(name, errors):
    return Recovery(name, rows=[{"iteration": k, "seconds": k, "error": e} for k, e in enumerate(errors, start=1)])


def figure_of(*runs, **look):
    return theme.name_ends(curves(runs, log_y=True, hold=True, **look), [one.title for one in runs])


def ends_of(figure):
    return [one for one in figure.data if one.meta == "end"]


def test_a_dot_stands_at_the_last_point_that_is_drawn_and_goes_with_its_curve():
    # 121 iterates, as LEML has on Run; the other curve ends at 0, which a logarithmic axis cannot show.
    figure = figure_of(run("long", np.geomspace(1, 1e-3, 121)), run("exact", [1.0, 0.1, 0.01, 0.0]), run("waits", []))
    long, exact, waits = ends_of(figure)
    assert (long.x[0], long.y[0]) == pytest.approx((121, 1e-3))
    assert (exact.x[0], exact.y[0]) == pytest.approx((3, 0.01))
    assert not len(waits.x)
    # What has no name at its end has one in the legend.
    assert [one.name for one in figure.data if one.meta == "run" and one.showlegend] == ["waits"]
    for end, name in ((long, "long"), (exact, "exact")):
        curve = next(one for one in figure.data if one.name == name)
        assert end.legendgroup == curve.legendgroup and not end.showlegend
        assert end.marker.color == curve.line.color and end.text == ["", name]
        assert end.x[1] == pytest.approx(figure.layout.xaxis.range[1])


@pytest.mark.parametrize("seed", range(5))
def test_names_are_apart_in_the_order_of_the_ends_and_stay_inside(seed):
    rng = np.random.default_rng(seed)
    many = [run(f"solver {k}", np.exp(np.cumsum(rng.normal(-0.1, 0.1, int(rng.integers(1, 60)))))) for k in range(6)]
    figure = figure_of(*many)
    last, names = (np.log10([end.y[k] for end in ends_of(figure)]) for k in (0, 1))
    low, high = figure.layout.yaxis.range
    assert (np.argsort(last) == np.argsort(names)).all()
    assert np.diff(np.sort(names)).min() / (high - low) * (400 - theme.MARGINS) > theme.LABEL - 1e-9
    assert names.min() > low - 1e-9 and names.max() < high + 1e-9


def test_names_with_room_are_at_the_height_of_their_ends():
    figure = figure_of(*(run(f"solver {k}", [1.0, *[10.0**-k] * 60]) for k in range(1, 5)))
    for end in ends_of(figure):
        assert end.y[1] == pytest.approx(end.y[0])


def test_a_long_name_is_an_abbreviation_with_its_variant_or_takes_two_lines():
    titles = ("Binary iterative hard thresholding (BIHT): normalize", "Optimal spectral method", "SVP (hard threshold)")
    names = [end.text[1] for end in ends_of(figure_of(*(run(title, [1.0, 0.1]) for title in titles)))]
    assert names == ["BIHT: normalize", "Optimal spectral<br>method", "SVP"]


def test_metrics_name_the_limit_for_large_sizes_and_a_bound_only_where_it_holds():
    spec = lrlab.spec("one-bit-sensing", n=400, p=100, sparsity=40, seed=77)
    metrics = lrlab.solve(spec, "marginal-mean").metrics
    assert metrics["limit_best_overlap"] == best_overlap(spec).best > metrics["overlap"]
    assert "limit_best_fast_overlap" not in metrics and "best_overlap" not in metrics


def test_few_non_zero_entries_have_no_limits():
    for sparsity in (1, 5, 20):
        spec = lrlab.spec("one-bit-sensing", n=60, p=1000, sparsity=sparsity, noise=1.0)
        assert catalog.family(spec.model).asymptotics(spec) == {}
        assert "limit_overlap" not in theory.predictions(make_job(spec, "gamp"), sampled=False)


def test_captions_say_what_dots_and_curves_are():
    limited = Recovery("gamp", predictions={"limit_overlap": 0.5, "limit_best_overlap": 0.8}, expected=[0.2, 0.4])
    words = theory_caption([limited], "overlap")
    assert "asymptotic information-theoretic limit; small problems may end beyond it." in words
    assert "each iterate of gamp" in words and "on average" not in words and "polynomial-time methods" not in words
    hard = Recovery("sir", predictions={"limit_best_overlap": 0.8, "limit_best_fast_overlap": 0.5})
    assert "and the limit of polynomial-time methods" in theory_caption([hard], "error")
    here = Recovery("sir", predictions={"predicted_overlap": 0.5, "best_overlap": 0.6})
    assert "at this n and p" in theory_caption([here], "overlap") and "limit" not in theory_caption([here], "overlap")
    assert theory_caption([limited], "misfit") == theory_caption([], "error") == ""


@pytest.mark.parametrize("measure", ["overlap", "error"])
def test_bounds_limits_and_expected_iterates_are_drawn(measure):
    best = {"best_overlap": 0.9, "best_overlap_low": 0.8, "best_overlap_high": 0.95}
    best |= {"best_error": 0.3, "best_error_low": 0.2, "best_error_high": 0.4}
    predictions = {"predicted_overlap": 0.5, "limit_best_overlap": 0.81, "limit_best_fast_overlap": 0.64} | best
    rows = [{"iteration": k, "seconds": 0.1 * k, "overlap": 0.5, "error": 0.7} for k in (1, 2, 3)]
    run = Recovery("gamp", rows=rows, predictions=predictions, expected=[0.25, 0.49])
    drawn = {trace.name or trace.hovertemplate: trace for trace in convergence.curves([run], measure).data}
    levels = {words: drawn[words].y[0] for words in convergence.LIMITS.values()}
    overlaps = np.array([0.81, 0.64])
    wanted = overlaps if measure == "overlap" else np.sqrt(2 - 2 * np.sqrt(overlaps))
    assert list(levels.values()) == pytest.approx(list(wanted))
    assert drawn[convergence.BOUNDS["best"]].y[0] == best[f"best_{measure}"], "not the error of the mean overlap"
    [path] = [
        trace for trace in drawn.values() if trace.hovertemplate and "after %{x} iterations" in trace.hovertemplate
    ]
    assert list(path.x) == [1, 2] and path.y[0] == pytest.approx(0.25 if measure == "overlap" else 1.0)
    assert not any("iterations" in (t.hovertemplate or "") for t in convergence.curves([run], measure, "seconds").data)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3638.0, "3,640"), (-0.5, "−0.5"), (0.03, "0.03"), (999.6, "1,000"), (999_499.0, "999,000"), (0.0, "0"),
        (999_500.0, "1·10⁶"), (3.638e6, "3.64·10⁶"), (0.000124, "1.24·10⁻⁴"), (-2e-7, "−2·10⁻⁷"), (1e-3, "0.001"),
        (0.00099996, "0.001"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_a_number_has_three_digits_and_no_exponent_below_a_million(number, text):
    assert rounded(number) == text


def run_of(solver="gauss-newton", **values):
    spec = lrlab.spec("rank-one-sensing", **{"m": 300, "d1": 10, "d2": 8, "rank": 2, **values})
    trace = lrlab.solve(spec, solver)
    return trace, Recovery("Gauss-Newton", rows=trace.rows, history=trace.history, estimate=trace.estimate)


def test_heat_maps_show_truth_and_estimates_on_one_scale():
    trace, run = run_of(noise=0.1)
    truth = trace.problem.truth
    figure = recovery.matrices(truth, [run])
    maps = [np.array(trace.z) for trace in figure.data]
    np.testing.assert_allclose(maps[0], truth.dense(), atol=1e-6)
    np.testing.assert_allclose(maps[1], trace.estimate.dense(), atol=1e-6)
    assert len(maps) == 2 and all(t.coloraxis == "coloraxis" for t in figure.data)
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax == pytest.approx(-np.abs(maps[0]).max())
    frames = recovery.frames(partial(recovery.matrices, truth), [run])
    np.testing.assert_array_equal(frames[-1].data[0].z, figure.data[1].z)
    assert len(frames) == len(trace.history)
    waiting = recovery.matrices(truth, [Recovery("Gauss-Newton")])
    assert np.isnan(np.array(waiting.data[1].z, dtype=float)).all()


def test_titles_of_matrices_are_whole():
    trace, run = run_of(noise=0.1)
    long = replace(run, title="Alternating minimization of everything (AltMin-LRROM)")
    layout = recovery.matrices(trace.problem.truth, [run, long], height=260).layout
    # The titles of the lower row lie below the pictures of the upper one.
    gap = layout.yaxis.domain[0] - layout.yaxis3.domain[1]
    assert gap * (260 - layout.margin.t - layout.margin.b) >= recovery.LINE * 3
    assert layout.margin.b >= recovery.FOOT, "room for the color bar"
    titles = [note.text.replace("<br>", " ") for note in layout.annotations]
    error = f"error {trace.rows[-1]['error']:.3g}"
    names = ("Gauss-Newton", "Alternating minimization of everything")
    assert titles == ["ground truth", *(f"{name} {error}" for name in names)]


def test_equal_singular_values_lie_on_a_line_and_not_on_their_rounding_errors():
    trace, run = run_of(condition=1.0)
    low, high = recovery.singular_values(trace.problem.truth, [run]).layout.yaxis.range
    assert high - low == pytest.approx(1.0) and low < np.log10(trace.problem.truth.s.min()) < high
    spread, run = run_of(condition=1000.0)
    assert recovery.singular_values(spread.problem.truth, [run]).layout.yaxis.range is None


def test_large_matrices_are_drawn_in_part():
    trace, run = run_of(d1=120, d2=90, m=3000)
    figure = recovery.matrices(trace.problem.truth, [run])
    assert np.array(figure.data[0].z).shape == (recovery.SIDE, recovery.SIDE)


def test_singular_values_are_sorted_by_size_on_a_log_axis_and_negative_ones_are_open():
    trace = lrlab.solve(lrlab.spec("polynomial-network", m=300, p=10, r=3), "gauss-newton")
    run = Recovery("Gauss-Newton", estimate=trace.estimate)
    figure = recovery.singular_values(trace.problem.truth, [run])
    np.testing.assert_allclose(figure.data[0].y, figure.data[1].y, atol=1e-8)
    assert list(figure.data[0].y) == sorted(figure.data[0].y, reverse=True) and min(figure.data[0].y) > 0
    signs = [symbol.endswith("-open") for symbol in figure.data[1].marker.symbol]
    assert signs == [value < 0 for value in figure.data[1].customdata] and any(signs)
    assert figure.layout.yaxis.type == "log" and "eigenvalue" in figure.layout.yaxis.title.text


@pytest.mark.parametrize("model", ["rank-one-sensing", "polynomial-network"])
def test_the_moment_comes_close_to_its_gaussian_approximation_with_many_measurements(model):
    spec = lrlab.spec(model)
    table = moments.compare(moments.moments(spec, "m", [20_000], trials=3))
    [limit] = moments.predictions(spec, "m", [20_000]).to_dict("records")
    [row] = table.to_dict("records")
    assert row["mean_next"] == pytest.approx(limit["edge"], rel=0.15)
    assert row["mean_smallest"] == pytest.approx(limit["smallest"], rel=0.1)
    assert row["mean_overlap"] == pytest.approx(limit["overlap"], abs=0.03)
    figure = spectrum.eigenvalues(table, moments.predictions(spec, "m", [500, 20_000]), axis_title="m")
    assert figure.layout.xaxis.title.text == "m" and len(figure.data) == 8


@pytest.mark.parametrize("field", ["real", "complex"])
def test_the_moment_of_phase_retrieval_lies_on_its_exact_curves(field):
    spec = lrlab.spec("phase-retrieval", p=200, field=field)
    table = moments.compare(moments.moments(spec, "ratio", [3.0, 6.0], trials=4))
    exact = moments.predictions(spec, "ratio", [3.0, 6.0])
    for row, limit in zip(table.to_dict("records"), exact.to_dict("records"), strict=True):
        assert row["mean_largest"] == pytest.approx(limit["largest"], abs=0.12)
        assert row["mean_next"] == pytest.approx(limit["edge"], abs=0.12)
        assert row["mean_overlap"] == pytest.approx(limit["overlap"], abs=0.08)
    assert exact["overlap"][0] > 0.5 and exact["largest"][1] > exact["edge"][1]
    figure = spectrum.eigenvalues(table, exact, axis_title="m/p")
    assert "largest" not in [trace.name for trace in figure.data]
