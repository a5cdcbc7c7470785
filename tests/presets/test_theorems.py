"""Theorems: quantities recomputed in another way, lines, rules in all three outcomes, presets at other positions."""

import re
from dataclasses import replace

import numpy as np
import pytest

import lrlab
from lrlab import presets
from lrlab.parameters import InputError
from lrlab.presets import items
from lrlab.presets.definition import moved
from lrlab.presets.items import Search
from lrlab.presets.quantities import FUNCTIONS, QUANTITIES, at_distance, evaluated, pairwise_limit


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


def test_gaps_are_those_of_the_empirical_minimisers():
    spec = lrlab.spec("multilabel", n=400, d=3, labels=4, rank=1, per_row=0, seed=1)
    parts = QUANTITIES["generalisation-gaps"](spec)
    rng = np.random.default_rng(spec.streams().data)
    label, signs = rng.integers(4, size=400), rng.integers(0, 2, size=(400, 3)) * 2.0 - 1.0
    X = np.zeros((4, 3))
    for row, x in zip(label, signs, strict=True):
        X[row] += x / np.sqrt(3)
    # The risk of Z on these rows is <Z, X> / n, and on fresh ones 0.
    u, _, vt = np.linalg.svd(X)
    for ball, Z in (("frobenius", X / np.linalg.norm(X)), ("trace", np.outer(u[:, 0], vt[0]))):
        assert parts[ball] == pytest.approx(np.sqrt(400) * np.vdot(Z, X) / 400)
    large = QUANTITIES["generalisation-gaps"](spec.replace(n=4000, d=60, labels=90))
    assert large["trace"] == pytest.approx(bound_of("yu2014-claims7-8", 1, spec.replace(d=60, labels=90)), rel=0.1)


def test_a_label_of_high_frequency_has_the_gap_of_its_limit():
    spec = lrlab.spec("multilabel", n=4000, d=80, labels=120, rank=1, per_row=0)
    for largest in (0.01, 0.05, 0.3, 1.0):
        parts = [QUANTITIES["generalisation-gaps"](spec.replace(seed=seed), largest) for seed in range(30)]
        limit = bound_of("yu2014-theorem6", 1, spec, largest)
        assert np.mean([one["frobenius"] for one in parts]) == pytest.approx(1.0, rel=0.05)
        assert np.mean([one["trace"] for one in parts]) == pytest.approx(limit, rel=0.05)
    equal = bound_of("yu2014-claims7-8", 1, spec)
    assert bound_of("yu2014-theorem6", 1, spec, 1 / 120) == pytest.approx(equal, rel=0.01)
    assert bound_of("yu2014-theorem6", 0, spec, 1 / 120) == pytest.approx(bound_of("yu2014-claims7-8", 0, spec))


def test_the_contraction_is_the_largest_deviation_on_the_tangent_space():
    spec = lrlab.spec("polynomial-network", p=6, r=2, m=80, seed=2)
    problem = spec.build()
    U, X = problem.truth.U, problem.operator.X
    rng = np.random.default_rng(0)
    basis = np.array([(U @ B.T + B @ U.T).ravel() for B in rng.standard_normal((40, 6, 2))])
    T = np.linalg.svd(basis, full_matrices=False)[2][: spec.degrees_of_freedom]

    def deviation(Z):
        r = np.einsum("ij,jk,ik->i", X, Z, X)
        return Z - (X.T * r) @ X / (2 * 80) + r.mean() / 2 * np.eye(6)

    images = np.array([deviation(row.reshape(6, 6)).ravel() for row in T])
    parts = QUANTITIES["contraction"](spec)
    assert parts["tangent"] == pytest.approx(2 * np.linalg.norm(images @ T.T, 2), rel=0.01)
    L = problem.truth.dense()
    assert parts["fixed"] == pytest.approx(2 * np.linalg.norm(deviation(L), 2) / np.linalg.norm(L, 2))


def test_the_statistical_error_is_that_of_the_noise_and_has_its_limit():
    spec = lrlab.spec("polynomial-network", p=60, r=2, m=3000, noise=0.2, seed=3)
    parts, X = QUANTITIES["statistical-error"](spec), spec.build().operator.X
    # The same truth and samples, without noise.
    e = spec.build().b - spec.replace(noise=0.0).build().b
    assert parts["mean"] == pytest.approx(abs(np.mean(e)))
    assert parts["moment"] == pytest.approx(np.linalg.norm((X.T * e) @ X / 3000, 2))
    assert parts["moment"] == pytest.approx(bound_of("soltani2018-theorem5", 1, spec), rel=0.15)
    assert bound_of("soltani2018-theorem5", 0, spec) == pytest.approx(0.2 * np.sqrt(60 * np.log(60) ** 3 / 3000))


def test_the_minimax_bound_is_that_of_the_margin_and_the_slope_of_the_link():
    spec = lrlab.spec("flipped-logistic", n=500, p=50, sparsity=4, flip=0.1)
    z, f = np.linspace(-40, 40, 100001), spec.link_function
    margin, slope = 1 - np.abs(f(z)).max(), np.abs(np.gradient(f(z), z)).max()
    expected = np.sqrt(margin * (1 - margin)) / slope * np.sqrt(4 * np.log(50 / 4) / 500)
    assert bound_of("yi2015-theorem3-7", 2, spec) == pytest.approx(expected, rel=1e-4)
    assert bound_of("yi2015-theorem3-7", 2, spec.replace(flip=0.0)) == 0


def test_the_exact_error_of_the_pairwise_moment_is_that_of_the_spiked_model():
    for model, more in (("one-bit-sensing", {"noise": 0.5}), ("one-bit-phase-retrieval", {"threshold": 1.2})):
        spec = lrlab.spec(model, n=10**6, p=2, **more)
        assert bound_of("yi2015-theorem3-5", 1, spec) == pytest.approx(pairwise_limit(spec), rel=0.01)


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


def test_the_perturbation_is_the_sum_of_the_theorem_at_its_distance():
    spec = lrlab.spec("one-bit-multilabel", m=3000, d1=6, d2=4, rank=2, seed=5)
    W = spec.truth()
    other = at_distance(W, np.random.default_rng(spec.streams().solver), 0.4)
    gap = W.dense() - other.dense()
    assert np.linalg.norm(gap, 2) == pytest.approx(0.4) and len(other.s) == 4
    assert np.linalg.norm(other.dense(), axis=0) == pytest.approx(np.ones(4))
    (samples,) = spec.build().blocks(0)
    H = np.zeros((6, 4))
    for x, j in zip(samples.X, samples.labels, strict=True):
        H[:, j] += (np.sign(x @ W.dense()[:, j]) - np.sign(x @ other.dense()[:, j])) * x
    expected = np.linalg.norm(H * 4 / 3000 / np.sqrt(2 / np.pi) - gap, 2)
    assert QUANTITIES["perturbation"](spec, 0.4)["norm"] == pytest.approx(expected)
    assert bound_of("qiu2017-theorem2", 0, spec, 0.25) == pytest.approx(np.sqrt(24 * np.sqrt(2) / 3000) * 0.5)


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
