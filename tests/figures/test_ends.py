"""Ends of curves: a dot at the last point that is drawn, and names at the right edge that do not touch."""

import numpy as np
import pytest

from lrlab.figures import theme
from lrlab.figures.convergence import curves
from lrlab.figures.recovery import Recovery


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
    for end, name in ((long, "long"), (exact, "exact")):
        curve = next(one for one in figure.data if one.name == name)
        assert end.legendgroup == curve.legendgroup and not end.showlegend and curve.showlegend
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
