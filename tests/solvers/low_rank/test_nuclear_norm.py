"""The convex solver: minima proved by duality, proximal maps by their definition, FASTA on a problem of its own."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from lrlab.lowrank import LowRank
from lrlab.models.network import PolynomialNetwork
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.operators.entries import Entries
from lrlab.protocol import Stop
from lrlab.runs.run import drive
from lrlab.solvers.low_rank.nuclear_norm import nuclear_norm
from lrlab.solvers.methods.proximal import Split, fasta, shrink_eigenvalues, shrink_singular_values

SMALL = {
    "network": PolynomialNetwork(m=60, p=8, r=2, noise=0.1, seed=1),
    "rank-one": RankOneSensing(m=60, d1=7, d2=5, rank=2, noise=0.1, seed=1),
    "dense": RankOneSensing(m=60, d1=5, d2=7, rank=2, noise=0.1, operator="dense", seed=1),
}


def run(problem, max_iter=3000, tol=1e-9, **options):
    trace = []
    iterates = nuclear_norm(problem, **options, rng=np.random.default_rng(0))
    return drive(iterates, lambda i, s, it: trace.append(it), tol=tol, max_iter=max_iter), trace


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


def test_residuals_bound_the_distance_to_the_subdifferential():
    problem = SMALL["rank-one"].build()
    operator, b = problem.operator, problem.b
    mu = 0.1 * np.linalg.norm(operator.adjoint(b), 2)
    _, trace = run(problem, mu_share=0.1, max_iter=25, tol=0.0)
    for iterate in trace:
        U, s, V = iterate.estimate
        g = operator.adjoint(operator(iterate.estimate) - b)
        outside = g - U @ (U.T @ g)
        outside = outside - outside @ V @ V.T
        tangent = g - outside + mu * U @ V.T
        excess = np.maximum(np.linalg.svd(outside, compute_uv=False) - mu, 0)
        exact = np.hypot(np.linalg.norm(tangent), np.linalg.norm(excess))
        assert exact <= iterate.residual * max(np.linalg.norm(g), mu * np.sqrt(5)) * (1 + 1e-9)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_little_weight_recovers_from_exact_answers(precision):
    spec = PolynomialNetwork(m=600, p=20, r=2, precision=precision)
    stop, trace = run(spec.build(), mu_share=1e-4, tol=1e-8, max_iter=400)
    W = trace[-1].estimate
    assert stop is Stop.CONVERGED and spec.build().score(W)["error"] < 2e-3
    assert W.U is W.V and W.s.dtype == spec.build().operator.dtype and np.count_nonzero(W.s) == 2


def test_full_weight_gives_zero_and_inputs_are_unchanged():
    problem = SMALL["network"].build()
    X, b = problem.operator.X.copy(), problem.b.copy()
    stop, trace = run(problem, mu_share=1.0)
    assert stop is Stop.CONVERGED and not trace[-1].estimate.s.any()
    trace = [(it, it.estimate.dense()) for it in islice(nuclear_norm(problem, rng=np.random.default_rng(0)), 8)]
    assert (problem.operator.X == X).all() and (problem.b == b).all()
    assert all((it.estimate.dense() == copy).all() for it, copy in trace)


@pytest.mark.parametrize("symmetric", [True, False])
def test_proximal_maps_minimise_what_they_claim(symmetric):
    rng = np.random.default_rng(5)
    V = rng.standard_normal((6, 6) if symmetric else (6, 4))
    V, shrink = (V + V.T, shrink_eigenvalues) if symmetric else (V, shrink_singular_values)
    W = shrink(V, 0.8)
    # V - W is a subgradient of 0.8 ||.||_* at W: it has norm 0.8 and the largest inner product with W.
    rest = V - W.dense()
    assert np.linalg.norm(rest, 2) <= 0.8 + 1e-12
    assert np.vdot(rest, W.dense()) == pytest.approx(0.8 * np.abs(W.s).sum())
    assert not shrink(V, 100.0).s.any() and np.allclose(shrink(V, 0.0).dense(), V)


def test_fasta_solves_bounded_least_squares_like_scipy():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((30, 10)) * np.geomspace(1, 20, 10), rng.standard_normal(30)

    def value(x):
        return 0.5 * float(np.sum((A @ x - b) ** 2)), A @ x - b

    split = Split(value, lambda d: A.T @ d, lambda v, t: np.maximum(v, 0.0), lambda x: x)
    *_, last = islice(fasta(split, np.zeros(10), step=1.0), 400)
    assert np.allclose(last.x, lsq_linear(A, b, bounds=(0, np.inf), tol=1e-14).x, atol=1e-8)
    assert np.linalg.norm(last.gradient + last.z) < 1e-7


def test_an_empty_matrix_is_factors_of_zero():
    W = shrink_singular_values(np.zeros((3, 2)), 1.0)
    assert isinstance(W, LowRank) and W.s.shape == (1,) and not W.dense().any()
