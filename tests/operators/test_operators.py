"""Measurement operators against dense matrices, and matrices kept as factors against numpy's norms."""

import numpy as np
import pytest

from lrlab import lowrank
from lrlab.operators import krylov
from lrlab.operators.dense import Dense
from lrlab.operators.entries import Entries
from lrlab.operators.rank_one import RankOne, SymmetricRankOne

M, N1, N2, D1, D2, K = 60, 13, 11, 6, 5, 2


def entries(left: bool, right: bool, m: int = M):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N1, D1)) if left else None
    Y = rng.standard_normal((N2, D2)) if right else None
    rows, columns = np.divmod(np.sort(rng.choice(N1 * N2, m, replace=False)), N2)
    return Entries(X, Y, (N1, N2), rows, columns)


def build(kind: str):
    rng = np.random.default_rng(0)
    match kind:
        case "rank-one":
            return RankOne(rng.standard_normal((M, D1)), rng.standard_normal((M, D2)))
        case "symmetric":
            return SymmetricRankOne(rng.standard_normal((M, D1)))
        case "dense":
            return Dense(rng.standard_normal((M, D1, D2)))
    _, left, right = kind.split("-")
    return entries(left == "features", right == "features")


KINDS = ["rank-one", "symmetric", "dense", "entries-features-features", "entries-features-identity"]
KINDS += ["entries-identity-features", "entries-identity-identity"]
every_operator = pytest.mark.parametrize("A", [build(kind) for kind in KINDS], ids=KINDS)


def matrices(A) -> np.ndarray:
    """Return the measurement matrices (m, d1, d2), one by one from their definition."""
    if isinstance(A, Dense):
        return A.A
    if isinstance(A, RankOne):
        return np.array([np.outer(x, y) for x, y in zip(A.X, A.Y, strict=True)])
    X, Y = (np.eye(n) if F is None else F for F, n in zip((A.X, A.Y), A.table, strict=True))
    return np.array([np.outer(X[i], Y[j]) for i, j in zip(A.rows, A.columns, strict=True)])


def factors(A, k: int = K) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.standard_normal((A.shape[0], k)), rng.standard_normal((A.shape[1], k))


@every_operator
def test_measurements_and_adjoint_are_those_of_the_dense_matrices(A):
    dense, (U, V) = matrices(A), factors(A)
    r = np.random.default_rng(3).standard_normal(A.size)
    assert A.pair(A.left(U), A.right(V)) == pytest.approx(np.einsum("mij,ij->m", dense, U @ V.T), abs=1e-10)
    adjoint = np.einsum("m,mij->ij", r, dense)
    assert A.adjoint(r) == pytest.approx(adjoint, abs=1e-10)
    assert A.pull_left(r, A.right(V)) == pytest.approx(adjoint @ V, abs=1e-10)
    assert A.pull_right(r, A.left(U)) == pytest.approx(adjoint.T @ U, abs=1e-10)


def test_the_moment_of_gaussian_measurements_is_unbiased():
    rng, m = np.random.default_rng(6), 200_000
    X, Y = rng.standard_normal((m, 4)), rng.standard_normal((m, 3))
    W = rng.standard_normal((4, 3))
    symmetric = rng.standard_normal((4, 4))
    symmetric += symmetric.T
    for A, truth in (
        (RankOne(X, Y), W),
        (SymmetricRankOne(X), symmetric),
        (Dense(rng.standard_normal((m // 10, 4, 3))), W),
    ):
        b = A(lowrank.from_dense(truth))
        assert np.linalg.norm(A.moment(b).dense() - truth) < 0.05 * np.linalg.norm(truth)


def test_the_moment_of_all_entries_is_the_matrix_when_features_are_white():
    for kind in KINDS[3:]:
        _, left, right = kind.split("-")
        A, left_back, right_back = entries(left == "features", right == "features", m=N1 * N2).whitened()
        W = lowrank.from_product(*factors(A))
        assert A.moment(A(W)).dense() == pytest.approx(W.dense(), abs=1e-10)
        raw = entries(left == "features", right == "features", m=N1 * N2)
        mapped = lowrank.from_product(left_back(W.left), right_back(W.V))
        assert raw(mapped) == pytest.approx(A(W), abs=1e-10)


@every_operator
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_least_squares_of_a_factor_directly_by_conjugate_gradients_and_by_lstsq(A, ridge):
    U, V = factors(A)
    b = np.random.default_rng(7).standard_normal(A.size)
    P, Q, dense = A.left(U), A.right(V), matrices(A)
    expected_U = lstsq(np.einsum("mij,jk->mik", dense, V), b, ridge)
    expected_V = lstsq(np.einsum("mij,ik->mjk", dense, U), b, ridge)
    assert A.refit_left(0 * P, Q, b, 0 * U, ridge, 1e-10) == pytest.approx(expected_U, abs=1e-7)
    assert A.refit_right(P, 0 * Q, b, 0 * V, ridge, 1e-10) == pytest.approx(expected_V, abs=1e-7)
    # After an initialization, solutions of a singular system may differ (U = V K, K skew, on a symmetric operator).
    near_U, near_V = A.refit_left(P, Q, b, U, ridge, 1e-10), A.refit_right(P, Q, b, V, ridge, 1e-10)
    assert A.pair(A.left(near_U), Q) == pytest.approx(A.pair(A.left(expected_U), Q), abs=1e-7)
    assert A.pair(P, A.right(near_V)) == pytest.approx(A.pair(P, A.right(expected_V)), abs=1e-7)


def lstsq(rows: np.ndarray, b: np.ndarray, ridge: float) -> np.ndarray:
    """Return the least-squares factor of minimum norm from rows (m, d, k)."""
    m, d, k = rows.shape
    design = np.vstack([rows.reshape(m, -1), np.sqrt(ridge) * np.eye(d * k)])
    return np.linalg.lstsq(design, np.concatenate([b, np.zeros(d * k)]), rcond=1e-10)[0].reshape(d, k)


@every_operator
def test_a_subset_measures_as_the_whole_does(A):
    chosen, W = np.arange(3, A.size, 2), lowrank.from_product(*factors(A))
    part = A.subset(chosen)
    assert part(W) == pytest.approx(A(W)[chosen], abs=1e-12)
    assert part.scale * part.size == pytest.approx(A.scale * A.size)


@pytest.mark.parametrize("k", [1, 3])
def test_krylov_spaces_give_singular_triples_and_eigenpairs(k):
    rng, widths = np.random.default_rng(3), []
    M = rng.standard_normal((70, 50))
    U, s, Vt = np.linalg.svd(M)
    start = krylov.random_block(50, k, rng, M.dtype, near=Vt[:2].T)
    W, pulled = krylov.leading(lambda V: M @ V, start, k, transposed=lambda U: M.T @ U, settled=1e-15)
    assert W.s == pytest.approx(s[:k], rel=1e-10) and W.dense() == pytest.approx((U[:, :k] * s[:k]) @ Vt[:k], abs=1e-6)
    assert pulled == pytest.approx(M.T @ W.U, abs=1e-10)
    S = M[:50] + M[:50].T

    def times(V):
        widths.append(V.shape[1])
        return S @ V

    L, image = krylov.leading(times, krylov.random_block(50, k, rng, S.dtype), k, settled=1e-12)
    best = lowrank.from_symmetric(S, k)
    assert L.s == pytest.approx(best.s, rel=1e-8) and L.dense() == pytest.approx(best.dense(), abs=1e-4)
    assert image == pytest.approx(S @ L.U, abs=1e-10) and sum(widths) <= 50, "no column is multiplied twice"
