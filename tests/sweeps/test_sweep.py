"""Sweeps and transitions: what is planned, refused, reproduced, summarized and predicted."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

import lrlab
from lrlab.engine.messages import TIMED_OUT
from lrlab.engine.results import LocalResults
from lrlab.models.axes import axes, place
from lrlab.models.index_family import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.parameters import InputError
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.statistics import wilson_bounds
from lrlab.sweeps.theory import lines
from lrlab.theory import spiked

SPEC = OneBitSensing(n=400, p=10)


def table(**settings):
    solvers = ["pairwise-moment", "marginal-mean"]
    return lrlab.sweep(SPEC, {"noise": [0.1, 1.0], "ratio": [1, 40]}, solvers, trials=3, start=LocalResults, **settings)


def test_a_table_has_a_row_a_trial_and_a_reason_a_refusal():
    rows = table()
    ran = rows[rows["refused"] == ""]
    assert len(ran) == 2 * (3 + 3 * 2), "pairwise-moment runs at n = 40p alone, marginal-mean everywhere"
    refused = rows[rows["refused"] != ""]
    assert len(refused) == 2 and (refused["refused"].str.startswith("n must be at least 2p = 20")).all()
    assert {"noise", "ratio", "solver", "trial", "seed", "error", "overlap", "stop", "iterations"} <= set(rows.columns)


def test_two_solvers_see_the_same_data_and_cells_do_not():
    rows = table()
    at = rows[(rows["ratio"] == 40) & (rows["refused"] == "")]
    seeds = at.groupby("solver")["seed"].apply(list)
    assert seeds["pairwise-moment"] == seeds["marginal-mean"]
    assert at[at["solver"] == "marginal-mean"]["seed"].is_unique


def test_any_trial_can_be_run_again_by_its_seed():
    row = table().query("solver == 'pairwise-moment' and noise == 0.1 and ratio == 40").iloc[1]
    again = lrlab.solve(SPEC.replace(n=400, noise=0.1, seed=int(row["seed"])), "pairwise-moment")
    assert again.metrics["error"] == row["error"] and len(again.rows) == row["iterations"]


def test_settings_reach_the_solvers_that_know_them():
    rows = table(pairs="all", max_iter=4)
    assert rows["iterations"].max() <= 4
    assert "limit_top" not in rows or rows["limit_top"].isna().all(), "all pairs have no exact prediction"


def test_every_numeric_parameter_is_an_axis_and_every_axis_has_a_title():
    own = axes(FlippedLogistic)
    assert {"n", "p", "flip", "intercept", "noise", "ratio", "variance", "dense-rate", "sparse-rate"} <= set(own)
    assert "seed" not in own and "truth" not in own and all(own.values())
    assert own["flip"] == "flip probability, pₑ"
    assert not {"intercept", "per-freedom"} & set(axes(OneBitSensing)) and "ratio" not in axes(type(TABLE))


NETWORK = lrlab.spec("polynomial-network", p=20, r=2)
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
def test_lines_that_differ_between_solvers_are_labelled_and_others_are_drawn_once():
    axes = {"threshold": Span(0.2, 1.5, 3), "ratio": Span(5.0, 400.0, 3, "log")}
    both = Sweep(spec=OneBitPhaseRetrieval(p=50), axes=axes, solvers=["pairwise-moment", "phd"])
    names = set(lines(both)["line"])
    kinds = ("asymptotic threshold", "asymptotic overlap = 0.5")
    assert names == {f"{kind}, {title}" for kind in kinds for title in both.titles.values()}
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
