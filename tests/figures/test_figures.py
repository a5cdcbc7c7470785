"""Figures: what they show is what the tables say, and every axis says what it is."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from lrlab import catalog, linalg
from lrlab.engine.live import LiveRun
from lrlab.engine.solve import solve
from lrlab.figures import convergence as drawn
from lrlab.figures import recovery, theme, transition
from lrlab.figures.build import Figure
from lrlab.figures.runs import aligned, real_parts, recoveries, styles
from lrlab.models.single_index import FAMILY
from lrlab.runs import theory
from lrlab.sweeps.winners import Outcome

LIGHT, DARK = "#ffffff", "#12161d"

# Machado, Oliveira & Fernandes (2009), Table 1 at severity 1, on linear RGB.
SIGHTS = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}


def linear_rgb(color):
    c = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    dark, light = sorted(linear_rgb(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other))
    return (light + 0.05) / (dark + 0.05)


def cielab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x = xyz / [0.9505, 1.0, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_every_colour_is_readable_on_both_backgrounds_and_those_of_dark_pages_there():
    for background in (LIGHT, DARK):
        assert min(contrast(color, background) for color in (*theme.PALETTE, theme.INK)) >= 3.0
    assert min(contrast(color, DARK) for color in theme.DARK_PALETTE) >= 4.5


@pytest.mark.parametrize("model", catalog.MODELS)
def test_solvers_of_a_figure_have_different_colours(model):
    names = [entry.name for entry in catalog.solvers_for(model)]
    for shown in (names[:8], names[-8:], names[::2][:8], names[:1] + names[7:14]):
        looks = styles(model, shown).values()
        assert len({look.color for look in looks}) == len({look.symbol for look in looks}) == len(set(shown))
        # Two blues meet only if there are eight.
        assert len(set(shown)) == 8 or theme.PALETTE[-1] not in {look.color for look in looks}
    assert len({(look.color, look.dash) for look in styles(model, names).values()}) == len(names)


@pytest.mark.parametrize("palette", [theme.PALETTE, theme.DARK_PALETTE], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_differ_for_colour_blind_eyes(sight, palette):
    labs = [cielab(SIGHTS[sight] @ linear_rgb(c)) for c in palette]
    assert min(np.linalg.norm(a - b) for a, b in combinations(labs, 2)) >= 20.0


def spec_and_trace(**parameters):
    spec = catalog.spec("one-bit-sensing", **{"n": 400, "p": 16, **parameters})
    return spec, solve(spec, "pairwise-moment", max_iter=30, tol=0)


def recovery_of(trace):
    return recoveries(trace.job.spec, [LiveRun(trace.job, trace)])[0]


def values(axis):
    return np.asarray(axis, dtype=float)


@pytest.mark.parametrize("measure", ["error", "overlap", "misfit", "objective", "residual"])
@pytest.mark.parametrize("time", ["iteration", "seconds"])
def test_curves_show_the_rows_of_the_trace(measure, time):
    _, trace = spec_and_trace()
    figure = drawn.curves([recovery_of(trace)], measure, time)
    np.testing.assert_array_equal(values(figure.data[0].x), trace.table[time])
    np.testing.assert_array_equal(values(figure.data[0].y), trace.table[measure])
    assert figure.layout.xaxis.title.text and figure.layout.yaxis.title.text == FAMILY.measures[measure].title


def test_the_theory_line_is_the_prediction():
    _, trace = spec_and_trace()
    numbers = theory.exact_predictions(trace.job)
    run = recovery_of(trace)
    for measure in ("overlap", "error"):
        figure = drawn.curves([run], measure)
        line, _ = [t for t in figure.data if "theory" in (t.name or "")]
        assert set(line.y) == {numbers[f"predicted_{measure}"]} and line.line.dash == "dash"
        bands = [set(t.y) for t in figure.data if t.fill == "toself"]
        assert bands == [{numbers[f"predicted_{measure}_low"], numbers[f"predicted_{measure}_high"]}]
        [limit] = [t for t in figure.data if (t.name or "").startswith("asymptotic limit of Pairwise")]
        assert limit.line.dash == "dot" and limit.line.width == 1
    # ||b - b*||^2 = 2 - 2 <b, b*> for unit vectors of the nearer sign.
    assert limit.y[0] ** 2 == pytest.approx(2.0 - 2.0 * np.sqrt(numbers["limit_overlap"]))


def test_an_objective_that_is_not_positive_stays_on_a_linear_axis():
    _, trace = spec_and_trace()
    assert min(trace.table["objective"]) < 0
    assert drawn.curves([recovery_of(trace)], "objective", log_y=True).layout.yaxis.type == "linear"
    assert drawn.curves([recovery_of(trace)], "error", log_y=True).layout.yaxis.type == "log"


def test_a_single_iterate_is_a_marker_whose_level_is_carried_on():
    one = recovery.Recovery("once", rows=[{"iteration": 1, "seconds": 0.1, "error": 0.5}])
    many = recovery.Recovery("many", rows=[{"iteration": k, "seconds": 0.1 * k, "error": 1.0 / k} for k in range(1, 9)])
    marker, level, _ = drawn.curves([one, many]).data
    assert marker.mode == "markers"
    assert list(level.x) == [1, 8] and list(level.y) == [0.5, 0.5]


def test_a_logarithmic_axis_of_seconds_shows_all_iterates_and_ends_with_them():
    rows = [{"iteration": k, "seconds": 0.05 * 4**k, "error": 1.0 / k} for k in range(1, 6)]
    for few in (rows[:2], rows):
        run = recovery.Recovery("slow", rows=few)
        figure = drawn.curves([run], "error", "seconds", log_x=True, log_y=True, hold=True)
        low, high = figure.layout.xaxis.range
        first, last = (np.log10(few[k]["seconds"]) for k in (0, -1))
        assert first - 0.2 < low < first and last < high < last + 0.2


def test_long_curves_are_thinned_and_keep_both_ends():
    rows = [{"iteration": k, "seconds": k / 1e3, "error": 1.0 / k} for k in range(1, 200_001)]
    x = values(drawn.curves([recovery.Recovery("long", rows=rows)]).data[0].x)
    assert len(x) <= drawn.MOST_POINTS and x[0] == 1 and x[-1] == 200_000
    assert np.diff(x).max() <= 300 and np.sum(x <= 100) >= 90


@pytest.mark.parametrize("most", [recovery.MOVING_MARKS, recovery.MOST_POINTS])
def test_a_long_signal_shows_all_its_large_entries(most):
    truth = np.zeros(3000)
    truth[::100] = 1.0
    x = values(recovery.recovery(truth, [recovery.Recovery("exact", estimate=truth)], most=most).data[-1].x)
    assert np.sum(x == 1.0) == 30 and len(x) == most


@pytest.mark.parametrize("p", [16, 100, 3000])
@pytest.mark.parametrize(("undetermined", "shown"), [("nothing", -5.0), ("phase", 5.0), ("scale", 1.0)])
def test_recovery_aligns_only_what_the_model_leaves_open(p, undetermined, shown, monkeypatch):
    spec = catalog.spec("one-bit-sensing", p=p, n=3 * p)
    monkeypatch.setattr(type(spec), "undetermined", undetermined)
    truth = spec.build().truth
    run = recovery.Recovery("five times too large", estimate=aligned(spec, truth)(-5.0 * truth))
    figure = recovery.recovery(truth, [run])
    x, y = values(figure.data[-1].x), values(figure.data[-1].y)
    expected = truth if p <= recovery.STEMS else x
    np.testing.assert_allclose(y, shown * expected, atol=1e-6)
    assert len(y) <= recovery.MOST_POINTS
    assert figure.layout.xaxis.title.text and figure.layout.yaxis.title.text


@pytest.mark.parametrize(
    "parameters",
    [{"model": "phase-retrieval", "field": "real"}, {"model": "phase-retrieval"}, {"model": "coded-diffraction"}],
)
def test_the_figure_shows_the_error_that_is_scored(parameters):
    spec = catalog.spec(**parameters)
    problem = spec.build()
    wrong = -5.0 * problem.truth
    shown = aligned(spec, problem.truth)(wrong)
    error = np.linalg.norm(shown - real_parts(problem.truth, spec)) / np.linalg.norm(problem.truth)
    assert error == pytest.approx(problem.score(wrong)["error"]) == pytest.approx(4.0)


def test_frames_end_with_the_last_estimate_and_start_with_the_first():
    spec, trace = spec_and_trace()
    truth, run = spec.build().truth, recovery_of(trace)
    frames = recovery.frames(partial(recovery.recovery, truth), [run])
    assert [f.name for f in frames] == [f"iteration {k}" for k, _ in trace.history]
    last = values(recovery.recovery(truth, [run]).data[-1].y)
    np.testing.assert_allclose(values(frames[-1].data[0].y), last, atol=1e-6)
    first = linalg.align(trace.history[0][1], truth)
    np.testing.assert_allclose(values(frames[0].data[0].y), first, atol=1e-6)
    rows = [{"iteration": k, "seconds": float(k), "error": 1.0} for k in range(1, 401)]
    thinned = recovery.Recovery("thinned", rows=rows, history=[(k, np.zeros(4)) for k in range(1, 400, 2)])
    assert list(recovery.moments([thinned]).values())[-1] == 400, "the last iterate, though it is not stored"


def test_in_a_race_each_solver_shows_what_it_has_by_then():
    def run(name, seconds):
        rows = [{"iteration": k, "seconds": k * seconds, "error": 1.0} for k in (1, 2, 3)]
        history = [(k, np.eye(4)[k]) for k in (1, 2, 3)]
        return recovery.Recovery(name, rows=rows, history=history, estimate=history[-1][1])

    runs = [run("quick", 0.1), run("slow", 1.0)]
    clock = list(recovery.moments(runs, "seconds").values())
    assert len(clock) <= recovery.MOST_FRAMES and clock[-1] == 3.0 and clock == sorted(clock)
    for now in clock:
        quick, slow = (len(recovery.run_at(run, now, "seconds").rows) for run in runs)
        assert quick == min(3, int(now / 0.1 + 1e-2)) and slow == int(now + 1e-2)
    assert list(recovery.moments(runs).values()) == [1, 2, 3]
    frames = recovery.frames(partial(recovery.recovery, np.full(4, 0.5)), runs, "seconds")
    quick, slow = frames[len(frames) // 2].data
    assert (np.argmax(values(quick.y)), np.argmax(values(slow.y))) == (3, 1)


def test_pictures_are_on_the_scale_of_the_truth():
    spec, trace = spec_and_trace(p=64, n=2000, truth="digit-3")
    truth, run = spec.build().truth, recovery_of(trace)
    figure = recovery.pictures(truth, [run, recovery.Recovery("waiting")], columns=2)
    exact = np.round(255 * truth / truth.max()).reshape(8, 8)
    np.testing.assert_array_equal(figure.data[0].z, exact)
    again = recovery.gray(aligned(spec, truth)(truth * -2.0), truth)
    np.testing.assert_array_equal(again, exact)
    assert np.isnan(figure.data[2].z).all()
    frames = recovery.frames(partial(recovery.pictures, truth), [run])
    np.testing.assert_array_equal(frames[-1].data[0].z, figure.data[1].z)
    assert frames[-1].layout.annotations[1]["text"] == recovery.caption(run)


X, Y = transition.Scale("noise", (0.0, 0.5, 1.0)), transition.Scale("n/p", (2.0, 20.0), "log")
CELLS = pd.DataFrame(
    [
        (0.0, 2.0, 0.1, 10, 1.0, 0.01, 0.4, 0.02, False),
        (1.0, 20.0, 0.9, 10, 9.0, 0.6, 0.98, 0.01, False),
        (1.0, 2.0, 0.3, 0, np.nan, np.nan, np.nan, np.nan, True),
        (0.5, 2.0, np.nan, 0, np.nan, np.nan, np.nan, np.nan, False),
        (0.0, 20.0, 0.8, 4, np.nan, np.nan, np.nan, 0.02, False),
    ],
    columns=["x", "y", "value", "trials", "successes", "low", "high", "spread", "inferred"],
)


def maps(*titles):
    return [(recovery.Recovery(title), CELLS) for title in titles]


LINE = pd.DataFrame({"line": "predicted threshold", "x": [0.0, 1.0], "y": [5.0, 9.0]})


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name and trace.showlegend is not False)


def marked(trace):
    return {(x, y) for x, y in zip(trace.x, trace.y, strict=True) if np.isfinite(y)}


def test_the_map_distinguishes_measured_inferred_and_missing_cells():
    metric = transition.MapMetric("share of trials")
    figure = transition.transition(maps("a", "b"), X, Y, metric, lines=LINE)
    measured, inferred = values(figure.data[0].z), values(figure.data[1].z)
    assert measured[0, 0] == 0.1 and measured[1, 2] == 0.9 and np.isnan(measured).sum() == 3
    assert inferred[0, 2] == 0.3 and np.isnan(inferred).sum() == 5 and figure.data[1].opacity < 1
    [hatch, *_] = [one for one in figure.data if one.name is None and one.type == "scatter" and len(one.x) == 36]
    assert named(figure, transition.INFERRED).showlegend
    assert np.isfinite(hatch.y).sum() == 5 and len(hatch.x) == len(hatch.y) == 6 * 6, "the outline of one cell"
    assert {*hatch.x[np.isfinite(hatch.y)]} == {0.75, 1.25}
    assert marked(named(figure, "not measured")) == {(0.5, 2.0), (0.5, 20.0)}
    np.testing.assert_allclose(figure.data[0].y, [2 / np.sqrt(10), 2 * np.sqrt(10), 20 * np.sqrt(10)])
    np.testing.assert_array_equal(named(figure, "predicted threshold").y, LINE["y"])
    assert {trace.name for trace in figure.data if trace.type == "contour"} >= {"half succeed, a", "half succeed, b"}
    assert figure.layout.xaxis.title.text == "noise" and figure.layout.yaxis.type == "log"


def test_the_text_of_a_cell_has_the_counts_of_all_solvers_and_its_place():
    figure = transition.transition(maps("a", "b"), X, Y, transition.MapMetric("mean overlap"))
    heat = figure.data[0]
    assert list(heat.customdata[1][2]) == [1.0, 20.0, "a"] and heat.hovertemplate.startswith("noise = %{customdata[0]")
    line = "9 of 10 succeed, 95% interval 0.60 to 0.98"
    assert heat.text[1][2] == f"a: {line}<br>b: {line}" and heat.text[0][1].startswith("a: not measured<br>")
    assert heat.text[1][0].startswith("a: mean overlap 0.8 ± 0.02, 4 trials")
    assert heat.text[0][2].startswith("a: mean overlap 0.3, inferred")


def test_small_multiples_have_a_map_a_solver_and_share_their_axes():
    several = maps(*"abcd")
    lines = pd.concat([LINE, LINE.assign(line="limit, b")])
    figure = transition.transition(
        several, X, Y, transition.MapMetric("share", None, None, None), lines=lines, columns=3
    )
    assert [note.text for note in figure.layout.annotations] == list("abcd")
    heats = [trace for trace in figure.data if trace.type == "heatmap" and trace.name == "measured"]
    assert [heat.customdata[0][0][2] for heat in heats] == list("abcd")
    assert sum(trace.name == "limit, b" and trace.showlegend is True for trace in figure.data) == 1
    drawn = [trace.xaxis for trace in figure.data if trace.name == "limit, b"]
    assert set(drawn) == {"x2"}
    assert not any(trace.type == "contour" for trace in figure.data), "a score has no level"
    titled = [axis for axis in figure.plotly().select_xaxes() if axis.title.text]
    assert len(titled) == 3, "below the lowest map of each column"
    alone = transition.transition(several, X, Y, transition.MapMetric("share"), columns=1, lines=lines[:0])
    assert len(alone.layout.annotations) == 4


def test_limits_of_all_methods_are_lines_of_their_own():
    points = pd.DataFrame({"series": "a", "x": [1.0], "y": [0.1], "low": [0.0], "high": [0.2], "trials": 5})
    names = list(drawn.LIMITS.values())
    limits = pd.DataFrame([(name, x, 0.9) for name in names for x in (1.0, 2.0)], columns=["name", "x", "y"])
    known = {one.name: one for one in drawn.series(points, axis_title="m", value_title="", limits=limits).data}
    assert known.keys() == {"a", *names} and [known[name].line.dash for name in names] == ["dash", "dot"]
    assert all(list(known[name].x) == [1.0, 2.0] and list(known[name].y) == [0.9, 0.9] for name in names)


TITLES = {name: name.upper() for name in ("a", "b", "c", "d")}


def outcome(x, y, *best):
    return Outcome((x, y), best, False, 4, {name: f"{TITLES[name]}: 0.1" for name in "dcba"})


def test_a_map_shows_winners_ties_and_hatches():
    x, y = transition.Scale("m", [10.0, 100.0], "log", "m"), transition.Scale("rank", [1.0, 2.0, 3.0], "linear", "rank")
    outcomes = [outcome(10, 1, "a"), outcome(100, 1, "b", "a", "c"), outcome(10, 2, *"abcd"), outcome(100, 2)]
    looks = {
        name: recovery.Recovery(TITLES[name], color)
        for name, color in zip("abc", ("#111111", "#222222", "#333333"), strict=True)
    }
    figure = transition.winners_map(outcomes, looks, TITLES, x, y, {(10.0, 3.0)})
    by_name = {one.name: one for one in figure.data}
    # A winner has all of its cell, each of three a third of it, the fastest to the left.
    widths = {name: np.diff(np.log(by_name[name.upper()].x.reshape(-1, 6)[:, :2])).ravel() for name in "abc"}
    assert np.allclose(widths["a"], widths["a"].max() * np.array([1, 1 / 3]))
    left = {name: by_name[name.upper()].x[-6] for name in "abc"}
    assert left["b"] < left["a"] < left["c"]
    assert by_name["A"].fillcolor == "#111111" and set(by_name[transition.MANY].x[:4] < 32) == {True}
    assert by_name[transition.NOBODY].fillpattern.shape and by_name[transition.NOBODY].y[:4].min() > 1.5
    hover = figure.data[-1]
    assert hover.text[0][1] == "D: 0.1<br><b>C: 0.1</b><br><b>B: 0.1</b><br><b>A: 0.1</b>"
    assert list(hover.text[2]) == ["no compared solver", "not measured"]
    assert list(hover.customdata[1][1]) == [100.0, 2.0, "D"]
    figure.plotly()


@pytest.mark.parametrize(
    ("ends", "form", "ticks"),
    [((-2, 2), ",~g", 5), ((0, 3), ",~g", 4), ((-10, 0), "", 5), ((0, 7), "", 5), ((-5.5, -4.9), "~e", 3)],
)
def test_ticks_of_a_logarithmic_axis_are_all_full_values_or_all_powers(ends, form, ticks):
    drawn = Figure().add_scatter(x=[1, 2, 3], y=[10.0 ** ends[0], None, 10.0 ** ends[1]])
    axis = theme.style(drawn.update_yaxes(type="log")).layout.yaxis
    assert (axis.tickformat, axis.nticks) == (form, ticks)
