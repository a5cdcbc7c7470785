"""Results of a sweep: statistics of its cells, midpoints, the time that is left, figures and their colors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_expit

from lrlab import spec
from lrlab.engine.results import LocalResults
from lrlab.figures import sweeps as drawn
from lrlab.figures import theme
from lrlab.figures.runs import styles
from lrlab.figures.sweeps import RATE, SweepData, View, first_shown, metrics
from lrlab.model_entry import Success
from lrlab.runs.job import memory_needed, memory_words
from lrlab.runs.run import Trial, TrialResult, trial_spec
from lrlab.store.store import Store
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.run import missing, run, size_words
from lrlab.sweeps.statistics import FLATTEST, midpoint
from lrlab.sweeps.tables import cell_rows, described, midpoint_words, midpoints

SWEEP = Sweep(
    spec=spec("one-bit-sensing", n=200, p=5),
    axes={"noise": [0.1, 1.0], "ratio": [1, 20, 40]},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=4,
    success=Success("error", below=0.4),
)


@pytest.fixture(scope="module")
def swept():
    with Store() as store:
        return run(SWEEP, store, LocalResults)


def test_the_table_of_pages_says_what_the_table_of_the_shell_says(swept):
    rows, table = cell_rows(swept), swept.table("overlap")
    columns = "noise ratio solver trials successes success_rate low high mean spread"
    columns += " lower_quartile median upper_quartile seed refused"
    assert list(table.columns) == columns.split() and len(table) == len(rows)
    for row, cell in zip(table.to_dict("records"), rows, strict=True):
        assert (row["noise"], row["ratio"], row["solver"]) == (*cell["axes"].values(), cell["solver"])
        assert (row["trials"], row["refused"]) == (cell["trials"], cell["refused"])
        if cell["trials"]:
            assert row["successes"] == cell["successes"] and [row["low"], row["high"]] == cell["interval"]
            quartiles = [row[name] for name in ("lower_quartile", "median", "upper_quartile")]
            assert quartiles == cell["metrics"]["overlap"]
            assert "predicted_overlap" not in cell["metrics"], "a table does not wait for theory"
    finished = swept.results(SWEEP.cells[-1].job).values()
    values = np.array([trial.scores["overlap"] for trial in finished])
    assert row["mean"] == values.mean() and row["spread"] == values.std(ddof=1)
    assert row["seed"] == trial_spec(SWEEP.spec.replace(n=200, noise=1.0), 0).seed


def test_a_table_grows_and_runs_without_an_estimate_or_beaten_by_the_truth_are_no_successes():
    results = SweepResults(SWEEP)
    job, good = results.cells[-1].job, {"error": 0.25}
    assert results.table("error")["trials"].sum() == 0 and results.table("error")["success_rate"].isna().all()
    results.add({Trial(job, 1): TrialResult(7, "CONVERGED", 3, 0.1, good)})
    first = results.table("error").iloc[-1]
    assert (first["trials"], first["successes"], first["median"]) == (1, 1, 0.25) and math.isnan(first["spread"])
    for number, stop in ((0, "LOCAL_MINIMUM"), (2, "MAX_ITER"), (3, "NONFINITE")):
        results.add({Trial(job, number): TrialResult(7, stop, 3, 0.1, good if number < 3 else {})})
    last = results.table("error").iloc[-1]
    assert (last["trials"], last["successes"], last["success_rate"], last["mean"]) == (4, 2, 0.5, 0.25)
    assert cell_rows(results)[-1]["successes"] == 2


def test_midpoints_are_found_in_each_column_of_each_solver():
    results = SweepResults(SWEEP)
    for cell in SWEEP.cells:
        if cell.job:
            good = cell.axes["ratio"] == 40 or (cell.axes["noise"] == 0.1 and cell.solver == "marginal-mean")
            outcome = TrialResult(0, "CONVERGED", 1, 0.1, {"error": 0.1 if good else 1.0})
            results.add({Trial(cell.job, number): outcome for number in range(4)})
    found = midpoints(SWEEP, results.table("error"))
    assert list(found.columns) == ["noise", "solver", "half", "low", "high"]
    places = {(0.1, "pairwise-moment"), (1.0, "pairwise-moment"), (1.0, "marginal-mean")}
    assert set(found[["noise", "solver"]].itertuples(index=False, name=None)) == places
    assert found["half"].between(20, 40).all()
    words = midpoint_words(SWEEP, found)
    assert len(words) == 3 and all(" at ratio = " in one for one in words)
    assert all(f"(95% interval {low:.4g} to " in one for low, one in zip(found["low"], words, strict=True))
    words = midpoint_words(SWEEP, found.assign(high=math.inf))
    assert all(one.endswith(" to beyond the axis).") for one in words)
    assert "half succeed at noise = 0.1 at ratio = " in words[0]
    along = replace(SWEEP, axes={"ratio": [1, 20, 40]})
    assert list(midpoints(along, SweepResults(along).table("error")).columns)[0] == "solver"


def test_a_sweep_that_is_cut_short_has_about_as_many_trials_of_each_cell():
    wanted, stored = SWEEP.jobs[:3], dict(zip(SWEEP.jobs, (set(), {0, 2}, set()), strict=False))
    order = [(wanted.index(job), number) for job, number in missing(dict.fromkeys(wanted, range(9)), stored)]
    assert order[:7] == [(0, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (2, 2)]
    assert sorted(order) == [(k, n) for k in range(3) for n in range(9) if (k, n) not in ((1, 0), (1, 2))]


PLACES = np.linspace(1.0, 10.0, 10)


def fitted(places, successes, trials, *spacing):
    return midpoint(tuple(places), tuple(successes), tuple(trials), *spacing)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.integers(0, 20), min_size=10, max_size=10), st.booleans())
@example([11, 11, 12, 16, 16, 18, 18, 18, 18, 19], False)
def test_a_midpoint_is_the_maximum_of_the_likelihood(counts, falling):
    counts = np.array(sorted(counts, reverse=falling))
    found = fitted(PLACES.tolist(), counts.tolist(), [20] * 10)

    def loss(parameters):
        z = parameters[1] * (PLACES - parameters[0])
        return -float(log_expit(z) @ counts + log_expit(-z) @ (20 - counts))

    if found is None:
        return
    sign = -1 if falling else 1
    # The slope is bounded if failures and successes do not overlap.
    best = min(loss([found[0], sign * slope]) for slope in np.geomspace(1 / 9, 17.6, 400))
    free = minimize(loss, [found[0], sign], method="Nelder-Mead", options={"maxiter": 2000})
    assert found[1] < found[0] < found[2]
    # Curves that are flatter on the whole axis than from .38 to .62 are not among those that are fitted.
    assert best <= free.fun + 0.05 or abs(free.x[1]) * (PLACES[-1] - PLACES[0]) < FLATTEST


@pytest.mark.slow
def test_the_interval_of_a_midpoint_covers_it():
    rng, share = np.random.default_rng(0), 1 / (1 + np.exp(-2.0 * (PLACES - 5.3)))
    intervals = [fitted(PLACES.tolist(), rng.binomial(20, share).tolist(), [20] * 10) for _ in range(60)]
    covered = sum(found[1] <= 5.3 <= found[2] for found in intervals)
    assert covered >= 52 and np.mean([found[0] for found in intervals]) == pytest.approx(5.3, abs=0.05)


def test_a_midpoint_between_failures_and_successes_has_a_finite_interval():
    found = fitted([1, 2, 3, 4], [0, 0, 5, 5], [5] * 4)
    assert found[0] == pytest.approx(2.5) and 1.5 < found[1] < 2.2 and 2.8 < found[2] < 3.5
    assert found[1] + found[2] == pytest.approx(5.0)
    turned = fitted([1, 2, 3, 4], [5, 5, 0, 0], [5] * 4)
    assert turned == pytest.approx(found)
    wide = fitted([1, 10, 100, 1000], [0, 0, 5, 5], [5] * 4, "log")
    assert np.log10(wide) + 1 == pytest.approx(np.array(found))
    assert fitted([1, 2, 3, 4], [0, 2, 1, 3], [5] * 4)[2] == math.inf, "it may lie beyond the places"
    gap = fitted([1, 2, 3, 100], [0, 0, 0, 5], [5] * 4)
    assert gap[0] == pytest.approx(51.5, abs=0.5), "in the middle of what nobody tried"
    for nothing in ([0] * 4, [5] * 4):
        assert fitted([1, 2, 3, 4], nothing, [5] * 4) is None


PACED = Sweep(
    spec=spec("one-bit-sensing", p=10),
    axes={"noise": [0.1, 0.5, 1.0], "ratio": Span(5, 50, 4)},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=6,
)


def test_a_sweep_has_a_size():
    most = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in PACED.jobs)
    assert size_words(PACED) == f"up to {PACED.total} trials, {memory_words(most)} per worker"
    adaptive = replace(PACED, adaptive=True, trials=50)
    assert size_words(adaptive).startswith(f"up to {adaptive.most} trials")


def test_solvers_have_one_colour_everywhere_and_maps_of_scores_and_successes_different_ones():
    assert drawn.map_metric(SWEEP, RATE).colors != drawn.map_metric(SWEEP, "overlap").colors
    along, expected = replace(SWEEP, axes={"noise": [0.1, 0.5]}), styles("one-bit-sensing", SWEEP.solvers)
    lines = drawn.lines(SweepData(SweepResults(along)), View("overlap", False, True))[0]
    wanted = {look.title: look.color for look in expected.values()}
    assert {trace.name: trace.line.color for trace in lines.data if trace.name in wanted} == wanted


def finished(scores, sizes=(50, 99)):
    """Return a sweep over m of which every trial has these scores, but for a factor of at most 2."""
    one = Sweep(spec=spec("rank-one-sensing", d1=6, d2=6, rank=1), axes={"m": sizes}, solvers=["altmin"], trials=2)
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
    figure, title, _ = drawn.lines(finished(TINY_ERRORS), View(show, False, False))
    assert show in {RATE, *metrics(finished({}).sweep)} and len(figure.data[0].x) == 2
    assert figure.layout.yaxis.type == scale, show
    titles = {"iterations": "median iterations", "seconds": "median solver time (s)"}
    assert title == titles.get(show, title)


def test_a_table_names_its_metric_and_what_is_held_fixed():
    data = finished(TINY_ERRORS)
    table = described(data.sweep, data.table("error"), "error")
    assert {*table["metric"]} == {"error"} and list(table["mean"]) == [5e-14, 1e-13]
    assert table[["model", "d1", "rank", "sweep_seed"]].drop_duplicates().to_numpy().tolist() == [
        ["rank-one-sensing", 6, 1, 0]
    ]
    assert list(table["m"]) == [50, 99] and list(table["seed"]) != [0, 0]


@pytest.mark.parametrize(
    ("show", "error", "words"),
    [
        (RATE, 1e-9, "all trials succeed at every m."),
        (RATE, 0.9, "no trial succeeds at any m."),
        ("error", 0.123, "0.12 at 50, 0.25 at 99."),
    ],
)
def test_lines_say_how_each_series_begins_and_ends_or_that_it_is_the_same_everywhere(show, error, words):
    data = finished({"error": error, "weakest_error": error})
    assert drawn.lines(data, View(show, False, False))[2] == f"{data.sweep.titles['altmin']}: {words}"
    one = finished({"error": 0.5, "weakest_error": 0.5}, [50])
    assert drawn.lines(one, View("error", False, False))[2] == f"{data.sweep.titles['altmin']}: 0.5 at 50."
    first, begun = data.sweep.jobs[0], SweepResults(data.sweep)
    begun.add({Trial(first, 0): data.results.results(first)[0]})
    assert "m." not in drawn.lines(SweepData(begun), View(show, False, False))[2]
    empty, _, message = drawn.lines(SweepData(SweepResults(data.sweep)), View(show, False, True))
    assert message == "" and not any(len(one.x) for one in empty.data if one.meta == "end")


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
