"""Figures of sweeps: the colours of scores, of successes and of solvers."""

import pandas as pd

from lrlab.catalog import spec
from lrlab.runs.drawn import style_of
from lrlab.sweeps import drawn
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.drawn import View
from lrlab.sweeps.results import Results
from lrlab.sweeps.sweep_data import SHARE, SweepData

SOLVERS = ["gamp", "marginal-mean"]


def sweep(axes):
    return Sweep(spec=spec("one-bit-sensing", p=5), axes=axes, solvers=SOLVERS, trials=1)


def test_maps_of_scores_have_other_colours_than_maps_of_successes():
    plane = sweep((("noise", [0.1, 0.5]), ("n", [100, 200])))
    assert drawn.score_of(plane, SHARE).colours != drawn.score_of(plane, "overlap").colours


def test_a_solver_has_the_same_colour_wherever_it_is_drawn():
    one = sweep((("noise", [0.1, 0.5]),))
    for solver, (title, look) in zip(SOLVERS, drawn.looks(one).items(), strict=True):
        assert look == style_of("one-bit-sensing", solver) and look.title == title
    lines = drawn.lines(SweepData(Results(one)), View("overlap", False, True, False)).figure
    colours = {trace.name: trace.line.color for trace in lines.data if trace.name in drawn.looks(one)}
    assert colours == {title: look.colour for title, look in drawn.looks(one).items()}


def test_lines_say_how_each_series_begins_and_ends():
    points = pd.DataFrame({"series": ["a", "a", "a", "b"], "x": [1.0, 2.0, 4.0, 1.0], "y": [0.9, 0.5, 0.125, 0.25]})
    assert drawn._ends(points) == ["a: 0.9 at 1, 0.12 at 4.", "b: 0.25 at 1."]
    empty = drawn.lines(SweepData(Results(sweep((("noise", [0.1, 0.5]),)))), View(SHARE, False, True, False))
    assert empty.said == "" and not any(len(one.x) for one in empty.figure.data if one.meta == "wide end")
