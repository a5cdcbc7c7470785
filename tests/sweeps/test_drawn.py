"""Figures of sweeps: the colors of scores, of successes and of solvers."""

import pandas as pd
import pytest

from lrlab.catalog import spec
from lrlab.figures import sweeps as drawn
from lrlab.figures import theme
from lrlab.figures.runs import styles
from lrlab.figures.sweeps import RATE, SweepData, View, first_shown, metrics
from lrlab.runs.run import Trial, TrialResult
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.tables import described

SOLVERS = ["gamp", "marginal-mean"]


def sweep(axes):
    return Sweep(spec=spec("one-bit-sensing", p=5), axes=axes, solvers=SOLVERS, trials=1)


def test_maps_of_scores_have_other_colours_than_maps_of_successes():
    plane = sweep((("noise", [0.1, 0.5]), ("n", [100, 200])))
    assert drawn.map_metric(plane, RATE).colors != drawn.map_metric(plane, "overlap").colors


def test_a_solver_has_the_same_colour_wherever_it_is_drawn():
    one = sweep((("noise", [0.1, 0.5]),))
    expected = styles("one-bit-sensing", SOLVERS)
    lines = drawn.lines(SweepData(SweepResults(one)), View("overlap", False, True)).figure
    wanted = {look.title: look.color for look in expected.values()}
    assert {trace.name: trace.line.color for trace in lines.data if trace.name in wanted} == wanted


def test_lines_say_how_each_series_begins_and_ends():
    points = pd.DataFrame({"series": ["a", "a", "a", "b"], "x": [1.0, 2.0, 4.0, 1.0], "y": [0.9, 0.5, 0.125, 0.25]})
    assert drawn._ends(points) == ["a: 0.9 at 1, 0.12 at 4.", "b: 0.25 at 1."]
    empty = drawn.lines(SweepData(SweepResults(sweep((("noise", [0.1, 0.5]),)))), View(RATE, False, True))
    assert empty.said == "" and not any(len(one.x) for one in empty.figure.data if one.meta == "end")


def finished(scores):
    """Return a sweep over m of which every trial has these scores, but for a factor of at most 2."""
    one = Sweep(spec=spec("rank-one-sensing", d1=6, d2=6, rank=1), axes={"m": [50, 99]}, solvers=["altmin"], trials=2)
    results = SweepResults(one)
    for k, job in enumerate(one.jobs):
        own = {name: value * (1 + k) for name, value in scores.items()}
        results.add({Trial(job, number): TrialResult(number, "CONVERGED", 7 + k, 0.25, own) for number in (0, 1)})
    return SweepData(results)


TINY_ERRORS = {"error": 5e-14, "weakest_error": 4e-14, "misfit": 3e-15}


@pytest.mark.parametrize(
    ("show", "scale"),
    [("error", "log"), ("misfit", "log"), ("iterations", "linear"), ("seconds", "linear"), (RATE, "linear")],
)
def test_errors_have_logarithmic_axes_and_the_effort_of_trials_is_shown(show, scale):
    shown = drawn.lines(finished(TINY_ERRORS), View(show, False, False))
    assert show in {RATE, *metrics(finished({}).sweep)} and len(shown.points) == 2
    assert shown.figure.layout.yaxis.type == scale, show
    titles = {"iterations": "median iterations", "seconds": "median solver time (s)"}
    assert shown.title == titles.get(show, shown.title)


def test_a_table_names_its_metric_and_what_is_held_fixed():
    data = finished(TINY_ERRORS)
    table = described(data.sweep, data.table("error"), "error")
    assert {*table["metric"]} == {"error"} and list(table["mean"]) == [5e-14, 1e-13]
    assert table[["model", "d1", "rank", "sweep_seed"]].drop_duplicates().to_numpy().tolist() == [
        ["rank-one-sensing", 6, 1, 0]
    ]
    assert list(table["m"]) == [50, 99] and list(table["seed"]) != [0, 0]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (1e-9, "Alternating minimization: all trials succeed at every m."),
        (0.9, "Alternating minimization: no trial succeeds at any m."),
    ],
)
def test_a_rate_that_is_the_same_everywhere_is_said_in_words(error, words):
    data = finished({"error": error, "weakest_error": error})
    said = drawn.lines(data, View(RATE, False, False)).said
    assert said.replace(data.sweep.titles["altmin"], "Alternating minimization") == words


def test_no_axis_and_no_colour_bar_spells_out_the_zeros_of_a_tiny_number():
    for numbers in (theme.AXIS, theme.TEMPLATE["layout"]["coloraxis"]["colorbar"]):
        assert numbers["exponentformat"] == "power" and numbers["minexponent"] == 5


def test_a_map_has_the_trials_that_arrived_while_it_was_drawn(monkeypatch):
    axes, solvers = {"variance": [0.1, 1.0], "ratio": [20, 80]}, ["pairwise-moment"]
    plane = Sweep(spec=spec("one-bit-sensing", p=6), axes=axes, solvers=solvers, trials=2, adaptive=True)
    results = SweepResults(plane)
    data, waiting = SweepData(results), [*plane.jobs]
    table, show = data.table, first_shown(plane)

    def late(name):
        known = table(name)
        while waiting:
            scores = {"error": 0.1, "overlap": 0.9, "misfit": 0.1}
            results.add({Trial(waiting.pop(), 0): TrialResult(0, "CONVERGED", 5, 0.01, scores)})
        return known

    monkeypatch.setattr(data, "table", late)
    assert show != RATE and data.cells(show)["value"].isna().all()
    assert data.cells(show)["value"].notna().all()
