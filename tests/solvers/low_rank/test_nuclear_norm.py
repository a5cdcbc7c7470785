"""The convex solver: minima proved by duality, proximal maps by their definition, FASTA on a problem of its own."""

from functools import partial

import numpy as np
import pytest

from lrlab.models.network import PolynomialNetwork
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.operators.entries import Entries
from lrlab.protocol import Stop
from lrlab.solvers.low_rank.nuclear_norm import nuclear_norm
from tests.solvers import driving

SMALL = {
    "network": PolynomialNetwork(m=60, p=8, r=2, noise=0.1, seed=1),
    "rank-one": RankOneSensing(m=60, d1=7, d2=5, rank=2, noise=0.1, seed=1),
    "dense": RankOneSensing(m=60, d1=5, d2=7, rank=2, noise=0.1, operator="dense", seed=1),
}


run = partial(driving.run, nuclear_norm, max_iter=3000, tol=1e-9)


class Table:
    """Observed entries of X W Y^T: a problem with features, built by hand."""

    def __init__(self):
        """Draw features, places and noisy answers."""
        rng = np.random.default_rng(2)
        X, Y = rng.standard_normal((20, 6)), rng.standard_normal((15, 5))
        rows, columns = np.divmod(np.sort(rng.choice(300, 120, replace=False)), 15)
        self.operator = Entries(X, Y, (20, 15), rows, columns, 300 / 120)
        W = np.outer(rng.standard_normal(6), rng.standard_normal(5))
        self.b = (X @ W @ Y.T)[rows, columns] + 0.1 * rng.standard_normal(120)


def gap(problem, W, mu):
    """Return primal minus dual objective, relative: the dual is <b, v> - ||v||^2 / 2 over ||A*(v)|| <= mu."""
    d = problem.operator(W) - problem.b
    primal = d @ d / 2 + mu * np.abs(W.s).sum()
    v = -d * min(1.0, mu / np.linalg.norm(problem.operator.adjoint(d), 2))
    return (primal - (problem.b @ v - v @ v / 2)) / primal, primal


@pytest.mark.parametrize("mu_share", [0.3, 0.01])
@pytest.mark.parametrize("name", [*SMALL, "table"])
def test_the_minimum_is_proved_by_duality(name, mu_share):
    problem = Table() if name == "table" else SMALL[name].build()
    stop, trace = run(problem, mu_share=mu_share)
    mu = mu_share * np.linalg.norm(problem.operator.adjoint(problem.b), 2)
    relative, primal = gap(problem, trace[-1].estimate, mu)
    assert stop is Stop.CONVERGED and abs(relative) < 1e-7
    assert trace[-1].objective == pytest.approx(primal, rel=1e-10)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_little_weight_recovers_from_exact_answers(precision):
    spec = PolynomialNetwork(m=600, p=20, r=2, precision=precision)
    stop, trace = run(spec.build(), mu_share=1e-4, tol=1e-8, max_iter=400)
    W = trace[-1].estimate
    assert stop is Stop.CONVERGED and spec.build().score(W)["error"] < 2e-3
    assert W.U is W.V and W.s.dtype == spec.build().operator.dtype and np.count_nonzero(W.s) == 2
