"""Presets of kind `lines`: statistics of their points, traces, times and exponents, in small versions of figures."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from lrlab import presets
from lrlab.engine.results import LocalResults, collect
from lrlab.models.multilabel import Multilabel
from lrlab.presets import claims, items, lines, quantities
from lrlab.presets.evidence import Samples


def small_plan(name, **changes):
    """Plan a preset with other content."""
    preset = presets.load(name)
    return presets.plan(dataclasses.replace(preset, content={**preset.content, **changes}))


def small(name, **changes):
    plan = small_plan(name, **changes)
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def points_of(result):
    return result.table[result.table["level"] == "point"]


def test_a_local_minimum_is_no_success():
    """A trial at one may have an error below the level of a paper, with its weakest unit missing."""
    spec, one = {"p": 10, "r": 2, "signs": "positive"}, {"label": "one", "solver": "tangent-descent", "below": 0.05}
    plan = small_plan("soltani2018-fig2a", axes={"m": [200]}, trials=4, series=[one], spec=spec, claims=[])
    results = collect(LocalResults(plan.function, plan.items))
    beaten = [result._replace(stop="LOCAL_MINIMUM") for result in results[:3]]
    shares = [points_of(plan.finish(own))["share"].item() for own in (results, [*beaten, results[3]])]
    assert shares == [1.0, 0.25]


def test_what_a_solver_refuses_is_left_out():
    result = small("jain2013-fig1d", axes={"d": [1, 4]}, trials=3)
    points, refused = points_of(result), result.trials[result.trials["refused"] != ""]
    assert len(refused) == 2 and refused["refused"].str.contains("lower rank").all()
    shown, left_out = (set(zip(own["series"], own["d"], strict=True)) for own in (points, refused))
    assert len(shown) == 6 and not shown & left_out


def test_a_series_of_traces_ends_at_its_last_iterate_even_if_that_is_infinite():
    plan = small_plan("soltani2018-fig2b", trials=3)
    errors = [0.5, 0.3, 0.17, np.inf, np.inf, np.inf]
    steps = [{"iteration": k, "seconds": k / 10, "misfit": error, "error": error} for k, error in enumerate(errors, 1)]
    result = plan.finish([[{**step, "trial": item.number} for step in steps] for item in plan.items])
    first = presets.load("soltani2018-fig2b").content["series"][0]["label"]
    assert all(f"At the end: {first} inf (0.6 s)" in panel.caption for panel in result.panels)
    points = points_of(result)
    assert points["y"].max() == 0.5 and points["seconds_high"].max() == 0.3, "no point is infinite"


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
    ],
)
def test_sooner_is_decided_by_times_to_a_level_and_never_by_where_runs_are_cut_off(others, holds):
    rule, trials = {"rule": "sooner", "level": 0.1, "lower": ["a"], "higher": ["b"]}, others["trial"].nunique()

    def judged_with(other):
        rows = pd.concat([timed([0.5, 0.2, 0.01], trials).assign(series="a"), other.assign(series="b")])
        return claims.judge(rule, lines.ends_of_runs(rows, "error", "seconds", rule["level"]))

    judged = judged_with(others)
    assert judged.holds is holds and judged.measured.startswith("a: ")
    if holds is not None:
        rest = timed([0.01] * 9, trials)
        longer = judged_with(pd.concat([others, rest[rest["iteration"] > others["iteration"].max()]]))
        assert longer.holds is holds, "what is decided stays so"


def test_the_time_to_an_accuracy_that_a_run_misses_is_infinite():
    rows = timed([0.9, 0.5]).assign(series="one", m=10)
    times = lines.times_of_runs(rows, "m", "accuracy", {"metric": "error", "level": 0.1})
    assert len(times) == 3 and np.isinf(times["time"]).all()


@pytest.mark.parametrize(
    ("times", "claimed", "word"),
    [
        ([1, 2.1, 3.9, 8.2], 1.0, "reproduced"),
        ([1, 2.1, 3.9, 8.2], 1.8, "reproduced"),
        ([1, 2.1, 3.9, 8.2], 3.0, "not decided"),
        ([1, 2.1, 3.9, 8.2], 0.5, "not reproduced"),
        ([1, 8.2, 2.1, 3.9], 1.0, "not decided"),
        ([4, 4.1, 3.9, 4], 1.0, "not decided"),
    ],
)
def test_a_formula_holds_if_growth_shows_and_is_no_faster(times, claimed, word):
    held = Samples({"one": {x: np.array([y, y]) for x, y in zip((10, 20, 40, 80), times, strict=True)}})
    rule = {"rule": "exponent", "series": ["one"], "level": claimed}
    assert claims.judge(rule, held).word == word
    once = Samples({"one": {x: own[:1] for x, own in held.values["one"].items()}})
    assert claims.judge(rule, once).word == "not decided"


def test_a_run_is_measured_without_its_data_in_time_and_with_it_in_memory():
    plan = presets.plan(presets.load("growth-of-costs"))
    run = next(item for item in plan.items if item.job.spec.n == 1000 and item.job.solver == "logistic")
    [row] = items.cost(run)
    assert row["processor"] > 0.0
    assert run.job.spec.data_bytes / 1e6 <= row["megabytes"] < 10 * run.job.spec.data_bytes / 1e6


def test_fast_and_direct_products_agree_and_threads_beyond_the_cores_are_left_out(monkeypatch):
    spec = Multilabel(n=50, d=30, labels=8, rank=3, observed=0.5, density=0.2, seed=1004)
    problem, rng = spec.build(), np.random.default_rng(0)
    W, S, H = (rng.standard_normal((size, 3)) for size in (30, 30, 8))
    with ThreadPoolExecutor(2) as pool:
        for count in (1, 3):
            fast = quantities.in_parts(problem, W, S, H, count, pool.map)
            for slow, quick in zip(quantities.direct(problem, W, S, H), fast, strict=True):
                assert slow() == pytest.approx(quick(), abs=1e-10)
    assert set(quantities.fast_products(spec, 6)) == set(quantities.PRODUCTS)
    monkeypatch.setattr(quantities, "cores", lambda: 2)
    assert quantities.threaded_products(spec, 4) == {}
