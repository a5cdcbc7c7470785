"""Sweeps: what is planned, refused and summarized; adaptive ones take few trials, the same whoever computes them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from scipy.special import expit
from scipy.stats import binomtest

import lrlab
from lrlab import InputError, spec
from lrlab.__main__ import main
from lrlab.engine.results import TIMED_OUT, LocalResults
from lrlab.model_entry import Success
from lrlab.models.axes import axes, place
from lrlab.models.single_index import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.runs.run import Trial
from lrlab.store.store import Store
from lrlab.sweeps import run as running
from lrlab.sweeps.adaptive import ContourSearch, SolverGrid, infer
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.run import run
from lrlab.sweeps.statistics import wilson_bounds
from lrlab.sweeps.tables import cell_rows
from lrlab.sweeps.theory import lines
from lrlab.sweeps.toml import to_toml
from lrlab.theory import spiked

SHAPE, TRIALS = (12, 10), 5
SWEEP = Sweep(
    spec=spec("one-bit-sensing", p=10),
    axes={"variance": Span(0.0, 1.5, 6), "ratio": Span(2.0, 200.0, 7, "log")},
    solvers=["pairwise-moment", "marginal-mean"],
    trials=5,
    success=Success("overlap", above=0.5),
    adaptive=True,
)


def measure(hits, directions, tolerance=1, most=None):
    """Search the contour of a surface whose trials are known."""
    found = ContourSearch(np.ones(hits.shape[:2], dtype=bool), directions, hits.shape[2], tolerance)
    while found.request(most or int(0.3 * hits.size)).any():
        found.trials = found.requested
        found.successes = np.where(np.arange(hits.shape[2]) < found.requested[..., None], hits, 0).sum(axis=2)
    return found


def whole(hits, directions):
    """Return a search that measured everything."""
    found = ContourSearch(np.ones(hits.shape[:2], dtype=bool), directions, hits.shape[2])
    found.trials, found.successes = np.full(hits.shape[:2], hits.shape[2]), hits.sum(axis=2)
    return found


def contour(found):
    """Return the rows (fractions) at which the rate of each column crosses 1/2, by isotonic regression."""
    places, rows = [], SHAPE[1]
    for share, weight in zip(found.estimate(), np.where(found.trials > 0, found.trials, 0.5), strict=True):
        rising = isotonic_regression(share, weights=weight).x
        first = int(np.searchsorted(rising, 0.5, side="right"))
        between = 0 < first < rows
        places.append(first - 1 + np.interp(0.5, rising[first - 1 : first + 1], [0, 1]) if between else first - 0.5)
    return np.array(places)


surfaces = st.tuples(
    st.integers(0, 2**32 - 1), st.floats(-0.1, 1.1), st.floats(-1.2, 1.2), st.sampled_from([0.5, 1.0, 2.0]),
)  # fmt: skip


def surface(seed, start, slope, power, width):
    """Return the trials of a logistic surface that grows along rows, and how it goes along columns."""
    columns, rows = SHAPE
    middle = rows * (start + slope * np.linspace(0.0, 1.0, columns) ** power)
    shares = expit((np.arange(rows) - middle[:, None]) / width)
    return (np.random.default_rng(seed).random((*SHAPE, TRIALS)) < shares[..., None]).astype(int), -int(np.sign(slope))


@pytest.mark.slow
@settings(max_examples=60)
@given(surfaces, st.floats(0.001, 0.25), st.booleans())
def test_three_tenths_of_the_trials_find_the_contour_of_the_whole_grid(drawn, width, declared):
    hits, across = surface(*drawn, width)
    directions = (across if declared else 0, 1)
    found = measure(hits, directions)
    assert found.trials.sum() <= 0.3 * hits.size
    assert np.abs(contour(found) - contour(whole(hits, directions))).max() <= 1.0


@pytest.mark.parametrize("most", [0, 1000])
def test_what_no_direction_is_declared_for_is_measured_too(most, monkeypatch):
    """An island of success: no axis is monotone. Estimates are from all known cells, or of more from neighbors."""
    monkeypatch.setattr("lrlab.sweeps.adaptive.ALL", most)
    x, y = np.meshgrid(np.arange(12), np.arange(10), indexing="ij")
    hits = np.repeat(((x - 6) ** 2 + (y - 5) ** 2 < 10)[..., None], TRIALS, axis=2).astype(int)
    found = measure(hits, (0, 0), most=hits.size)
    assert ((found.estimate() > 0.5) == hits[..., 0]).all() and found.trials.sum() < 0.6 * hits.size


def bounds(successes, trials, directions):
    """Return the intervals of cells with these trials."""
    found = ContourSearch(np.ones(trials.shape, dtype=bool), directions, 5)
    found.successes, found.trials = successes, trials
    return found.bounds()


counts = st.integers(0, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=60)
@given(st.lists(counts, min_size=12, max_size=12), st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1]))
def test_bounds_are_wilson_s_where_nothing_is_declared_and_pool_what_can_only_be_worse(cells_, across, along):
    successes, trials = (np.array(part).reshape(4, 3) for part in zip(*cells_, strict=True))
    low, high = bounds(successes, trials, (across, along))
    alone = bounds(successes, trials, (0, 0))
    np.testing.assert_allclose(alone, wilson_bounds(successes, trials))
    assert (low >= alone[0]).all() and (high <= alone[1]).all()
    for axis, direction in enumerate((across, along)):
        if direction:
            assert (direction * np.diff(low, axis=axis) >= 0).all()
            assert (direction * np.diff(high, axis=axis) >= 0).all()
    turned = bounds(successes[::-1], trials[::-1], (-across, along))
    np.testing.assert_array_equal(turned[0][::-1], low)


def test_directions_are_those_that_hold_while_the_other_axis_stays():
    def found(model, axes, solver="gauss-newton"):
        sweep = Sweep(spec=spec(model), axes=axes, solvers=[solver], adaptive=True)
        return SolverGrid(sweep, solver).directions

    assert found("polynomial-network", {"r": [1, 2], "m": [800, 900]}) == (-1, 1)
    assert found("polynomial-network", {"r": [1, 2], "per-freedom": [3, 4]}) == (0, 1), "r moves m, too"
    assert found("phase-retrieval", {"p": [16, 32], "ratio": [3, 4]}) == (0, 1)
    assert found("inductive-completion", {"missing": [0.9, 0.95]}) == (-1, 0)
    assert found("one-bit-sensing", {"sparsity": [1, 5], "n": [60, 90]}, "nbiht") == (-1, 1)
    # At threshold .7, p = 5 and n = 32,000 the pairwise moment succeeds in .10 of trials without noise, .95 at 1.
    for model, along in (("one-bit-phase-retrieval", 0), ("custom-link", 0), ("one-bit-sensing", -1)):
        assert found(model, {"noise": [0.0, 0.7, 1.4], "n": [500, 32_000]}, "pairwise-moment") == (along, 1)
    assert found("one-bit-sensing", {"sparsity": [0, 1, 5], "n": [60, 90]}, "nbiht") == (0, 1), "0 is all entries"


def swept(sweep, store, start=LocalResults):
    results = run(sweep, store, start)
    return results, json.dumps(cell_rows(results))


@pytest.mark.slow
def test_the_trials_are_the_same_whoever_computes_them_and_in_however_many_pieces(engine):
    with Store() as here, Store() as there, Store() as pieces, Store() as rich:
        done, expected = swept(SWEEP, here)
        assert done.computed <= SWEEP.most == int(0.3 * SWEEP.total) and done.reused == 0
        assert swept(SWEEP, there, engine.map)[1] == expected
        results = SweepResults(SWEEP)
        for number in range(8):
            run(SWEEP, pieces, LocalResults, stop=lambda number=number: results.changes > 3 * number, results=results)
        assert 0 < sum(group.trials for group in pieces.groups()) < done.computed
        assert swept(SWEEP, pieces)[1] == expected
        assert swept(SWEEP, pieces)[0].reused == done.computed
        run(replace(SWEEP, adaptive=False), rich, LocalResults)
        again, rows = swept(SWEEP, rich)
        assert (again.computed, again.reused, again.failures) == (0, done.computed, done.failures)
        assert rows == expected, "more in the store is left out"


def test_rounds_end_though_trials_fail(monkeypatch):
    true = running.run_trial
    monkeypatch.setattr(running, "run_trial", lambda item: true(item) if item[1] else 1 / 0)
    with Store() as store:
        done = run(SWEEP, store, LocalResults)
        assert done.failures and (done.computed, done.reused) == (0, 0), "with nothing known there is nothing to go on"
        assert run(SWEEP, store, LocalResults).failures.keys() == done.failures.keys()


def inferred(results):
    """Return the table of grid points that a solver accepts."""
    table = infer(results, results.table(results.sweep.contour.metric))
    return table[table["refused"] == ""]


def test_a_table_shows_what_was_measured_and_what_is_inferred():
    with Store() as store:
        blank = inferred(SweepResults(SWEEP))
        assert blank["success_rate"].isna().all() and not blank["inferred"].any()
        results = run(SWEEP, store, LocalResults)
    table, rows = inferred(results), [row for row in cell_rows(results) if not row["refused"]]
    assert set(table["inferred"]) == {True, False} and (table["inferred"] == (table["trials"] == 0)).all()
    for cell, row in zip(table.itertuples(), rows, strict=True):
        assert (row["trials"], row["inferred"], row["success_rate"]) == (cell.trials, cell.inferred, cell.success_rate)
        assert row["interval"] == [cell.low, cell.high] and 0.0 <= cell.success_rate <= 1.0
        if not cell.inferred:
            assert cell.success_rate == row["successes"] / row["trials"]
    assert (table["low"] <= table["high"]).mean() > 0.95, "but for chance"


def test_a_mean_has_its_contour_at_the_level_of_its_model():
    sweep = replace(SWEEP, success=None, solvers=["pairwise-moment"])
    assert sweep.contour == Success("overlap", above=0.5)
    with Store() as store:
        results = run(sweep, store, LocalResults)
    table = inferred(results)
    assert table["inferred"].any() and table["mean"].between(0, 1).all()
    everywhere = SweepResults(replace(sweep, adaptive=False))
    everywhere.add({Trial(job, n): result for job in sweep.jobs for n, result in results.results(job).items()})
    whole = inferred(everywhere)
    assert whole["mean"].isna().sum() == table["inferred"].sum(), "only adaptive sweeps infer"


def test_one_axis_and_values_in_any_order():
    sweep = replace(SWEEP, axes={"ratio": [200, 2, 50, 100, 5, 20, 10, 30, 70]}, solvers=["pairwise-moment"], trials=9)
    with Store() as store:
        done = run(sweep, store, LocalResults)
    table = inferred(done).sort_values("ratio")
    assert done.computed < 0.5 * sweep.total
    rates = table["success_rate"]
    assert rates.iloc[0] < 0.5 < rates.iloc[-1] and table["trials"].iloc[[0, -1]].gt(0).all()


def test_places_that_are_the_same_problem_share_their_rounds():
    sweep = replace(SWEEP, axes={"ratio": [20.0, 20.04, 20.08, 30.0]}, solvers=["marginal-mean"])
    with Store() as store:
        assert run(sweep, store, LocalResults).failures == {} and len(sweep.jobs) == 3


def test_a_budget_is_kept_and_what_one_solver_does_not_need_another_may_use():
    wide = replace(SWEEP, budget=150)
    with Store() as store:
        done = run(wide, store, LocalResults)
    used = dict.fromkeys(wide.solvers, 0)
    for job in wide.jobs:
        used[job.solver] += len(done.results(job))
    # Alone, the second solver stops before its half is used.
    assert used["pairwise-moment"] > 75 > used["marginal-mean"]
    assert sum(used.values()) == done.computed <= wide.most == 150
    assert replace(SWEEP, budget=1).most == 2 * 4 * 4, "enough for a first look"
    with pytest.raises(InputError, match="budget must be left out if adaptive is false"):
        replace(SWEEP, adaptive=False, budget=5)


def test_a_midpoint_lies_between_failure_and_success(tmp_path, capsys, engine):
    file = tmp_path / "sweep.toml"
    file.write_text(to_toml(replace(SWEEP, axes={"variance": [0.0, 1.0], "ratio": Span(2, 200, 6, "log")})))
    assert main(["sweep", str(file), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert any(cell["inferred"] for cell in document["cells"]) and document["midpoints"]
    for point in document["midpoints"]:
        line = [c for c in document["cells"] if c["solver"] == point["solver"] and not c["refused"]]
        line = [c for c in line if c["axes"]["variance"] == point["variance"] and c["success_rate"] is not None]
        assert min(c["axes"]["ratio"] for c in line if c["success_rate"] > 0.5) >= 0.2 * point["half"]
        assert 2 <= point["half"] <= 200


SPEC = OneBitSensing(n=400, p=10)


def test_a_table_has_a_row_a_trial_that_runs_again_by_its_seed_and_a_reason_a_refusal():
    axes, solvers = {"noise": [0.1, 1.0], "ratio": [1, 40]}, ["pairwise-moment", "marginal-mean"]
    rows = lrlab.sweep(SPEC, axes, solvers, trials=3, start=LocalResults, pairs="all", max_iter=4)
    ran, refused = rows[rows["refused"] == ""], rows[rows["refused"] != ""]
    assert len(ran) == 2 * (3 + 3 * 2), "pairwise-moment runs at n = 40p alone, marginal-mean everywhere"
    assert len(refused) == 2 and (refused["refused"].str.startswith("n must be at least 2p = 20")).all()
    at = ran[ran["ratio"] == 40]
    seeds = at.groupby("solver")["seed"].apply(list)
    assert seeds["pairwise-moment"] == seeds["marginal-mean"], "solvers see the same data, and grid points do not"
    assert at[at["solver"] == "marginal-mean"]["seed"].is_unique
    row = at[at["solver"] == "pairwise-moment"].iloc[1]
    seeded = SPEC.replace(n=400, noise=row["noise"], seed=int(row["seed"]))
    again = lrlab.solve(seeded, "pairwise-moment", pairs="all", max_iter=4)
    assert again.metrics["error"] == row["error"] and row["stop"] == again.stop.name
    assert len(again.rows) == row["iterations"] <= 4


def test_every_numeric_parameter_is_an_axis_and_every_axis_has_a_title():
    own = axes(FlippedLogistic)
    assert {"n", "p", "flip", "intercept", "noise", "ratio", "variance", "dense-rate", "sparse-rate"} <= set(own)
    assert "seed" not in own and "truth" not in own and all(own.values())
    assert own["flip"] == "flip probability, pₑ"
    assert not {"intercept", "per-freedom"} & set(axes(OneBitSensing)) and "ratio" not in axes(type(TABLE))


NETWORK = lrlab.spec("polynomial-network", p=20, r=2)
SENSING = lrlab.spec("rank-one-sensing", d1=10, d2=10, rank=1, m=400)
TABLE = lrlab.spec("inductive-completion", n1=40, n2=50, d1=6, d2=7, rank=2)


@pytest.mark.parametrize(
    ("spec", "axis", "value", "decided"),
    [
        (SPEC, "ratio", 7.5, {"n": 75}),
        (SPEC, "variance", 0.25, {"noise": 0.5}),
        (SPEC, "noise", 0.7, {"noise": 0.7}),
        (SPEC, "dense-rate", 0.05, {"n": 10 / 0.05**2}),
        (SPEC.replace(sparsity=3), "sparse-rate", 0.05, {"n": 3 * math.log(10) / 0.05**2}),
        (NETWORK, "per-freedom", 3.0, {"m": 3 * 39}),
        (NETWORK, "ratio", 5.0, {"m": 100}),
        (SENSING, "side", 25, {"d1": 25, "d2": 25, "m": 1000}),
        (TABLE, "missing", 0.75, {"observed": 0.25}),
        (TABLE, "per-freedom", 4.0, {"measurements": 4 * 22}),
    ],
)
def test_a_derived_axis_decides_its_parameter(spec, axis, value, decided):
    moved = place(spec, axis, value)
    assert {name: getattr(moved, name) for name in decided} == pytest.approx(decided, rel=1e-3)


def test_derived_axes_decide_their_parameter_last():
    [job] = Sweep(spec=SPEC, axes={"ratio": [30], "p": [7]}, solvers=["pairwise-moment"]).jobs
    assert job.spec.n == 210, "n = 30 p with the p of the cell"


@pytest.mark.parametrize(
    ("axis", "value", "sentence"),
    [
        ("nois", 1.0, 'axis must be one of .* did you mean "noise"?'),
        ("seed", 1.0, "axis must be one of"),
        ("noise", -1.0, "noise must be a number in 0..10, got -1"),
        ("ratio", 0.0, "ratio must be a finite number, above 0, got 0: give ratio"),
        ("variance", -0.1, "variance must be a finite number, 0 or more, got -0.1"),
        ("ratio", float("nan"), "ratio must be a finite number, above 0, got nan"),
        ("dense-rate", 1e-9, "n must be a whole number in 2..1000000"),
    ],
)
def test_bad_axes_and_values_are_refused(axis, value, sentence):
    with pytest.raises(InputError, match=sentence):
        place(SPEC, axis, value)


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (3, 5), (5, 5), (40, 100)])
def test_wilson_agrees_with_scipy(successes, trials):
    expected = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    assert wilson_bounds(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson_bounds(0, 0) == (0.0, 1.0)


@pytest.mark.slow
def test_lines_that_all_solvers_share_are_drawn_once():
    spec = lrlab.spec("rank-one-sensing", d1=12, d2=10)
    low_rank = Sweep(spec=spec, axes={"rank": [1, 2, 3], "m": [10, 60, 300]}, solvers=["gauss-newton", "altmin"])
    line = lines(low_rank).dropna()
    assert set(line["line"]) == {"degrees of freedom"} and len(line) == 3
    for _, rank, m in line.itertuples(index=False):
        assert m == pytest.approx(rank * (22 - rank), abs=0.51)


def test_a_trial_that_its_worker_ended_is_a_time_out():
    def ended(function, items):
        return LocalResults(lambda trial: TIMED_OUT if trial.number == 1 else function(trial), items)

    rows = lrlab.sweep(SPEC, {"noise": [0.1]}, ["pairwise-moment"], trials=3, start=ended)
    assert rows["stop"].tolist() == ["CONVERGED", "TIMEOUT", "CONVERGED"]
    assert rows["iterations"].tolist()[1] == 0 and np.isnan(rows["error"][1]) and not rows["refused"].any()


def test_predicted_lines_are_where_the_overlap_leaves_zero_and_where_it_has_the_level():
    spec = OneBitPhaseRetrieval(p=1000)
    axes = {"threshold": Span(0.2, 1.5, 5), "ratio": Span(5.0, 400.0, 5, "log")}
    drawn = lines(Sweep(spec=spec, axes=axes, solvers=["pairwise-moment"])).dropna()
    counts = drawn["line"].value_counts()
    assert set(counts.index) == {"asymptotic threshold", "asymptotic overlap = 0.5"} and counts.min() > 20
    for name, x, y in drawn.itertuples(index=False):
        moments, least = spec.replace(threshold=x).link_function.moments, 0.5 * (name == "asymptotic overlap = 0.5")
        below, above = (spiked.predict(moments, side * y).overlap for side in (0.99, 1.01))
        assert below <= least < above and (below < least or not least)
    small = {"noise": [0.0, 1.0], "n": [100, 200]}
    assert lines(Sweep(spec=spec, axes=small, solvers=["link-free-refinement"])).dropna().empty
    assert lines(Sweep(spec=spec, axes={"n": [100, 200]}, solvers=["pairwise-moment"])).empty, "there is no plane"
