"""Principal component pursuit: exact on tables with gross errors, and the minimum of its objective where it is not."""

import numpy as np
import pytest

import lrlab
from lrlab.protocol import Stop

FULL = lrlab.spec("inductive-completion", features="canonical", n1=60, n2=60, rank=2, observed=1.0)
CASES = [(FULL, 0.1), (FULL, 0.2), (FULL.replace(n1=40, n2=50), 0.1), (FULL.replace(observed=0.7), 0.05)]
SMALL = FULL.replace(n1=14, n2=11, observed=0.8, outliers=0.1, noise=0.1, seed=51000)


@pytest.mark.parametrize(("spec", "share"), CASES)
def test_it_recovers_tables_with_gross_errors_where_least_squares_does_not(spec, share):
    for seed in (51000, 51001):
        wrong = spec.replace(outliers=share, seed=seed)
        trace = lrlab.solve(wrong, "robust-pca")
        assert trace.stop is Stop.CONVERGED and trace.metrics["weakest_error"] < 1e-6
        assert (
            trace.note
            == f"Rank 2; {round(share * wrong.measurements)} of {wrong.measurements} entries are taken as wrong."
        )
        for name in ("gauss-newton", "soft-impute"):
            assert lrlab.solve(wrong, name, max_iter=10).metrics["weakest_error"] > 0.5


def chambolle_pock(A, b, level, iterations=20_000):
    """Return W and a dual y that minimise ||W||_* + level ||A(W) - b||_1, by a primal-dual method."""
    W, y, step = np.zeros(A.shape), np.zeros(len(b)), 0.95
    for _ in range(iterations):
        U, s, Vt = np.linalg.svd(W - step * A.adjoint(y), full_matrices=False)
        new = (U * np.maximum(s - step, 0)) @ Vt
        rest = (2 * new - W)[A.rows, A.columns] - b
        W, y = new, np.clip(y + step * rest, -level, level)
    return W, y


def test_its_minimum_is_that_of_another_method_and_of_the_dual():
    trace = lrlab.solve(SMALL, "robust-pca", max_iter=20_000, tol=1e-10)
    assert trace.stop is Stop.CONVERGED
    A, b = trace.problem.operator, trace.problem.b
    level = 1.0 / np.sqrt(len(b) / 154 * 14)
    W, y = chambolle_pock(A, b, level)
    value = np.linalg.svd(W, compute_uv=False).sum() + level * np.abs(W[A.rows, A.columns] - b).sum()
    # <-y, b> bounds the minimum from below where no singular value of A*(y) is above 1.
    y = y / max(1.0, np.linalg.norm(A.adjoint(y), 2))
    assert trace.metrics["objective"] == pytest.approx(value, rel=1e-6) == -y @ b
    assert trace.estimate.dense() == pytest.approx(W, abs=1e-5)


def test_the_objective_is_taken_at_the_estimate_and_a_larger_weight_leaves_less():
    for weight in (0.5, 2.0):
        trace = lrlab.solve(SMALL, "robust-pca", weight=weight, max_iter=50)
        A, b, M = trace.problem.operator, trace.problem.b, trace.estimate.dense()
        level = weight / np.sqrt(len(b) / 154 * 14)
        value = np.linalg.svd(M, compute_uv=False).sum() + level * np.abs(M[A.rows, A.columns] - b).sum()
        assert trace.metrics["objective"] == pytest.approx(value)
    ranks = [np.count_nonzero(lrlab.solve(SMALL, "robust-pca", weight=weight).estimate.s) for weight in (0.5, 2.0)]
    assert ranks[0] < ranks[1]
