"""Likelihood of bits: minima under their bounds by duality and by other minimisers, projections, local minima."""

import numpy as np
import pytest
from scipy.optimize import minimize

import lrlab
from lrlab.models.one_bit_completion import OneBitCompletion
from lrlab.protocol import Stop
from lrlab.solvers.one_bit_completion.one_bit_factors import losses

SMALL = OneBitCompletion(n1=25, n2=20, rank=2, observed=0.6, seed=3)


def loss_and_gradient(problem, W):
    value, slope = losses(problem, W[problem.operator.rows, problem.operator.columns])
    return value, problem.operator.adjoint(slope)


@pytest.mark.parametrize("link", ["probit", "logistic"])
@pytest.mark.parametrize("radius", ["table", "rank"])
def test_the_trace_norm_programme_has_no_duality_gap(link, radius):
    trace = lrlab.solve(SMALL.replace(link=link), "one-bit-trace-norm", radius=radius, bounded=False)
    problem = trace.problem
    value, gradient = loss_and_gradient(problem, trace.estimate.dense())
    most = problem.trace_norm if radius == "table" else np.sqrt(2 * 25 * 20)
    # F is convex: no matrix of the ball can lie lower than by this (Frank & Wolfe).
    gap = np.vdot(gradient, trace.estimate.dense()) + most * np.linalg.norm(gradient, 2)
    assert trace.stop is Stop.CONVERGED and -1e-12 <= gap < 1e-6
    assert trace.metrics["objective"] == pytest.approx(value) and trace.estimate.s.sum() <= most * (1 + 1e-9)


@pytest.mark.slow
def test_with_bounded_entries_no_feasible_matrix_lies_lower():
    spec = SMALL.replace(noise=2.0, observed=0.2)
    trace = lrlab.solve(spec, "one-bit-trace-norm", radius="rank", tol=1e-6)
    problem, W = trace.problem, trace.estimate.dense()
    assert trace.stop is Stop.CONVERGED and 0.99 < np.abs(W).max() < 1 + 1e-3
    value, gradient = loss_and_gradient(problem, W)
    free = lrlab.solve(spec, "one-bit-trace-norm", radius="rank", bounded=False)
    assert np.abs(free.estimate.dense()).max() > 1.1 and free.metrics["objective"] < value
    assert value <= problem.truth_loss
    # A first-order method from there, by other projections: shrink until both bounds hold.
    for step in (1.0, 10.0, 100.0):
        other = W - step * problem.spec.noise**2 * gradient
        other *= min(1.0, np.sqrt(2 * 25 * 20) / np.linalg.norm(other, "nuc"), 1.0 / np.abs(other).max())
        assert loss_and_gradient(problem, other)[0] >= value - 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_factors_end_at_a_minimum_that_another_minimiser_does_not_leave(link):
    trace = lrlab.solve(SMALL.replace(link=link, noise=0.6), "one-bit-factors", max_iter=2000)
    problem, W = trace.problem, trace.estimate
    root = np.sqrt(W.s)
    begin = np.vstack([W.U * root, W.V * root]).ravel()

    def f(x):
        F = x.reshape(45, 2)
        value, G = loss_and_gradient(problem, F[:25] @ F[25:].T)
        return value, np.vstack([G @ F[25:], G.T @ F[:25]]).ravel()

    numeric = np.array([(f(begin + d)[0] - f(begin - d)[0]) / 2e-6 for d in 1e-6 * np.eye(90)])
    assert f(begin)[1] == pytest.approx(numeric, abs=1e-7)
    assert trace.stop is Stop.CONVERGED and trace.metrics["objective"] == pytest.approx(f(begin)[0])
    if np.linalg.norm(begin.reshape(45, 2), axis=1).max() < 0.99 * 2**0.25:
        assert minimize(f, begin, jac=True, method="L-BFGS-B").fun >= f(begin)[0] - 1e-9
    assert trace.metrics["objective"] <= problem.truth_loss


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one-bit-trace-norm", "one-bit-factors"])
@pytest.mark.parametrize("noise", [0.03, 0.05, 0.3])
def test_a_run_that_has_converged_is_where_a_finer_tolerance_leads(name, noise):
    spec = OneBitCompletion(n1=30, n2=30, rank=1, observed=0.3, noise=noise)
    trace = lrlab.solve(spec, name)
    assert noise < 0.1 or trace.stop is Stop.CONVERGED
    if trace.stop is Stop.CONVERGED:
        finer = lrlab.solve(spec, name, tol=1e-12, max_iter=1000)
        assert trace.metrics["error"] == pytest.approx(finer.metrics["error"], rel=1e-3)


def test_separable_bits_leave_the_factors_finite():
    trace = lrlab.solve(OneBitCompletion(n1=30, n2=30, rank=1, noise=0.001), "one-bit-factors", max_iter=300)
    assert np.isfinite(trace.estimate.s).all() and np.abs(trace.estimate.dense()).max() <= 1 + 1e-6
