"""Labels of logarithmic axes in notebooks lie apart."""

import json
import math

import numpy as np
import pytest

import lrlab
from lrlab.figures import build, theme
from lrlab.figures.ticks import log_ticks, number_of_ticks

PIXELS = 300
"""Of the axis: a figure on a telephone."""


def labelled(low, high, most):
    """Return where plotly.js puts labels on an axis from one power of ten to another (`autoTicks`)."""
    span = high - low
    rough = span / most
    if rough > 0.7:
        step = math.ceil(rough)
        return np.arange(math.ceil(low / step) * step, high + 1e-9, step)
    if span >= 1:
        parts = (1, 2, 5) if rough > 0.3 else range(1, 10)
        powers = np.add.outer(np.arange(math.floor(low), high + 1), np.log10(parts)).ravel()
        return powers[(powers >= low - 1e-9) & (powers <= high + 1e-9)]
    rough = (10**high - 10**low) / (1.5 * span / rough)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * part for part in (1, 2, 5, 10) if unit * part >= rough)
    return np.log10(np.arange(math.ceil(10**low / step), math.floor(10**high / step) + 1) * step)


def closest(most_of):
    """Return the least distance of two labels in pixels, over axes of many lengths."""
    rng = np.random.default_rng(0)
    gaps = []
    for span in np.geomspace(0.1, 8.0, 400):
        low = rng.uniform(-4.0, 3.0)
        places = labelled(low, low + span, most_of(span))
        gaps.append(np.diff(places).min(initial=span) / span * PIXELS)
    return min(gaps)


def test_labels_lie_apart_on_axes_of_any_length():
    assert closest(number_of_ticks) > 22
    assert closest(lambda span: 9) < 8, "what plotly takes on a wide screen"


def test_the_number_is_that_of_the_axis_as_it_is_shown():
    figure = build.grid(1, 2).add_trace(build.trace("scatter", x=[1, 30], y=[0.0, np.nan]))
    figure.add_trace(build.trace("scatter", x=[1.0, 1000.0], y=[1, 2]), row=1, col=2)
    figure.update_xaxes(type="log").update_yaxes(type="log", row=1, col=1).update_layout(yaxis_range=[0, 2])
    layout = theme.style(figure).readable().layout
    expected = {"xaxis": math.log10(30), "yaxis": 2.0, "xaxis2": 3.0}
    assert {name: layout[name].nticks for name in expected} == {
        name: number_of_ticks(span) for name, span in expected.items()
    }
    assert layout.yaxis2.nticks is None and layout.xaxis.tickformat == "~g"


def test_a_figure_that_was_stored_has_the_same_ticks():
    figure = build.Figure().add_scatter(x=np.geomspace(1.0, 30.0, 5), y=[1.0, None, 3.0, 4.0, 5.0])
    figure.update_xaxes(type="log").update_yaxes(type="log")
    stored = json.loads(figure.to_json())
    assert "bdata" in stored["data"][0]["x"]
    assert log_ticks(stored["data"], stored["layout"]) == log_ticks(figure.data, figure.layout)


def test_a_comparison_of_traces_has_it():
    trace = lrlab.solve(lrlab.spec("phase-retrieval", m=60, p=6, seed=0), "wirtinger-flow", max_iter=40)
    layout = lrlab.compare([trace], "error", log_x=True).layout
    assert [axis.nticks for axis in (layout.xaxis, layout.yaxis)] == pytest.approx(
        [number_of_ticks(np.ptp(axis.range)) for axis in (layout.xaxis, layout.yaxis)]
    )
