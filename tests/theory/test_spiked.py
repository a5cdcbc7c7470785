"""Spiked moments, spectral estimates, bounds and limits of regression: simulation, known cases, where none holds."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import ks_2samp

import lrlab
from lrlab import catalog
from lrlab.losses import HINGE, LOGISTIC, PROBIT, SQUARED_HINGE
from lrlab.models.low_rank import theory_lines
from lrlab.models.single_index import FlippedLogistic, OneBitSensing
from lrlab.runs.run import trial_spec
from lrlab.spectra import moments, pairwise
from lrlab.theory import bulk, spiked
from lrlab.theory.bulk import nuclear_norm
from lrlab.theory.cramer_rao import images, least_error
from lrlab.theory.links import SignLink, ThresholdLink
from lrlab.theory.m_estimators import existence_ratio, fitted
from lrlab.theory.spectral import Weights, known_link_weights, link_free_weights, spike
from lrlab.theory.spiked import finite_moment

SPECS = (
    lrlab.spec("one-bit-sensing", n=400, p=12, noise=0.5),
    lrlab.spec("one-bit-phase-retrieval", n=300, p=8, threshold=0.4),
    lrlab.spec("flipped-logistic", n=60, p=40, intercept=1.0),
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
def test_draws_have_the_law_of_simulated_measurements(spec):
    table = pairwise.spectrum(spec, "n", [spec.n], trials=150)
    for moment in ("M", "M'"):
        drawn, own = finite_moment(spec.link_function, spec.n, spec.p, moment, 600), table[table["moment"] == moment]
        simulated = own[own["rank"] == 1]["value"], own[own["rank"] == 2]["value"], own[own["rank"] == 1]["overlap"]
        for one, other in zip(drawn, simulated, strict=True):
            assert ks_2samp(one, other).pvalue > 1e-3


def test_the_edge_is_centred_on_the_largest_eigenvalue_of_noise():
    spec = lrlab.spec("flipped-logistic", flip=0.5)
    row = pairwise.predictions(spec, "flip", [0.5]).iloc[0]
    drawn = finite_moment(spec.link_function, spec.n, spec.p, "M", 1000)
    # The asymptotic edge is off by 3.5% at p = 20.
    assert row["top"] == pytest.approx(drawn.top.mean(), rel=0.015)
    assert row["second"] == pytest.approx(drawn.second.mean(), rel=0.015) and row["second"] < 0.97 * row["top"]


@pytest.mark.parametrize(("noise", "threshold"), [(0.0, 9.87), (math.sqrt(0.1), 11.94)])
def test_overlaps_leave_zero_at_the_threshold_of_one_bit_sensing(noise, threshold):
    known = SignLink(noise).moments
    ratio = spiked.predict(known, 40.0).threshold
    below, above = (spiked.predict(known, side * ratio) for side in (0.999, 1.001))
    assert ratio == pytest.approx(threshold, abs=0.01) and below.overlap == 0.0 < above.overlap < 0.01
    assert above.top == pytest.approx(below.top, rel=1e-3), "the eigenvalue leaves the bulk continuously"


def test_bands_follow_the_informative_moment_and_end_where_theory_does():
    phase = lrlab.spec("one-bit-phase-retrieval", n=300, p=8)
    bands = pairwise.bands(phase, "threshold", [0.3, 1.2], draws=50)
    assert list(bands["moment"]) == ["M'", "M"] and (bands["low_top"] < bands["high_top"]).all()
    assert bands.equals(pairwise.bands(phase, "threshold", [0.3, 1.2], draws=50)), "the same draws every time"
    assert pairwise.bands(phase.replace(design="rademacher"), "threshold", [1.2]).empty
    assert pairwise.bands(phase, "p", [400]).empty


def test_the_known_link_gives_the_largest_overlap_and_the_eigenvalue_1():
    moments, ratio = ThresholdLink(0.2, 0.8).moments, 4.0
    best = spike(moments, ratio, known_link_weights(moments))
    assert best.value == pytest.approx(1.0)
    others = [spike(moments, ratio, Weights(np.cos(a), np.sin(a))).overlap for a in np.linspace(0, 2 * np.pi, 721)]
    assert max(others) <= best.overlap + 1e-12 and max(others) > best.overlap - 1e-2


@pytest.mark.parametrize(("positive", "sign"), [(0.3, 1), (0.3, -1), (0.5, 1)])
def test_noise_reaches_the_edge_with_tracy_widom_fluctuations(positive, sign):
    """The Tracy-Widom law (beta = 1) has mean -1.21 and standard deviation 1.27."""
    p, ratio, rng = 100, 6.0, np.random.default_rng(3)
    n = int(p * ratio)
    T, heights = link_free_weights(positive, ratio, sign), []
    edge = bulk.upper_edge(T, [positive * n, (1 - positive) * n], p)
    assert edge.value == pytest.approx(p, rel=1e-6)
    for _ in range(120):
        X, y = rng.standard_normal((n, p)), np.where(np.arange(n) < positive * n, 1.0, -1.0)
        value = np.linalg.eigvalsh((X * np.where(y > 0, T.pos, T.neg)[:, None]).T @ X / p)[-1]
        heights.append((p * value - edge.value) / edge.scale)
    assert np.mean(heights) == pytest.approx(-1.21, abs=0.5) and np.std(heights) == pytest.approx(1.27, abs=0.3)


@pytest.mark.parametrize(("d1", "d2", "rank"), [(30, 30, 3), (20, 50, 2), (50, 20, 5)])
def test_statistical_dimension_is_the_mean_distance_to_the_scaled_subdifferential(d1, d2, rank):
    rng = np.random.default_rng(0)
    taus = np.linspace(0, np.sqrt(d1) + np.sqrt(d2), 200)
    inner = [np.linalg.svd(rng.standard_normal((d1 - rank, d2 - rank)), compute_uv=False) for _ in range(60)]
    beyond = np.mean([(np.maximum(s[:, None] - taus, 0) ** 2).sum(axis=0) for s in inner], axis=0)
    simulated = (rank * (d1 + d2 - rank + taus**2) + beyond).min()
    assert nuclear_norm(d1, d2, rank) == pytest.approx(simulated, rel=0.02)


@pytest.mark.parametrize("factors", [(1.0, 1.0), (3.0, 1.5), (1.0, 0.0)])
@pytest.mark.parametrize("size", [0.3, 1.2, 3.0])
def test_spikes_of_rectangular_noise(size, factors):
    """Sides of 4 to 1, so that the left vector is not taken for the right one; the noise of their own may differ."""
    rng, d1, d2, v = np.random.default_rng(1), 800, 200, 1 / 1000
    noise = spiked.BlockNoise(v, np.array([factors[0] * v]), np.array([factors[1] * v]))
    drawn = []
    for _ in range(12):
        M = np.sqrt(v) * rng.standard_normal((d1, d2))
        M[1:, 0] *= np.sqrt(factors[0])
        M[0, 1:] *= np.sqrt(factors[1])
        M[0, 0] = size
        U, s, Vt = np.linalg.svd(M, full_matrices=False)
        drawn.append((s[0], U[0, 0] ** 2, Vt[0, 0] ** 2))
    limit = spiked.spike(size, noise, 0, d1, d2)
    value, left, right = np.mean(drawn, axis=0)
    assert value == pytest.approx(limit.value, rel=0.02)
    assert (left, right) == pytest.approx(limit[1:], abs=0.02)


@pytest.mark.parametrize("size", [0.5, 1.5, 3.0])
def test_spikes_of_symmetric_noise(size):
    rng, p = np.random.default_rng(2), 500
    G = rng.standard_normal((p, p)) / np.sqrt(p)
    M = (G + G.T) / np.sqrt(2)
    M[0, 0] += size
    values, vectors = np.linalg.eigh(M)
    limit = spiked.spike(size, spiked.BlockNoise(1 / p, np.full(1, 1 / p), np.full(1, 1 / p)), 0, p, p)
    assert values[-1] == pytest.approx(limit.value, rel=0.03)
    assert vectors[0, -1] ** 2 == pytest.approx(limit.left, abs=0.06)


BOUNDED = [
    lrlab.spec("rank-one-sensing", d1=12, d2=10, rank=2, m=300, noise=0.05, condition=3, seed=31000),
    lrlab.spec("polynomial-network", p=14, r=2, m=300, noise=0.05, condition=3, seed=31000),
    lrlab.spec("inductive-completion", n1=40, n2=30, d1=8, d2=6, rank=2, observed=0.3, noise=0.05, seed=31000),
    lrlab.spec(
        "inductive-completion", features="canonical", n1=30, n2=25, rank=2, observed=0.6, noise=0.05, seed=31000
    ),
]
BOUNDED_IDS = [f"{spec.model}-{spec.size[0]}" for spec in BOUNDED]


@pytest.mark.parametrize("spec", BOUNDED, ids=BOUNDED_IDS)
def test_the_tangent_space_has_as_many_directions_as_the_rank_has_unknowns(spec):
    problem = spec.build()
    J = np.array([*images(problem.operator, problem.truth)])
    assert len(J) == spec.degrees_of_freedom == np.linalg.matrix_rank(J)


@pytest.mark.slow
@pytest.mark.parametrize("spec", BOUNDED, ids=BOUNDED_IDS)
def test_least_squares_reaches_it_on_average_where_noise_is_small_and_nothing_is_below(spec):
    ratios = []
    for trial in range(30):
        trace = lrlab.solve(trial_spec(spec.replace(noise=0.01), trial), "gauss-newton")
        bound = least_error(trace.problem.operator, trace.problem.truth, 0.01)
        ratios.append((trace.metrics["error"] / bound) ** 2)
    assert 1 - 4 * np.std(ratios) / np.sqrt(30) < np.mean(ratios) < 1.15


@pytest.mark.parametrize("loss", [LOGISTIC, PROBIT, HINGE, SQUARED_HINGE], ids=lambda one: one.name)
@pytest.mark.parametrize("step", [0.01, 1.0, 300.0])
def test_the_proximal_map_is_the_minimum(loss, step):
    a = np.linspace(-40, 40, 201)
    m, curvature = loss.prox(a, step, np.zeros_like(a))
    assert curvature == pytest.approx(loss.curvature(m), abs=1e-7)
    least = loss.value(m) + (m - a) ** 2 / (2 * step)
    for beside in (m - 1e-3, m + 1e-3, a, np.ones_like(a)):
        assert (least <= loss.value(beside) + (beside - a) ** 2 / (2 * step) + 1e-6 * (1 + np.abs(least))).all()
    value, slope, bend = loss.derivatives(m)
    assert value == pytest.approx(loss.value(m)) and slope == pytest.approx(loss.slope(m))
    assert bend == pytest.approx(loss.curvature(m))
    # Far out no digit cancels: slopes never fall.
    assert (np.diff(loss.derivatives(np.linspace(-1e13, 0, 101))[1]) >= 0).all()


@pytest.mark.parametrize("spec", [FlippedLogistic(p=100), OneBitSensing(noise=0.5, p=100)], ids=("logistic", "sign"))
def test_answers_are_separable_below_the_threshold_and_not_above(spec):
    threshold, entry = existence_ratio(spec.link_function), catalog.solver("logistic")
    for factor, separable in ((0.8, True), (1.25, False)):
        problem = spec.replace(n=round(factor * threshold * spec.p)).build()
        known = entry.predict(problem.spec, dict(entry.settle({}).options))
        assert known["limit_threshold"] == pytest.approx(threshold) and ("limit_overlap" in known) != separable
        rows = problem.y[:, None] * np.column_stack([np.ones(len(problem.y)), problem.X])
        found = linprog(np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
        assert (found.status == 0) == separable


def test_the_slope_of_the_maximum_is_that_of_sur_and_candes():
    """n/p = 5, signal strength sqrt 5, no intercept: alpha 1.4994, kappa sigma^2 4.7436 / 5, lambda 3.0269 (fig. 1)."""
    strength = math.sqrt(5.0)
    steep = lrlab.spec("custom-link", link=f"tanh({strength / 2:.12f} * z)").link_function
    [at] = fitted(steep, [5.0], LOGISTIC)
    assert at.rho * at.tau / strength == pytest.approx(1.4994, abs=2e-3)
    assert at.tau * math.sqrt(1 - at.rho**2) == pytest.approx(4.7436 / math.sqrt(5), abs=5e-3)
    assert at.step == pytest.approx(3.0269, abs=5e-3)


@pytest.mark.parametrize("worse", [{"noise": 0.5}, {"outliers": 0.2}])
def test_the_statistical_dimension_is_drawn_of_exact_measurements_alone(worse):
    spec = lrlab.spec("rank-one-sensing", d1=14, d2=14, rank=1, operator="dense")
    entry = catalog.solver("nuclear-norm", spec.model)
    assert "statistical dimension" in theory_lines(spec, entry, {}, None)
    assert "statistical dimension" not in theory_lines(spec.replace(**worse), entry, {}, None)


SIZES = [
    *((model, axis, at, {}) for model, axis, at in (
        ("rank-one-sensing", "m", 1000),
        ("inductive-completion", "observed", 0.006),
        ("multilabel-regression", "observed", 0.03),
        ("polynomial-network", "m", 3000),
    )),
    ("rank-one-sensing", "m", 8525, {"d1": 32, "d2": 40, "rank": 3}),
    ("rank-one-sensing", "m", 885, {"d1": 21, "d2": 14, "rank": 5}),
    ("rank-one-sensing", "m", 2129, {"d1": 41, "d2": 12, "rank": 1}),
    ("polynomial-network", "m", 8634, {"p": 72, "r": 3}),
    ("polynomial-network", "m", 1336, {"p": 66, "r": 5}),
    ("inductive-completion", "observed", 0.4, {"n1": 161, "n2": 115, "d1": 29, "d2": 11, "rank": 4}),
    ("inductive-completion", "observed", 0.02, {"n1": 250, "n2": 190, "d1": 59, "d2": 13, "rank": 5, "noise": 0.5}),
    ("multilabel-regression", "observed", 0.4, {"n": 450, "d": 38, "labels": 58, "rank": 2}),
    ("multilabel-regression", "observed", 0.4, {"n": 430, "d": 13, "labels": 49, "rank": 1, "noise": 0.5}),
    ("multilabel-regression", "observed", 0.1, {"n": 350, "d": 23, "labels": 45, "rank": 5}),
]  # fmt: skip
"""The defaults, and ten drawn sizes."""


@pytest.mark.slow
def test_a_gap_is_predicted_within_a_tenth_or_not_at_all():
    shown = []
    for model, axis, at, more in SIZES:
        spec = lrlab.spec(model, seed=9200, **more)
        [limit] = moments.predictions(spec, axis, [at]).to_dict("records")
        gap = limit["smallest"] - limit["edge"]
        if not np.isnan(gap):
            drawn = moments.compare(moments.moments(spec, axis, [at], 10)).iloc[0]
            assert gap == pytest.approx(drawn.mean_gap, rel=0.1), (model, more)
            assert limit["overlap"] == pytest.approx(drawn.mean_overlap, abs=0.05)
            shown.append(model)
    assert len(shown) >= 5
