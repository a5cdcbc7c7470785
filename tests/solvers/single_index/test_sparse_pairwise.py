"""Algorithm 2: the Fantope projection and problem against their definitions and a convex solver, and the two stages."""

from itertools import combinations, islice

import clarabel
import numpy as np
import pytest
from scipy import sparse

import lrlab
from lrlab.solvers.single_index import fantope
from lrlab.solvers.single_index.sparse_pairwise import sparse_pairwise_moment

NAME = "sparse-pairwise-moment"
SPEC = lrlab.spec("one-bit-sensing", n=4000, p=60, sparsity=4, noise=0.3, seed=3)
MODELS = (
    SPEC,
    lrlab.spec("flipped-logistic", n=60_000, p=60, sparsity=4, flip=0.1, seed=3),
    lrlab.spec("one-bit-phase-retrieval", n=8000, p=60, sparsity=4, threshold=1.0, seed=3),
    lrlab.spec("one-bit-phase-retrieval", n=20_000, p=60, sparsity=4, threshold=0.35, seed=3),
)


def moment(p=24, s=3, n=600, seed=0, strength=0.6):
    """Return a sample covariance with a sparse spike: what the Fantope problem is made for."""
    rng = np.random.default_rng(seed)
    b = np.zeros(p)
    b[:s] = s**-0.5
    X = rng.standard_normal((n, p)) + np.sqrt(strength) * np.outer(rng.standard_normal(n), b)
    return X.T @ X / n


def iterates(spec, number=80, **options):
    rng = np.random.default_rng(0)
    trace = []
    for iterate in islice(sparse_pairwise_moment(spec.build(), **options, rng=rng), number):
        trace.append(iterate)
        if iterate.residual is not None and iterate.residual <= 1e-10:
            break
    return trace


# The Fantope


def clarabel_optimum(M, rho):
    """Solve max <M, P> - rho <1, T>, -T <= P <= T, tr P = 1, P >= 0 by an interior-point method."""
    p = len(M)
    # svec: the upper triangle by columns, off-diagonal entries times sqrt 2. P <= I follows from tr P = 1, P >= 0.
    columns, rows = np.tril_indices(p)
    root = np.where(rows == columns, 1.0, np.sqrt(2.0))
    size = len(rows)
    one = sparse.identity(size, format="csc")
    trace = sparse.csc_matrix(np.where(rows == columns, 1.0, 0.0)[None])
    none = sparse.csc_matrix((1, size))
    empty = sparse.csc_matrix((size, size))
    A = sparse.vstack(
        [sparse.hstack(pair) for pair in ((trace, none), (one, -one), (-one, -one), (-one, empty))], format="csc"
    )
    right = np.zeros(1 + 3 * size)
    right[0] = 1.0
    cost = np.concatenate([-root * M[rows, columns], rho * root])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * size), clarabel.PSDTriangleConeT(p)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    quadratic = sparse.csc_matrix((2 * size, 2 * size))
    solution = clarabel.DefaultSolver(quadratic, cost, A, right, cones, settings).solve()
    P = np.zeros((p, p))
    P[rows, columns] = P[columns, rows] = np.array(solution.x)[:size] / root
    return P, -solution.obj_val


@pytest.mark.parametrize(("p", "rho"), [(12, 0.0), (12, 0.05), (20, 0.15), (30, 0.1), (16, 2.0)])
def test_admm_agrees_with_an_interior_point_solver(p, rho):
    M = moment(p)
    P, optimum = clarabel_optimum(M, rho)
    state = next(s for s in islice(fantope.fantope_admm(M, rho), 3000) if s.gap <= 1e-6)
    solution = (state.vectors * state.weights) @ state.vectors.T
    assert np.vdot(M, solution) - rho * np.abs(solution).sum() == pytest.approx(optimum, abs=2e-6)
    np.testing.assert_allclose(solution, P, atol=2e-3)


# Algorithm 2


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: f"{spec.model}-{spec.seed}-{spec.n}")
def test_it_recovers_a_sparse_signal_where_the_dense_method_does_worse(spec):
    trace = lrlab.solve(spec, NAME)
    dense = lrlab.solve(
        spec, "pairwise-moment", eigensolver="lanczos", moment="M" if "M chosen" in trace.note else "M'"
    )
    assert ("M' chosen" if spec.link_function.moments.phi < 0 else "M chosen") in trace.note
    assert trace.metrics["support"] >= 0.75
    assert trace.metrics["error"] < 0.4
    assert trace.metrics["error"] < 0.6 * dense.metrics["error"]


def test_the_best_support_is_recovered_on_a_small_problem():
    spec = SPEC.replace(p=12, sparsity=3, n=3000)
    last = iterates(spec, number=300, moment="M")[-1]
    problem = spec.build()
    dx = problem.X[1::2] - problem.X[::2]
    dx = dx[problem.y[1::2] != problem.y[::2]]
    M = dx.T @ dx / (spec.n // 2)
    best = max(np.linalg.eigvalsh(M[np.ix_(chosen, chosen)])[-1] for chosen in combinations(range(12), 3))
    assert last.objective == pytest.approx(-best, rel=1e-9)


@pytest.mark.slow
def test_entries_that_do_not_stand_out_are_left_out():
    errors = [
        [
            lrlab.solve(SPEC.replace(noise=0.0, sparsity=10, seed=seed), NAME, kept=kept).metrics["error"]
            for kept in (0, 10)
        ]
        for seed in range(1001, 1013)
    ]
    chosen, all_of_them = np.mean(errors, axis=0)
    assert chosen < 0.95 * all_of_them
    dense = lrlab.solve(SPEC.replace(sparsity=0, n=2000), NAME, max_iter=60)
    assert "with 60 of 60 entries" in dense.note, "a signal that is not sparse has all of them"
