"""Likelihood of bits: minima under their bounds by duality and by other minimisers, projections, local minima."""

import numpy as np
import pytest
from scipy.optimize import minimize

import lrlab
from lrlab import lowrank
from lrlab.models.one_bit_completion import OneBitCompletion
from lrlab.protocol import Stop
from lrlab.solvers.methods.balls import BoundedTraceBall, short_rows, simplex, trace_ball
from lrlab.solvers.one_bit_completion.bit_losses import losses

SMALL = OneBitCompletion(n1=25, n2=20, rank=2, observed=0.6, seed=3)


def loss_and_gradient(problem, W):
    value, slope = losses(problem, W[problem.operator.rows, problem.operator.columns])
    return value, problem.operator.adjoint(slope)


def test_projections_are_feasible_and_nearest():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((9, 7))
    assert simplex(np.array([3.0, 1.0, 0.2]), 2.0) == pytest.approx([2.0, 0.0, 0.0])
    assert simplex(np.array([3.0, 2.5, 0.2]), 2.0) == pytest.approx([1.25, 0.75, 0.0])
    ball, both = trace_ball(V, 4.0).dense(), BoundedTraceBall(4.0, 0.3)
    box = both.nearest(V, 1.0).dense()
    assert np.linalg.norm(ball, "nuc") == pytest.approx(4.0) and np.linalg.norm(box, "nuc") <= 4.0 + 1e-9
    assert np.abs(box).max() <= 0.3 * (1 + 1e-3) < np.abs(ball).max()
    for _ in range(300):
        other = rng.standard_normal((9, 7)) @ np.diag(rng.random(7))
        inside = other * min(4.0 / np.linalg.norm(other, "nuc"), 0.3 / np.abs(other).max())
        # The angle between the remainder and any feasible direction is at least 90 degrees.
        assert np.vdot(V - ball, other * 4.0 / np.linalg.norm(other, "nuc") - ball) <= 1e-9
        assert np.vdot(V - box, inside - box) <= 1e-2
    near = both.nearest(V + 1e-3, 1.0).dense()
    assert near == pytest.approx(BoundedTraceBall(4.0, 0.3).nearest(V + 1e-3, 1.0).dense(), abs=1e-3), "a warm start"
    rows = short_rows(V, 1.5)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.minimum(np.linalg.norm(V, axis=1), 1.5))


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


def test_large_tables_are_not_formed_for_the_start():
    spec = OneBitCompletion(n1=410, n2=400, rank=2, observed=0.3, noise=0.3)
    whole, large = (
        lowrank.errors(lrlab.solve(spec, "one-bit-factors", max_iter=k).estimate, spec.factors()) for k in (1, 40)
    )
    assert large["error"] < 0.45 < whole["error"]
