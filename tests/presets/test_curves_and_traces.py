"""Presets of kinds `curves` and `traces`: small versions of their figures, and the statistics that these show."""

import copy
import dataclasses

import numpy as np
import pandas as pd
import pytest

from lrlab import presets
from lrlab.engine.results import LocalResults, collect
from lrlab.models.axes import place
from lrlab.presets import claims, curves, traces
from lrlab.runs import trial
from lrlab.sweeps.toml_source import Source


def small_plan(name, **changes):
    """Plan a preset with other content."""
    preset, source = presets.load(name), Source("")
    source.content = {**preset.content, **changes}
    return presets.plan(dataclasses.replace(preset, source=source))


def small(name, **changes):
    plan = small_plan(name, **changes)
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def test_a_figure_of_successes_tells_where_half_of_them_succeed():
    content = presets.load("soltani2018-fig2a").content
    series = [one for one in content["series"] if one["solver"] in ("gauss-newton", "ep-rom")][:2]
    series = [{"label": "tangent", "solver": "tangent-descent"}, *series]
    result = small(
        "soltani2018-fig2a", axes={"m": [20, 200, 600]}, trials=4, series=series,
        spec={"p": 20, "r": 2, "signs": "positive"},
    )  # fmt: skip
    points = result.table[result.table["level"] == "point"]
    assert points["trials"].eq(4).all(), "trials that diverged are counted"
    share = points[points["series"] == "tangent"].set_index("m")["share"]
    assert share[600] == 1
    halves = result.table[result.table["level"] == "series"].set_index("series")["half"]
    assert 20 < halves["tangent"] <= 600
    assert f"tangent at {halves['tangent']:.0f}" in result.panels[0].caption
    assert any("degrees of freedom (39)" in (trace.name or "") for trace in result.panels[0].figure.data)


def test_a_local_minimum_is_no_success():
    """A trial at one may have an error below the level of a paper, with its weakest unit missing."""
    spec, one = {"p": 10, "r": 2, "signs": "positive"}, {"label": "one", "solver": "tangent-descent"}
    plan = small_plan("soltani2018-fig2a", axes={"m": [200]}, trials=4, series=[one], spec=spec, claims=[])
    results = collect(LocalResults(plan.function, plan.items))
    beaten = [result._replace(stop="LOCAL_MINIMUM") for result in results[:3]]
    shares = [
        plan.finish(own).table.query("level == 'point'")["share"].item() for own in (results, [*beaten, results[3]])
    ]
    assert shares == [1.0, 0.25]


def test_half_points():
    rows = pd.DataFrame({"series": ["a"] * 4 + ["b"] * 2, "x": [1, 2, 3, 4, 1, 2], "share": [0, 0.2, 0.6, 1, 0, 0.1]})
    found = curves.half_points(rows)
    assert found["a"] == pytest.approx(2.75) and np.isnan(found["b"])


def test_figures_of_errors_show_medians_and_leave_out_what_cannot_be():
    result = small("jain2013-fig1d", axes={"d": [1, 4]}, trials=3)
    points = result.table[result.table["level"] == "point"]
    assert set(zip(points["series"], points["d"], strict=True)) == {
        ("k = 1", 1),
        ("k = 1", 4),
        ("k = 2", 4),
        ("k = 3", 4),
        ("k = 1, without ridge", 1),
        ("k = 1, without ridge", 4),
    }
    refused = result.trials[result.trials["refused"] != ""]
    assert len(refused) == 2 and refused["refused"].str.contains("lower rank").all()


def test_figures_of_traces_share_their_runs_between_panels():
    content = presets.load("soltani2018-fig2b").content
    spec = {"p": 12, "r": 2, "m": 400, "noise": 0.1}
    plan = small_plan("soltani2018-fig2b", spec=spec, trials=2, settings={"max_iter": 5, "tol": 0})
    values = sum(len(one.get("grid", {"": [1]}).popitem()[1]) for one in copy.deepcopy(content["series"]))
    assert len(plan.items) == 2 * values > 2 * len(content["series"])
    result = plan.finish(collect(LocalResults(plan.function, plan.items)))
    misfit, error = result.panels
    assert "misfit" in misfit.figure.layout.yaxis.title.text and "L̂" in error.figure.layout.yaxis.title.text
    assert set(result.table["panel"]) == {misfit.title, error.title}


