"""Figures of sweeps: the colours of scores, of successes and of solvers."""

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
