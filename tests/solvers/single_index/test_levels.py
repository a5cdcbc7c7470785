"""Links that jump between levels: their fit, and when link-free refinement takes one."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import lrlab
from lrlab import catalog
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.solvers.single_index.link_free import refinement
from lrlab.solvers.single_index.link_free_levels import curvatures
from lrlab.solvers.single_index.link_levels import Levels, first_levels, fit_levels
from lrlab.solvers.single_index.link_smoothing import loss

THREE = Levels(np.array([-3.0, 0.2, 2.5]), np.array([-0.9, 1.1]), float(np.log(0.2)))


def answered(n, levels=THREE, seed=0):
    """Return normal indices and answers in {0, 1} with these levels."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    return z, (rng.random(n) < expit(levels(z)[0])).astype(float)


def test_slopes_and_derivatives_are_those_of_differences():
    z, h = np.linspace(-3.0, 3.0, 41), 1e-6
    eta, slope = THREE(z)
    np.testing.assert_allclose(slope, (THREE(z + h)[0] - THREE(z - h)[0]) / (2 * h), atol=1e-7)
    for k, column in enumerate(THREE.derivatives(z).T):
        step = np.zeros(THREE.parameters)
        step[k] = h
        np.testing.assert_allclose(column, (THREE.moved(step)(z)[0] - eta) / h, atol=1e-4)


def test_first_levels_are_the_best_division_of_the_bins():
    z, answers = answered(40)
    found = first_levels(z, answers, 2)
    ordered, ones = np.sort(z), answers[np.argsort(z)]

    def cost(cuts):
        pieces = np.split(ones, cuts)
        shares = [(piece.sum() + 0.5) / (len(piece) + 1.0) for piece in pieces]
        pairs = zip(pieces, shares, strict=True)
        return -sum(piece.sum() * np.log(s) + (len(piece) - piece.sum()) * np.log1p(-s) for piece, s in pairs)

    best = min(itertools.combinations(range(1, 40), 2), key=cost)
    np.testing.assert_allclose(found.jumps, ordered[list(best)])


def test_a_fit_is_the_minimum_that_another_method_finds():
    z, answers = answered(2000)
    found = fit_levels(z, answers, first_levels(z, answers, 2))

    def objective(a):
        return replace(THREE, logits=a[:3], jumps=a[3:5], log_width=a[5]).objective(z, answers)

    start = np.concatenate([found.logits, found.jumps, [found.log_width]])
    other = minimize(objective, start, method="Nelder-Mead", options={"fatol": 1e-9, "xatol": 1e-7, "maxiter": 4000})
    assert objective(start) <= other.fun + 1e-4


def test_curvatures_are_the_second_derivatives_of_the_losses():
    problem = catalog.spec("custom-link", link="three levels", n=200, p=5).build()
    data = CrossFit.split(problem.X, problem.y, np.random.default_rng(0))
    B = np.repeat(problem.truth[:, None], data.folds + 1, axis=1)
    Z, h = problem.X @ B, 1e-3
    values = [loss(THREE(Z[:, -1] + move)[0], data.answers) for move in (-h, 0.0, h)]
    expected = (values[0] - 2 * values[1] + values[2]) / h**2
    np.testing.assert_allclose(curvatures(data, Z, THREE)[:, -1], expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("seed", [2003, 2007])
def test_three_levels_are_found_and_lower_the_error_of_splines(seed):
    problem = catalog.spec("custom-link", link="three levels", n=3000, p=20, seed=seed).build()
    smooth = None
    for state in itertools.islice(refinement(problem.X, problem.y, 20, np.random.default_rng(seed)), 60):
        smooth = smooth or (state if state.nearly_settled else None)
        if isinstance(state.link, Levels) and np.linalg.norm(state.step[:, -1]) < 1e-8:
            break
    assert isinstance(state.link, Levels) and smooth is not None
    np.testing.assert_allclose(np.sort(state.link.jumps)[[0, -1]], [-1.0, 1.0], atol=0.1)
    error, before = (np.linalg.norm(unit_like(s.b, problem.truth) - problem.truth) for s in (state, smooth))
    assert error < 0.9 * before


def unit_like(b, truth):
    """Return b with the sign of the truth."""
    return b * np.sign(b @ truth)


def test_a_smooth_link_is_left_smooth():
    result = lrlab.solve(catalog.spec("one-bit-sensing", noise=1.0, n=1000, p=20, seed=3), "link-free-refinement")
    assert "Log-odds" in result.note