def judged(result):
    """Return the rows of claims of a result's table."""
    return result.table[result.table["level"] == "claim"]


def test_a_claim_is_judged_by_the_series_it_names():
    spec = {"d1": 12, "d2": 12, "rank": 1}
    result = small("jain2013-fig1a", axes={"m": [60, 200]}, trials=3, spec=spec, claims=[
        {"paper": "similar", "rule": "similar", "series": ["AltMin, rank-one", "AltMin, dense"], "within": 1e6},
        {"paper": "large", "rule": "about", "series": ["AltMin, rank-one"], "level": 0.5, "within": 2, "at": 200},
        {"paper": "small", "rule": "about", "series": ["AltMin, rank-one"], "level": 1e-12, "within": 1e12,
         "remark": {"text": "Rank-one", "rule": "about", "series": ["AltMin, dense"], "level": 1e-12, "within": 1e12}},
        {"paper": "of nothing", "rule": "rising", "series": ["AltMin, left out"]},
    ])  # fmt: skip
    found = judged(result).set_index("paper")["verdict"].to_dict()
    words = {"similar": "reproduced", "large": "not reproduced", "small": "reproduced", "of nothing": "not decided"}
    assert found == words
    assert "Verdict: not reproduced. The paper: “large”. Measured: AltMin, rank-one" in result.panels[0].caption
    assert "Measured: not run: AltMin, left out" in result.panels[0].caption
    assert judged(result)["remark"].str.startswith("Rank-one (AltMin, dense: ").tolist() == [False, False, True, False]


def test_the_best_value_of_a_grid_is_shown_and_all_are_in_the_table_of_trials():
    content = presets.load("soltani2018-fig2b").content
    series = [one for one in content["series"] if one["solver"] in ("nuclear-norm", "gfm")]
    convex = next(one for one in series if one["solver"] == "nuclear-norm")
    convex = {**convex, "grid": {"mu_share": [0.5, 0.02]}}
    spec = {"p": 12, "r": 2, "m": 400, "noise": 0.1}
    limits = {"max_iter": 60, "tol": 0}
    result = small("soltani2018-fig2b", spec=spec, trials=2, settings=limits, series=[series[0], convex])
    assert "convex (FASTA): 0.02" in result.panels[1].caption
    trials = result.trials[result.trials["series"] == convex["label"]]
    assert set(trials["grid"]) == {0.5, 0.02}
    points = result.table[
        (result.table["series"] == convex["label"]) & (result.table["panel"] == "Error of the matrix")
    ]
    last = trials.groupby(["grid", "trial"]).tail(1).groupby("grid")["error"].median()
    assert points["error"].iloc[-1] == pytest.approx(last[0.02]) and last[0.02] < last[0.5]


def test_a_ratio_of_two_series_along_the_size():
    panel = {"title": "ratio", "axes": {"side": [5, 10]}, "spec": {"m": 500}, "published": 100.0,
             "ratio": ["AltMin, dense", "AltMin, rank-one"]}  # fmt: skip
    result = small("jain2013-fig1b", panels=[panel], trials=2, claims=[], spec={"d1": 10, "d2": 10, "rank": 1})
    specs = {(row.series, row.side) for row in result.trials.itertuples()}
    assert specs == {(name, side) for name in panel["ratio"] for side in (5, 10)}
    seconds = result.trials.groupby(["side", "series"])["seconds"].apply(list)
    ratios = np.divide(seconds[10, "AltMin, dense"], seconds[10, "AltMin, rank-one"])
    points = result.table[result.table["level"] == "point"].set_index("side")
    assert points["median"][10] == pytest.approx(np.median(ratios))
    spec = place(presets.load("jain2013-fig1b").spec(("panels", 1)), "side", 25)
    assert (spec.d1, spec.d2, spec.m) == (25, 25, 1000), "40 measurements per row"


