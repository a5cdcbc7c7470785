"""Figures of low-rank models: what is drawn is what was measured."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import lrlab
from lrlab.figures import picture, recovery, spectrum
from lrlab.figures.recovery import Recovery
from lrlab.spectra import moments


def run_of(solver="gauss-newton", **values):
    spec = lrlab.spec("rank-one-sensing", **{"m": 300, "d1": 10, "d2": 8, "rank": 2, **values})
    trace = lrlab.solve(spec, solver)
    return trace, Recovery("Gauss-Newton", rows=trace.rows, history=trace.history, estimate=trace.estimate)


def test_heat_maps_show_truth_and_estimates_on_one_scale_and_differences_apart():
    trace, run = run_of(noise=0.1)
    truth = trace.problem.truth
    figure = picture.matrices(truth, [run])
    maps = [np.array(trace.z) for trace in figure.data]
    np.testing.assert_allclose(maps[0], truth.dense(), atol=1e-6)
    np.testing.assert_allclose(maps[1], trace.estimate.dense(), atol=1e-6)
    [difference] = picture.differences(truth, [run]).data
    np.testing.assert_allclose(np.array(difference.z), maps[1] - maps[0], atol=1e-6)
    assert len(maps) == 2 and all(t.coloraxis == "coloraxis" for t in figure.data)
    assert difference.zmax == -difference.zmin == pytest.approx(np.abs(maps[1] - maps[0]).max(), abs=1e-6)
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax == pytest.approx(-np.abs(maps[0]).max())
    frames = recovery.frames(partial(picture.matrices, truth), [run])
    np.testing.assert_array_equal(frames[-1].data[0].z, figure.data[1].z)
    assert len(frames) == len(trace.history)
    waiting = picture.matrices(truth, [Recovery("Gauss-Newton")])
    assert np.isnan(np.array(waiting.data[1].z, dtype=float)).all()


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_titles_are_whole_and_differences_say_their_size_or_that_they_are_rounding(noise):
    trace, run = run_of(noise=noise)
    long = replace(run, title="Alternating minimization of everything (AltMin-LRROM)")
    titles = [
        note.text.replace("<br>", " ") for note in picture.matrices(trace.problem.truth, [run, long]).layout.annotations
    ]
    error = f"error {trace.rows[-1]['error']:.3g}"
    names = ("Gauss-Newton", "Alternating minimization of everything")
    assert titles == ["ground truth", *(f"{name} {error}" for name in names)]
    figure = picture.differences(trace.problem.truth, [run, long])
    for note, z in zip(figure.layout.annotations, [np.array(trace.z) for trace in figure.data], strict=True):
        largest = np.abs(z).max()
        assert 0 < largest and f"{largest:.0e}" in note.text if noise == 0.0 else f"up to {largest:.1g}" in note.text
        assert ("at rounding" in note.text.replace("<br>", " ")) == (noise == 0.0)
    waiting = picture.differences(trace.problem.truth, [Recovery("Gauss-Newton")])
    assert "waiting" in waiting.layout.annotations[0].text


def test_equal_singular_values_lie_on_a_line_and_not_on_their_rounding_errors():
    trace, run = run_of(condition=1.0)
    low, high = recovery.singular_values(trace.problem.truth, [run]).layout.yaxis.range
    assert high - low == pytest.approx(1.0) and low < np.log10(trace.problem.truth.s.min()) < high
    spread, run = run_of(condition=1000.0)
    assert recovery.singular_values(spread.problem.truth, [run]).layout.yaxis.range is None


def test_large_matrices_are_drawn_in_part():
    trace, run = run_of(d1=120, d2=90, m=3000)
    figure = picture.matrices(trace.problem.truth, [run])
    assert np.array(figure.data[0].z).shape == (picture.SIDE, picture.SIDE)


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
    assert figure.layout.xaxis.title.text == "m" and len(figure.data) == 11
    # Truncation changes the size of the responses; many measurements determine the directions anyway.
    assert 0.5 * row["mean_largest"] < row["mean_clipped_largest"] < row["mean_largest"]
    assert row["mean_clipped_overlap"] == pytest.approx(row["mean_overlap"], abs=0.05)


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
