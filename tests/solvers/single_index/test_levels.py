"""Links that jump between levels: their fit, and when link-free refinement takes one."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

import lrlab
from lrlab import catalog
from lrlab.solvers.single_index.index_links import Rows, Steps, jumps, loss
from lrlab.solvers.single_index.link_free import refinement
from lrlab.solvers.single_index.link_free_rounds import Data, curvatures

THREE = Steps(np.array([-3.0, 0.2, 2.5, -0.9, np.log(2.0), np.log(0.2)]))


def answered(n, levels=THREE, seed=0):
    """Return normal indices and answers in {0, 1} with these levels."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    return z, (rng.random(n) < expit(levels(z)[0])).astype(float)


def test_slopes_and_derivatives_are_those_of_differences():
    z, h = np.linspace(-3.0, 3.0, 41), 1e-6
    eta, slope = THREE(z)
    np.testing.assert_allclose(THREE.parts[1], [-0.9, 1.1])
    np.testing.assert_allclose(slope, (THREE(z + h)[0] - THREE(z - h)[0]) / (2 * h), atol=1e-7)
    for k, column in enumerate(THREE.functions(z).T):
        step = np.zeros(len(THREE.a))
        step[k] = h
        np.testing.assert_allclose(column, (Steps(THREE.a + step)(z)[0] - eta) / h, atol=1e-4)


def test_first_jumps_are_the_best_division_of_the_bins(monkeypatch):
    monkeypatch.setattr(Steps, "fitted", lambda self, rows: self)
    z, answers = answered(40)
    found = jumps(Rows.of(z, answers, np.zeros(40)))[0]
    ordered, ones = np.sort(z), answers[np.argsort(z)]

    def cost(cuts):
        pieces = np.split(ones, cuts)
        shares = [(piece.sum() + 0.5) / (len(piece) + 1.0) for piece in pieces]
        pairs = zip(pieces, shares, strict=True)
        return -sum(piece.sum() * np.log(s) + (len(piece) - piece.sum()) * np.log1p(-s) for piece, s in pairs)

    best = min(itertools.combinations(range(1, 40), 2), key=cost)
    np.testing.assert_allclose(found.parts[1], ordered[list(best)])


def test_a_fit_is_the_minimum_that_another_method_finds():
    z, answers = answered(2000)
    rows = Rows.of(z, answers, np.zeros(2000))
    found = jumps(rows)[0]

    def objective(a):
        q = Steps(a).parts[0]
        return rows.loss(Steps(a)) - np.log(q * (1.0 - q)).sum() / 2.0

    other = minimize(objective, found.a, method="Nelder-Mead", options={"fatol": 1e-9, "xatol": 1e-7, "maxiter": 4000})
    assert objective(found.a) <= other.fun + 0.01


def test_curvatures_are_the_second_derivatives_of_the_losses():
    problem = catalog.spec("custom-link", link="three levels", n=200, p=5).build()
    data = Data(problem.X, (problem.y + 1.0) / 2.0, 5)
    z, h = problem.X @ problem.truth, 1e-3
    values = [loss(THREE(z + move)[0], data.answers) for move in (-h, 0.0, h)]
    expected = (values[0] - 2 * values[1] + values[2]) / h**2
    np.testing.assert_allclose(curvatures(data, z, THREE), expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("seed", [2003, 2007])
def test_three_levels_are_found_and_lower_the_error_of_splines(seed):
    problem = catalog.spec("custom-link", link="three levels", n=3000, p=20, seed=seed).build()
    data, smooth = Data(problem.X, (problem.y + 1.0) / 2.0, 20), None
    for shown in itertools.islice(refinement(data, np.random.default_rng(seed)), 100):
        smooth = shown.round if not isinstance(shown.round.link, Steps) else smooth
        if isinstance(shown.round.link, Steps) and not shown.trying and np.linalg.norm(shown.round.newton.step) < 1e-8:
            break
    assert isinstance(shown.round.link, Steps) and smooth is not None
    np.testing.assert_allclose(shown.round.link.parts[1][[0, -1]], [-1.0, 1.0], atol=0.1)
    error, before = (
        np.linalg.norm(unit_like(b, problem.truth) - problem.truth) for b in (shown.round.at.b, smooth.at.b)
    )
    assert error < 0.9 * before


def unit_like(b, truth):
    """Return b with the sign of the truth."""
    return b * np.sign(b @ truth)


def test_a_smooth_link_is_left_smooth():
    result = lrlab.solve(catalog.spec("one-bit-sensing", noise=1.0, n=1000, p=20, seed=3), "link-free-refinement")
    assert "Log-odds" in result.note
