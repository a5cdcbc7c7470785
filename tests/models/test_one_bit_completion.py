"""1-bit completion: the law of the bits, the scores, the bound, and what more noise does to the error."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from lrlab import catalog
from lrlab.lowrank import from_dense
from lrlab.models.one_bit_completion import OneBitCompletion
from lrlab.parameters import InputError
from lrlab.runs import theory

SMALL = OneBitCompletion(n1=40, n2=30, rank=1, observed=0.5)


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_bits_follow_their_law(link):
    spec = OneBitCompletion(n1=300, n2=300, rank=2, observed=1, link=link, noise=0.4)
    problem = spec.build()
    M = problem.truth.dense()
    assert np.abs(M).max() == pytest.approx(1.0) and np.linalg.matrix_rank(M) == 2
    assert problem.trace_norm == pytest.approx(np.linalg.norm(M, "nuc"))
    chance = (ndtr if link == "probit" else expit)(M.ravel() / 0.4)
    for low in np.linspace(0.1, 0.8, 8):
        inside = (chance >= low) & (chance < low + 0.1)
        assert (problem.y[inside] > 0).mean() == pytest.approx(chance[inside].mean(), abs=0.02)
    assert problem.truth_loss == pytest.approx(-np.log(np.where(problem.y > 0, chance, 1 - chance)).mean())


def test_scores_are_recomputed():
    problem, rng = SMALL.build(), np.random.default_rng(0)
    M, W = problem.truth.dense(), rng.standard_normal((40, 30)) / 3
    p, q = ndtr(M / 0.3), ndtr(W / 0.3)
    scores = problem.score(from_dense(W))
    assert scores["error"] == pytest.approx(np.linalg.norm(W - M) / np.linalg.norm(M))
    assert scores["squared_error"] == pytest.approx(scores["error"] ** 2)
    apart = (np.sqrt(p) - np.sqrt(q)) ** 2 + (np.sqrt(1 - p) - np.sqrt(1 - q)) ** 2
    assert scores["hellinger"] == pytest.approx(apart.mean())
    assert scores["hamming"] == np.mean((W > 0) != (M > 0))
    exact = problem.score(problem.truth)
    assert exact == pytest.approx({"error": 0, "squared_error": 0, "hellinger": 0, "hamming": 0}, abs=1e-12)


def test_the_bound_is_that_of_the_information_of_bits():
    spec = OneBitCompletion(n1=12, n2=9, rank=1, observed=1, noise=0.6)
    squares = []
    for seed in range(3):
        problem = spec.replace(seed=seed).build()
        U, V = problem.truth.U[:, 0], problem.truth.V[:, 0] * problem.truth.s[0]
        # Rows: the derivative of all entries by one entry of U or V.
        J = [np.outer(e, V).ravel() for e in np.eye(12)] + [np.outer(U, e).ravel() for e in np.eye(9)]
        z = np.outer(U, V).ravel() / 0.6
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / 0.6
        J = np.array(J)
        information = (J * density**2 / (ndtr(z) * ndtr(-z))) @ J.T
        squares.append(np.trace(J.T @ np.linalg.pinv(information, rcond=1e-10) @ J) / problem.truth.s[0] ** 2)
    assert theory.exact(spec)["bound_error"] == pytest.approx(np.sqrt(np.mean(squares)))


def test_what_is_said_of_a_run():
    family = catalog.family("one-bit-completion")
    shown = family.measured(SMALL)
    assert shown.words.startswith("600 bits for 69 degrees of freedom, 8.7 bits for each")
    problem = SMALL.build()
    assert (shown.panels[0].values[problem.operator.rows, problem.operator.columns] == problem.y).all()
    with pytest.raises(InputError, match=r"rank must be in 1\.\.min\(40, 30\) = 30, got 31"):
        SMALL.replace(rank=31)
