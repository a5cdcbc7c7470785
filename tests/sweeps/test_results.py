"""Results of a sweep: statistics of its cells while it runs, and where half of the trials succeed."""

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
from lrlab.model_entry import Success
from lrlab.runs.run import Trial, TrialResult, trial_spec
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import COLUMNS, SweepResults
from lrlab.sweeps.run import run
from lrlab.sweeps.statistics import FLATTEST, midpoint
from lrlab.sweeps.tables import cell_rows, midpoint_words, midpoints

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
    assert list(table.columns) == ["noise", "ratio", *COLUMNS] and len(table) == len(rows)
    for row, cell in zip(table.to_dict("records"), rows, strict=True):
        assert (row["noise"], row["ratio"], row["solver"]) == (*cell["axes"].values(), cell["solver"])
        assert (row["trials"], row["refused"]) == (cell["trials"], cell["refused"])
        if cell["trials"]:
            assert row["successes"] == cell["successes"] and [row["low"], row["high"]] == cell["interval"]
            quartiles = [row[name] for name in ("lower_quartile", "median", "upper_quartile")]
            assert quartiles == cell["metrics"]["overlap"]
    finished = swept.results(SWEEP.cells[-1].job).values()
    values = np.array([trial.scores["overlap"] for trial in finished])
    assert row["mean"] == values.mean() and row["spread"] == values.std(ddof=1)
    assert row["seed"] == trial_spec(SWEEP.spec.replace(n=200, noise=1.0), 0).seed


def test_a_run_that_ends_where_the_truth_fits_better_is_no_success():
    results = SweepResults(replace(SWEEP, trials=3))
    job = results.cells[-1].job
    for number, stop in enumerate(("CONVERGED", "LOCAL_MINIMUM", "MAX_ITER")):
        results.add({Trial(job, number): TrialResult(number, stop, 3, 0.1, {"error": 0.25})})
    assert results.table("error").iloc[-1]["successes"] == 2
    assert [row["successes"] for row in cell_rows(results)][-1] == 2


def test_only_cells_with_new_trials_are_summed_up_again():
    results = SweepResults(replace(SWEEP, trials=2))
    job = results.cells[-1].job
    assert results.table("error")["trials"].sum() == 0 and results.table("error")["success_rate"].isna().all()
    results.add({Trial(job, 1): TrialResult(7, "CONVERGED", 3, 0.1, {"error": 0.25})})
    first = results.table("error").iloc[-1]
    assert (first["trials"], first["successes"], first["median"]) == (1, 1, 0.25) and math.isnan(first["spread"])
    failed, good = TrialResult(7, "NONFINITE", 0, 0.1, {}), TrialResult(7, "CONVERGED", 3, 0.1, {"error": 0.25})
    results.add({Trial(job, 0): failed, Trial(job, 1): good})
    second = results.table("error").iloc[-1]
    counted = second["trials"], second["successes"], second["success_rate"]
    assert counted == (2, 1, 0.5), "without an estimate, no success"
    assert second["mean"] == 0.25


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
    assert len(words) == 3 and all("95% interval" in one and " at ratio = " in one for one in words)
    assert "half succeed at noise = 0.1 at ratio = " in words[0]
    along = replace(SWEEP, axes={"ratio": [1, 20, 40]})
    assert list(midpoints(along, SweepResults(along).table("error")).columns)[0] == "solver"


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
    best = min(loss([found.value, sign * slope]) for slope in np.geomspace(1 / 9, 17.6, 400))
    free = minimize(loss, [found.value, sign], method="Nelder-Mead", options={"maxiter": 2000})
    assert found.low < found.value < found.high
    # Curves that are flatter on the whole axis than from .38 to .62 are not among those that are fitted.
    assert best <= free.fun + 0.05 or abs(free.x[1]) * (PLACES[-1] - PLACES[0]) < FLATTEST


@pytest.mark.slow
def test_the_interval_of_a_midpoint_covers_it():
    rng, share = np.random.default_rng(0), 1 / (1 + np.exp(-2.0 * (PLACES - 5.3)))
    intervals = [fitted(PLACES.tolist(), rng.binomial(20, share).tolist(), [20] * 10) for _ in range(60)]
    covered = sum(found.low <= 5.3 <= found.high for found in intervals)
    assert covered >= 52 and np.mean([found.value for found in intervals]) == pytest.approx(5.3, abs=0.05)


def test_a_midpoint_between_failures_and_successes_has_a_finite_interval():
    found = fitted([1, 2, 3, 4], [0, 0, 5, 5], [5] * 4)
    assert found.value == pytest.approx(2.5) and 1.5 < found.low < 2.2 and 2.8 < found.high < 3.5
    turned = fitted([1, 2, 3, 4], [5, 5, 0, 0], [5] * 4)
    assert turned == pytest.approx(found)
    wide = fitted([1, 10, 100, 1000], [0, 0, 5, 5], [5] * 4, "log")
    assert np.log10(wide) + 1 == pytest.approx(np.array(found))
    assert fitted([1, 2, 3, 4], [0, 2, 1, 3], [5] * 4).high == math.inf, "it may lie beyond the places"
    for nothing in ([0] * 4, [5] * 4):
        assert fitted([1, 2, 3, 4], nothing, [5] * 4) is None
