"""Sweeps and transitions: what is planned, refused, reproduced, summarized and predicted."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import lrlab
from lrlab.engine.messages import TIMED_OUT
from lrlab.engine.results import LocalResults
from lrlab.models.axes import axes, place
from lrlab.models.index_family import OneBitPhaseRetrieval, OneBitSensing
from lrlab.parameters import InputError
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.statistics import summarize, wilson
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


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: table(pair="all"), 'setting of pairwise-moment must be one of .* did you mean "pairs"?'),
        (lambda: lrlab.sweep(SPEC, {"nois": [1]}, ["pairwise-moment"], start=LocalResults), "axis must be one of"),
        (lambda: lrlab.sweep(SPEC, {"n": [2]}, ["pairwise-moment"], start=LocalResults), "axes must be such that"),
        (lambda: place(SPEC, "ratio", -1), "ratio must be a finite number, above 0, got -1"),
    ],
)
def test_what_cannot_be_swept_is_refused(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_derived_axes_decide_their_parameter_last():
    [job] = Sweep(spec=SPEC, axes={"ratio": [30], "p": [7]}, solvers=["pairwise-moment"]).jobs
    assert job.spec.n == 210, "n = 30 p with the p of the cell"
    assert place(SPEC, "variance", 0.25).noise == 0.5
    assert "ratio" in axes(OneBitSensing) and "seed" not in axes(OneBitSensing)


@pytest.mark.parametrize(("successes", "trials"), [(0, 5), (3, 5), (5, 5), (40, 100)])
def test_wilson_agrees_with_scipy(successes, trials):
    expected = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    assert wilson(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_summary_counts_what_was_measured():
    rows = pd.DataFrame(
        {"m": [1, 1, 1, 2, 2], "solver": "x", "error": [0.1, 0.2, 0.6, np.nan, 0.4], "refused": ["", "", "", "no", ""]}
    )
    cells = summarize(rows, ["m", "solver"], "error", below=0.5).set_index("m")
    assert cells.loc[1, "trials"] == 3 and cells.loc[2, "trials"] == 1
    assert cells.loc[1, "mean"] == pytest.approx(0.3) and cells.loc[1, "successes"] == 2
    assert cells.loc[1, "error"] == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1) / math.sqrt(3))
    assert (cells.loc[1, "low"], cells.loc[1, "high"]) == wilson(2, 3)


def test_the_predicted_line_is_where_the_overlap_leaves_zero():
    spec = OneBitPhaseRetrieval(p=50)
    axes = {"threshold": Span(0.2, 1.5, 5), "ratio": Span(5.0, 400.0, 5, "log")}
    drawn = lines(Sweep(spec=spec, axes=axes, solvers=["pairwise-moment"])).dropna()
    line = drawn[drawn.pop("line") == "asymptotic threshold"]
    assert len(line) > 20
    for x, y in line.itertuples(index=False):
        exact = spiked.predict(spec.replace(threshold=x).link_function.moments, y).threshold
        assert y == pytest.approx(exact, abs=0.1 + 0.5 / 50), "n is whole, so n/p moves in steps of 1/p"
    small = {"noise": [0.0, 1.0], "n": [100, 200]}
    assert lines(Sweep(spec=spec, axes=small, solvers=["link-free-refinement"])).dropna().empty
    assert lines(Sweep(spec=spec, axes={"n": [100, 200]}, solvers=["pairwise-moment"])).empty, "there is no plane"


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


def test_axes_of_low_rank_models():
    network = lrlab.spec("polynomial-network", p=20, r=2)
    assert place(network, "per-freedom", 3.0).m == 3 * 39 and place(network, "ratio", 5.0).m == 100
    table = lrlab.spec("inductive-completion", n1=40, n2=50, d1=6, d2=7, rank=2)
    assert place(table, "missing", 0.75).observed == 0.25
    assert place(table, "per-freedom", 4.0).measurements == 4 * 22
    assert "ratio" not in axes(type(table)) and "per-freedom" not in axes(OneBitSensing)


def test_a_trial_that_its_worker_ended_is_a_time_out():
    def ended(function, items):
        return LocalResults(lambda trial: TIMED_OUT if trial.number == 1 else function(trial), items)

    rows = lrlab.sweep(SPEC, {"noise": [0.1]}, ["pairwise-moment"], trials=3, start=ended)
    assert rows["stop"].tolist() == ["CONVERGED", "TIMEOUT", "CONVERGED"]
    assert rows["iterations"].tolist()[1] == 0 and np.isnan(rows["error"][1]) and not rows["refused"].any()
