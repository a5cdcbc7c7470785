"""Bounds and predictions for solvers: the Cramer-Rao bound, limits of regression, and where no theory holds."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import lrlab
from lrlab import catalog, lowrank
from lrlab.losses import HINGE, LOGISTIC, PROBIT, SQUARED_HINGE
from lrlab.models.index_family import CustomLink, FlippedLogistic, OneBitSensing
from lrlab.models.low_rank_theory import theory_lines
from lrlab.runs.run import trial_spec
from lrlab.spectra import moments
from lrlab.sweeps.adaptive import SolverGrid
from lrlab.sweeps.definition import Span, Sweep
from lrlab.theory.cramer_rao import images, least_error
from lrlab.theory.m_estimators import existence_ratio, fitted
from tests.thorough import a_third

SPECS = [
    lrlab.spec("rank-one-sensing", d1=12, d2=10, rank=2, m=300, noise=0.05, condition=3, seed=31000),
    lrlab.spec("polynomial-network", p=14, r=2, m=300, noise=0.05, condition=3, seed=31000),
    lrlab.spec("inductive-completion", n1=40, n2=30, d1=8, d2=6, rank=2, observed=0.3, noise=0.05, seed=31000),
    lrlab.spec(
        "inductive-completion", features="canonical", n1=30, n2=25, rank=2, observed=0.6, noise=0.05, seed=31000
    ),
]
IDS = [f"{spec.model}-{spec.size[0]}" for spec in SPECS]


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_the_basis_is_that_of_the_tangent_space(spec):
    """Moved along it, W keeps its rank to first order: as many directions as the rank has unknowns."""
    problem = spec.build()
    A, W = problem.operator, problem.truth
    J = np.array(list(images(A, W)))
    assert len(J) == spec.degrees_of_freedom == np.linalg.matrix_rank(J)
    rng, step = np.random.default_rng(0), 1e-6
    U, V = (F + step * rng.standard_normal(F.shape) for F in (W.U, W.V))
    near = lowrank.from_symmetric(U * W.s @ U.T, 2) if A.symmetric else lowrank.from_product(U * W.s, V, 2)
    moved = A(near) - A(W)
    outside = moved - J.T @ np.linalg.lstsq(J.T, moved, rcond=None)[0]
    assert np.linalg.norm(outside) < 1e-4 * np.linalg.norm(moved)


@pytest.mark.slow
@pytest.mark.parametrize("spec", a_third(SPECS), ids=IDS)
def test_least_squares_reaches_it_on_average_where_noise_is_small_and_nothing_is_below(spec):
    ratios = []
    for trial in range(30):
        trace = lrlab.solve(trial_spec(spec.replace(noise=0.01), trial), "gauss-newton")
        bound = least_error(trace.problem.operator, trace.problem.truth, 0.01)
        ratios.append((trace.metrics["error"] / bound) ** 2)
    assert 1 - 4 * np.std(ratios) / np.sqrt(30) < np.mean(ratios) < 1.15


REGRESSED = [
    FlippedLogistic(),
    FlippedLogistic(intercept=1.0, flip=0.05),
    OneBitSensing(noise=0.5),
    CustomLink(link="sin 2z"),
]


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


@pytest.mark.parametrize("spec", [FlippedLogistic(p=100), OneBitSensing(noise=0.5, p=100)], ids=("logistic", "sign"))
def test_answers_are_separable_below_the_threshold_and_not_above(spec):
    threshold = existence_ratio(spec.link_function)
    for factor, separable in ((0.8, True), (1.25, False)):
        problem = spec.replace(n=round(factor * threshold * spec.p)).build()
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


@pytest.mark.slow
@pytest.mark.parametrize("ratio", a_third([3, 5, 10]))
@pytest.mark.parametrize("spec", REGRESSED, ids=lambda spec: spec.model)
def test_simulations_of_two_hundred_unknowns_meet_the_prediction(spec, ratio):
    spec, seeds = spec.replace(p=200, n=200 * ratio), range(2000, 2006)
    for solver in ("logistic", "probit"):
        entry = catalog.solver(solver, spec.model)
        known = entry.predict(spec, dict(entry.settle({}).options))
        traces = [lrlab.solve(spec.replace(seed=seed), solver) for seed in seeds]
        measured = [trace.metrics["overlap"] for trace in traces]
        separable = ratio < known["limit_threshold"]
        assert all(("separable" in trace.note) == separable for trace in traces)
        assert ("limit_overlap" in known) != separable
        if not separable:
            band = 4 * np.std(measured, ddof=1) / math.sqrt(len(seeds)) + 0.01
            assert np.mean(measured) == pytest.approx(known["limit_overlap"], abs=band)


@pytest.mark.parametrize("worse", [{"noise": 0.5}, {"outliers": 0.2}])
def test_the_statistical_dimension_is_drawn_of_exact_measurements_alone(worse):
    spec = lrlab.spec("rank-one-sensing", d1=14, d2=14, rank=1, operator="dense")
    entry = catalog.solver("nuclear-norm", spec.model)
    assert "statistical dimension" in theory_lines(spec, entry, {}, None)
    assert "statistical dimension" not in theory_lines(spec.replace(**worse), entry, {}, None)


def test_maps_infer_nothing_from_noise_where_some_of_it_helps():
    """At threshold .7, p = 5 and n = 32,000 the pairwise moment succeeds in .10 of trials without noise, .95 at 1."""
    axes = {"noise": Span(0.0, 1.4, 3), "n": Span(500, 32_000, 3, "log")}
    for model, first in (("one-bit-phase-retrieval", 0), ("custom-link", 0), ("one-bit-sensing", -1)):
        sweep = Sweep(spec=lrlab.spec(model, p=5), axes=axes, solvers=["pairwise-moment"])
        assert SolverGrid(sweep, "pairwise-moment").search.directions == (first, 1)


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
