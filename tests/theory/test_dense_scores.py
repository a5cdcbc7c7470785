"""Scores of one posterior: against importance sampling, and where answers say little."""

from functools import lru_cache

import numpy as np
import pytest

from lrlab.linalg import unit
from lrlab.theory import dense_scores as dense
from lrlab.theory.links import LogisticLink, SignLink
from lrlab.theory.posterior_draws import Draws, posterior_draws
from lrlab.theory.posterior_scores import scored
from lrlab.theory.prior_draws import prior_draws


def problem(link, n, p, number):
    rng = np.random.default_rng([4711, number])
    truth = unit(rng.standard_normal(p))
    X = rng.standard_normal((n, p))
    return X, np.where(rng.random(n) < (1.0 + link(X @ truth)) / 2.0, 1.0, -1.0), truth, rng


@lru_cache(maxsize=1)
def directions(p, draws):
    b = np.random.default_rng(4712).standard_normal((draws, p))
    return b / np.linalg.norm(b, axis=1)[:, None]


def exact(link, X, y, draws):
    """Return the largest eigenvalue of the posterior, by weights of plain draws of the prior."""
    b = directions(X.shape[1], draws)
    weights = np.ones(draws)
    for x, answer in zip(X, y, strict=True):
        weights *= 1.0 + answer * link(b @ x)
        b, weights = b[weights > 0.0], weights[weights > 0.0]
    assert weights.sum() ** 2 > 150 * np.square(weights).sum()
    return np.linalg.eigvalsh((b.T * (weights / weights.sum())) @ b)[-1]


def off(link, n, p, number, draws, score):
    """Return by how much the scores of one problem state too large an overlap."""
    X, y, truth, rng = problem(link, n, p, number)
    return score(link, X, y, truth, rng).means[0] - exact(link, X, y, draws)


def test_answers_that_say_nothing_leave_the_overlap_of_a_guess():
    link = SignLink(0.0, flip=0.5)
    assert dense.dense_scores(link, *problem(link, 10, 20, 0)).means[0] == pytest.approx(1 / 20, abs=1e-9)


def test_a_direction_that_fits_its_own_draws_is_in_doubt():
    stated = []
    for number in range(10):
        b = np.random.default_rng(number).standard_normal((20, 30))
        scores = scored(Draws(b / np.linalg.norm(b, axis=1)[:, None], 1.0, np.full(20, 1 / 20)))
        stated.append([scores.means[0], scores.doubts[0]])
    middle, doubt = np.mean(stated, axis=0)
    assert middle - 1.3 * doubt < 1 / 30 < middle - 0.7 * doubt


def test_more_chains_are_taken_where_the_overlap_is_in_doubt(monkeypatch):
    monkeypatch.setattr(dense, "prior_draws", lambda *_: None)
    apart = [off(LogisticLink(), 20, 12, number, 60_000, dense.dense_scores) for number in range(6)]
    assert abs(np.mean(apart)) < 0.02


def test_little_information_in_many_dimensions_is_not_overstated():
    link = LogisticLink(flip=0.3)
    apart = [off(link, 40, 20, number, 60_000, dense.dense_scores) for number in range(5)]
    assert abs(np.mean(apart)) < 0.006


def test_draws_of_the_prior_that_miss_the_truth_are_not_taken():
    link = LogisticLink()
    assert prior_draws(link, *problem(link, 3000, 20, 0)[:3]) is None
    assert prior_draws(link, *problem(link, 20, 5, 0)[:3]).b.shape[1] == 5


def test_chains_do_not_end_where_chance_has_brought_them_together():
    link, widths = SignLink(0.0), []
    for number in range(120):
        X, y, truth, rng = problem(link, 300, 3, number)
        few, many = (scored(posterior_draws(link, X, y, truth, chains, 1500, rng)) for chains in (20, 200))
        widths.append([1.0 - few.means[0], 1.0 - many.means[0]])
    few, many = np.mean(widths, axis=0)
    assert few == pytest.approx(many, rel=0.06)
