"""Ends of curves: at the last point that is drawn, named where nothing else is drawn."""

import re

import numpy as np
import pytest

from lrlab.figures import ends
from lrlab.figures.build import Figure
from lrlab.figures.convergence import curves
from lrlab.figures.recovery import Recovery

NAME = re.compile(r"[a-z ]+\d")


def run(name, errors):
    return Recovery(name, rows=[{"iteration": k, "seconds": k, "error": e} for k, e in enumerate(errors, start=1)])


def figure_of(*runs, **look):
    return ends.name_ends(curves(runs, log_y=True, hold=True, **look), [one.title for one in runs])


def ends_of(figure):
    return [one for one in figure.data if one.meta == "end"]


def test_a_dot_stands_at_the_last_point_that_is_drawn_and_goes_with_its_curve():
    # 121 iterates, as LEML has on Run; the other curve ends at 0, which a logarithmic axis cannot show.
    figure = figure_of(run("long", np.geomspace(1, 1e-3, 121)), run("exact", [1.0, 0.1, 0.01, 0.0]), run("waits", []))
    long, exact, waits = ends_of(figure)
    assert (list(long.x), list(long.y)) == ([121], [1e-3])
    assert (list(exact.x), list(exact.y)) == ([3], [0.01])
    assert not len(waits.x)
    for end, name in ((long, "long"), (exact, "exact")):
        curve = next(one for one in figure.data if one.name == name)
        assert end.legendgroup == curve.legendgroup and not end.showlegend and curve.showlegend
        assert end.marker.color == end.textfont.color == curve.line.color


def test_a_dot_of_a_thinned_curve_is_at_its_last_iterate():
    figure = figure_of(run("long", np.geomspace(1, 1e-3, 20_001)))
    assert list(ends_of(figure)[0].x) == [20_001]


@pytest.mark.parametrize("seed", range(20))
def test_names_touch_neither_lines_nor_each_other_and_stay_inside(seed):
    rng = np.random.default_rng(seed)
    many = [
        run(f"solver number {k}", np.exp(np.cumsum(rng.normal(-0.1, 0.3, int(rng.integers(1, 60)))))) for k in range(5)
    ]
    figure = figure_of(*many)
    area, taken = ends._Area(figure, ends.COLUMN), []
    for end in (end for end in ends_of(figure) if end.text[0]):
        [at] = area.points(end)
        box = ends._box(end.textposition, end.text[0].count("<br>"), NAME.search(end.text[0])[0], at)
        assert 0 <= box.left < box.right <= area.sizes[0] and 0 <= box.low < box.high <= area.sizes[1]
        for one in (one for one in figure.data if one.meta == "run" and len(one.x) > 1):
            x, y = area.points(one).T
            fine = np.linspace(x[0], x[-1], 5000)
            inside = (fine > box.left) & (fine < box.right)
            height = np.interp(fine, x, y)[inside]
            assert not ((height > box.low) & (height < box.high)).any()
        for other in taken:
            assert not (
                max(box.left, other.left) < min(box.right, other.right)
                and max(box.low, other.low) < min(box.high, other.high)
            )
        taken.append(box)


def test_curves_that_run_apart_have_their_names():
    apart = [run(f"solver number {k}", [1.0, *[10.0**-k] * 60]) for k in range(1, 5)]
    assert all(end.text[0] for end in ends_of(figure_of(*apart)))


def test_without_room_the_legend_alone_has_the_names():
    alike = [run(f"solver number {k}", np.geomspace(1, 1e-3 * (1 + k / 100), 100)) for k in range(6)]
    figure = figure_of(*alike)
    assert sum(bool(end.text[0]) for end in ends_of(figure)) < 6
    assert all(next(one for one in figure.data if one.name == each.title).showlegend for each in alike)


def test_only_curves_with_these_names_have_ends():
    figure = Figure().add_scatter(x=[1, 2], y=[1, 2], name="theory", mode="lines")
    assert not ends_of(ends.name_ends(figure, ["a solver"]))