def test_a_run_that_has_ended_keeps_its_last_value_in_the_median():
    rows = pd.DataFrame(
        [("s", 0, 1, 0.1, 4.0), ("s", 0, 2, 0.2, 2.0), ("s", 0, 3, 0.3, 1.0), ("s", 1, 1, 0.1, 6.0)],
        columns=["series", "trial", "iteration", "seconds", "error"],
    )
    found = traces.median_traces(rows, "error")
    assert found["y"].tolist() == [5.0, 4.0, 3.5] and found["trials"].tolist() == [2, 2, 2]


def timed(errors, trials=3):
    """Return the rows of a series whose iterations take one second, give or take a tenth from trial to trial."""
    return pd.DataFrame([
        {"trial": k, "iteration": i + 1, "seconds": (i + 1) * (1 + 0.1 * (k - 1)), "error": error}
        for k in range(trials)
        for i, error in enumerate(errors)
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("others", "holds"),
    [
        (timed([0.9, 0.5, 0.2, 0.15, 0.01], trials=4), True),
        (timed([0.9, 0.2, 0.05], trials=4), None),
        (timed([0.01], trials=4), False),
        (timed([0.9, 0.8, 0.7, 0.6, 0.5], trials=4), True),
        (timed([0.9, 0.8], trials=4), None),
        (timed([0.9, 0.5, 0.2, 0.15, 0.01], trials=1), None),
        (timed([0.9, 0.5, 0.2, 0.15, 0.01], trials=3), None),
    ],
)
def test_sooner_is_decided_by_times_to_a_level_and_never_by_where_runs_are_cut_off(others, holds):
    rule, trials = {"rule": "sooner", "level": 0.1, "lower": ["a"], "higher": ["b"]}, others["trial"].nunique()

    def judged_with(other):
        rows = pd.concat([timed([0.5, 0.2, 0.01], trials).assign(series="a"), other.assign(series="b")])
        return claims.judge(rule, traces._samples(rows, "error", "seconds", rule["level"]))

    found = judged_with(others)
    assert found.holds is holds and found.measured.startswith("a: ")
    if holds is not None:
        iterations = others["iteration"].max()
        rest = timed([0.01] * 9, trials)
        longer = judged_with(pd.concat([others, rest[rest["iteration"] > iterations]]))
        assert longer.holds is holds, "what is decided stays so"


SMALL = {
    "polynomial-network": {"p": 12, "r": 2, "m": 300},
    "rank-one-sensing": {"d1": 10, "d2": 10, "rank": 1, "m": 150},
    "multilabel-regression": {"n": 40, "d": 6, "labels": 8, "rank": 2, "observed": 0.3},
}


@pytest.mark.parametrize("paper", ["jain2013", "soltani2018"])
def test_no_iterate_of_a_figure_depends_on_the_limit_of_iterations(paper):
    """Figures against iterations or seconds cannot move by a higher limit: they gain points."""
    jobs = {}
    for preset in (presets.load(name) for name in presets.names() if name.startswith(paper)):
        items = [item for item in presets.plan(preset, trials=2).items if isinstance(item, trial.Trial)]
        for job in (item.job for item in items):
            about = (job.solver, job.options, job.spec.model, getattr(job.spec, "operator", ""))
            if about not in jobs:
                small_job = job.on(job.spec.replace(**SMALL[job.spec.model], seed=0))
                jobs[about] = dataclasses.replace(small_job, limits=job.limits._replace(tol=0.0))
        # A search for the fewest measurements draws none of its iterates.
        traced = [one for one in preset.series if "solver" in one and "fewest" not in one]
        solvers = {*preset.content.get("solvers", ()), *(one["solver"] for one in traced)}
        assert {solver for solver, *_ in jobs} >= solvers
    for job in jobs.values():
        runs = [
            trial.run_traced(trial.Trial(dataclasses.replace(job, limits=job.limits._replace(max_iter=limit)), 0))
            for limit in (3, 6)
        ]
        short, long = (pd.DataFrame(rows).drop(columns=["seconds", "stop"]) for rows in runs)
        pd.testing.assert_frame_equal(short, long.iloc[: len(short)], check_exact=True)
        assert len(short) == 3 or len(long) == len(short), "a run that ends by itself"
