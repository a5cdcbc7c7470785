"""Biases and factors of ratings by alternating least squares: updates, objective, and the line of biases alone."""

import numpy as np
import pytest

from lrlab.fits.biased_als import Sweeps, bias_line, biased_als
from lrlab.models.ratings_problem import rms
from tests.fits.ratings_data import draw

RIDGE = 4.0


@pytest.fixture(scope="module")
def table():
    return draw(1001, n=(30, 40), m=600).table


def test_the_line_of_biases_is_a_ridge_regression_about_their_means(table):
    line, (n1, n2) = bias_line(table), table.size
    design = np.zeros((len(table.b), n1 + n2))
    design[np.arange(len(table.b)), table.given.rows] = 1
    design[np.arange(len(table.b)), n1 + table.given.columns] = 1
    weights = np.repeat(line.ridges, (n1, n2))
    about = np.repeat([line.factors.user_map[0, 0], line.factors.item_map[0, 0]], (n1, n2))
    left = table.b - design @ about
    expected = about + np.linalg.solve(design.T @ design + np.diag(weights), design.T @ left)
    found = np.concatenate([line.factors.users[:, 0], line.factors.items[:, 0]])
    np.testing.assert_allclose(found, expected, atol=2e-4)
    a, c = table.biases(left, line.ridges)
    np.testing.assert_allclose(np.concatenate([a, c]), expected - about, atol=1e-5)


def test_a_sweep_takes_each_distribution_given_the_others(table):
    sweeps = Sweeps(table, 2, 0.0, np.random.default_rng(0))
    for _ in range(4):
        sweeps.sweep()
    items, users, noise = sweeps.items, sweeps.users, sweeps.noise
    alpha, mapped = users.alpha.copy(), users.map.copy()
    users.refit(sweeps.ratings, sweeps.mask, items, noise)
    for i in (0, 7, 29):
        own = table.given.rows == i
        places, r = table.given.columns[own], table.b[own]
        gram, pull = np.diag(noise / alpha), (noise / alpha) * (table.X[i] @ mapped)
        for j, value in zip(places, r, strict=True):
            mean, cov = items.mean[j], items.covariance[j]
            z = np.array([1.0, *mean[1:]])
            spread = cov.copy()
            spread[0, :] = spread[:, 0] = 0
            gram = gram + np.outer(z, z) + spread
            pull = pull + (value - mean[0]) * z - np.array([0.0, *cov[0, 1:]])
        np.testing.assert_allclose(users.mean[i], np.linalg.solve(gram, pull), rtol=1e-8)
        np.testing.assert_allclose(users.covariance[i], noise * np.linalg.inv(gram), rtol=1e-8)


def test_the_noise_is_the_expected_misfit(table):
    sweeps, rng = Sweeps(table, 2, 0.0, np.random.default_rng(0)), np.random.default_rng(1)
    for _ in range(3):
        sweeps.sweep()
    drawn = []
    for side in (sweeps.users, sweeps.items):
        roots = np.linalg.cholesky(side.covariance)
        noise = rng.standard_normal((400, *side.mean.shape))
        drawn.append(side.mean + np.einsum("iab,sib->sia", roots, noise))
    rows, columns = table.given.rows, table.given.columns
    users, items = drawn[0][:, rows], drawn[1][:, columns]
    fit = users[:, :, 0] + items[:, :, 0] + np.einsum("sia,sia->si", users[:, :, 1:], items[:, :, 1:])
    assert np.mean((fit - table.b) ** 2) == pytest.approx(sweeps.noise, rel=0.02)


def test_a_given_ridge_is_a_stationary_point_of_its_objective(table):
    plain = table.plain
    for _, iterate in zip(range(800), biased_als(plain, 2, ridge=RIDGE, rng=np.random.default_rng(0)), strict=False):
        factors = iterate.estimate
    off = factors.at(plain.given.rows, plain.given.columns) - plain.b
    U, V = factors.users[:, 1:], factors.items[:, 1:]
    R = np.zeros(plain.size)
    R[plain.given.rows, plain.given.columns] = off
    assert rms((R.T @ U + RIDGE * V).ravel()) < 1e-5 * RIDGE * rms(V.ravel())


def test_factors_that_the_ratings_do_not_bear_vanish():
    drawn = draw(1002, m=9000, signal=0.0, words=False)
    for _, iterate in zip(range(60), biased_als(drawn.table, 5, rng=np.random.default_rng(0)), strict=False):
        found = iterate.estimate
    low_rank = found.users[:, 1:] @ found.items[:, 1:].T
    assert rms(low_rank.ravel()) < 0.05, "the noise is 0.5"


def test_useless_features_do_no_harm_and_useful_ones_know_new_users():
    own, said = (draw(1003, share=share) for share in (0.0, 0.9))
    for drawn, gain in ((own, -0.003), (said, 0.01)):
        scores = []
        for table in (drawn.table.plain, drawn.table):
            *_, last = (
                it for _, it in zip(range(40), biased_als(table, 3, rng=np.random.default_rng(0)), strict=False)
            )
            scores.append(table.score(last.estimate)["rmse"])
        assert scores[0] - scores[1] > gain, scores
