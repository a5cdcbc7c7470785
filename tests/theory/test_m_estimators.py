"""Logistic and probit regression in the proportional regime: known limits, the system's own equations, simulations."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import lrlab
from lrlab import catalog
from lrlab.losses import HINGE, LOGISTIC, PROBIT, SQUARED_HINGE
from lrlab.models.index_family import CustomLink, FlippedLogistic, OneBitSensing
from lrlab.theory.m_estimators import existence_ratio, fitted
from tests.thorough import a_third

SPECS = [
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
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
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
