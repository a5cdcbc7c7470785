"""Presets of kind `lines`, also of theorems: points, traces, times, exponents; quantities recomputed in another way."""

import dataclasses
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab import presets
from lrlab.engine.results import LocalResults, collect
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.presets import claims, items, lines, quantities
from lrlab.presets.definition import moved
from lrlab.presets.evidence import Samples
from lrlab.presets.items import Search
from lrlab.presets.quantities import FUNCTIONS, QUANTITIES, evaluated


def small_plan(name, **changes):
    """Plan a preset with other content."""
    preset = presets.load(name)
    return presets.plan(dataclasses.replace(preset, content={**preset.content, **changes}))


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
    plan = small_plan("jain2013-fig1d", axes={"d": [1, 4]}, trials=3)
    result = plan.finish(collect(LocalResults(plan.function, plan.items)))
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


def bound_of(name, number, spec, x=np.nan):
    """Return the bound with a number among the different ones of a preset, at a spec."""
    formulas = dict.fromkeys(line["bound"] for line in presets.load(name).content["lines"] if "bound" in line)
    return evaluated(list(formulas)[number], [spec], x)[0]


def test_every_quantity_and_every_bound_is_drawn_somewhere():
    tables = [presets.load(name).content for name in presets.names() if presets.load(name).kind == "lines"]
    series = [one for table in tables for one in table.get("series", ())]
    assert {one["quantity"] for one in series if "quantity" in one} == set(QUANTITIES)
    formulas = [one[key] for table in tables for one in (*table.get("lines", ()), table["figure"])
                for key in ("bound", "against") if key in one]  # fmt: skip
    assert all(re.search(rf"\b{name}\b", " ".join(formulas)) for name in FUNCTIONS)


def test_the_properties_of_rank_one_measurements_are_the_sums_of_the_theorem():
    spec = lrlab.spec("rank-one-sensing", m=60, d1=5, d2=5, rank=2, condition=3.0, seed=4)
    problem, parts = spec.build(), QUANTITIES["properties"](spec)
    X, Y, W = problem.operator.X, problem.operator.Y, problem.truth.dense()
    S = sum(b * np.outer(x, y) for b, x, y in zip(problem.b, X, Y, strict=True)) / 60
    assert parts["start"] == pytest.approx(np.linalg.norm(S - W, 2) / np.linalg.norm(W, 2))
    for name in ("B", "G"):
        sizes = [QUANTITIES["properties"](spec.replace(m=m))[name] for m in (100, 10_000)]
        assert 4 < sizes[0] / sizes[1] < 25, "they fall as 1 / sqrt(m)"
    assert bound_of("jain2013-theorem1", 0, spec) == pytest.approx(1 / (100 * 2**1.5 * 3))


@pytest.mark.parametrize("operator", ["gaussian", "dense"])
def test_the_ends_of_the_isometry_have_the_means_that_lines_say(operator):
    spec = lrlab.spec("rank-one-sensing", m=200, d1=20, d2=30, rank=1, operator=operator)
    drawn = [QUANTITIES["isometry"](spec.replace(seed=seed)) for seed in range(300)]
    line = bound_of("jain2013-claim3", int(operator == "dense"), spec)
    assert np.mean([one["high"] for one in drawn]) == pytest.approx(line, rel=0.05)
    assert np.mean([one["low"] for one in drawn]) == pytest.approx(1.0, rel=0.05)


def test_a_label_of_high_frequency_has_the_gap_of_its_limit():
    spec = lrlab.spec("multilabel", n=4000, d=80, labels=120, rank=1, per_row=0)
    for largest in (0.01, 0.05, 0.3, 1.0):
        parts = [QUANTITIES["generalisation-gaps"](spec.replace(seed=seed), largest) for seed in range(30)]
        limit = bound_of("yu2014-theorem6", 1, spec, largest)
        assert np.mean([one["frobenius"] for one in parts]) == pytest.approx(1.0, rel=0.05)
        assert np.mean([one["trace"] for one in parts]) == pytest.approx(limit, rel=0.05)


def test_the_least_misfit_is_that_of_cplst_and_leml_exceeds_it_by_its_weight_squared():
    spec = lrlab.spec("multilabel", n=120, d=8, labels=6, rank=2, seed=3)
    closed = QUANTITIES["rank-fits"](spec)["closed"]
    assert closed == pytest.approx(lrlab.solve(spec, "cplst").table["objective"].iloc[-1])
    assert closed < 0.999 * lrlab.solve(spec, "plst").table["objective"].iloc[-1]
    ratios = [QUANTITIES["rank-distances"](spec, weight)["leml"] for weight in (1e-2, 1e-1)]
    assert 0 < ratios[0] and ratios[1] / ratios[0] == pytest.approx(100, rel=0.05)


def test_a_search_ends_where_runs_begin_to_recover(monkeypatch):
    """The fewest measurements, to 5%, of runs that recover from a number on; infinite where none does."""
    spec = lrlab.spec("rank-one-sensing", d1=10, d2=10, rank=1)
    search = Search(spec, "altmin", (), "error", 0.01, "m", 20.0, 4000.0, 0, 1.05)
    tried = []

    def recovers(_search, value, least=700):
        tried.append(value)
        return value >= least

    monkeypatch.setattr(Search, "recovers", recovers)
    assert 700 <= items.fewest(search) <= 1.05 * 700 + 1 and len(tried) < 15
    assert tried[:3] == [20, 40, 80]
    exact, tried[:] = len(tried), []
    assert 700 <= items.fewest(replace(search, close=1.3)) <= 1.3 * 700 + 1 and len(tried) < exact
    monkeypatch.setattr(Search, "recovers", lambda *given: False)
    assert items.fewest(search) == np.inf


@pytest.mark.parametrize("distance", [0.3, 1.0, 1.4])
def test_both_sides_of_the_lemma_are_means_over_draws_of_all_g(distance):
    g, angle = np.random.default_rng(1).standard_normal((400_000, 3)), 2 * np.arcsin(distance / 2)
    differ = 4.0 * (np.sign(g[:, 0]) != np.sign(g @ [np.cos(angle), np.sin(angle), 0.0]))
    matrix = np.linalg.norm((g.T * differ) @ g / len(g), 2) / distance
    length = np.mean(np.sum(g**2, axis=1) * differ) / 3 / distance
    spec = lrlab.spec("one-bit-multilabel", m=100_000, d1=3, d2=3)
    parts = QUANTITIES["sign-moments"](spec, distance)
    for part, plain in (("matrix", matrix), ("length", length)):
        assert parts[part] == pytest.approx(plain, rel=0.02)
        assert parts[part] == pytest.approx(
            bound_of("qiu2017-theorem2", 2 + (part == "length"), spec, distance), rel=0.02
        )


def test_at_another_position_everything_is_of_that_spec():
    preset = moved(presets.load("jain2013-theorem1", quick=True), 5)
    trials = {item.job.spec if hasattr(item, "job") else item.spec for item in presets.plan(preset).items}
    assert {spec.condition for spec in trials} == {5.0} and preset.at == 5
    with pytest.raises(InputError, match=r"at must be 1, 2, 5, 10, got 3"):
        moved(preset, 3)
    with pytest.raises(InputError, match="has no slider"):
        presets.load("jain2013-fig1d", at=3)
