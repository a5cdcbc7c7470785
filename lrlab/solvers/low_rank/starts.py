"""Spectral starts: the leading singular triples or eigenpairs of the moment of linear measurements, by products."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.dense import Dense
from lrlab.operators.entries import Entries
from lrlab.operators.operator import Operator
from lrlab.parameters import Parameter
from lrlab.protocol import Checkpoint, proceed

Product = Callable[[Array], Array]

FORMED = 400**2
"""Moments of up to so many entries are formed and decomposed: cheaper than the passes of an iteration."""
CLIPPED = 2.0
"""Root mean squares at which answers are clipped for the clipped moment."""

Start = Annotated[
    str,
    Parameter(
        meaning="start: the leading part of the moment of the answers; of the moment of answers clipped at twice their "
        "root mean square, better with few samples of a network; or a random matrix of the rank",
        choices=("moment", "clipped", "random"),
        added=True,
    ),
]

OVERSAMPLED = 5
DEPTH = 12
SETTLED = 1e-6
EXACT = 1e-13
DECOMPOSED, SHARE = 64**2, 20
"""Tables of up to so many entries are decomposed whole, and larger ones from this share of all singular values on."""


def spectral_start(operator: Operator, b: Array, rank: int, rng: Generator, settled: float = SETTLED) -> LowRank:
    r"""Return the nearest matrix of a rank to the moment M = scale A*(b), debiased where symmetric: E[M] = W.

    Symmetric operators give the eigenpairs that are largest in size, of either sign. Entries of X W Y^T are taken in
    orthonormal bases of the features, and the result mapped back: in the features' own coordinates M would be
    X^T X W Y^T Y on average. Large moments are never formed: block Krylov iteration with products M V and M^T U.
    Reference: Jain & Dhillon (2013), Algorithm 1 line 3 and Lemma 6; Musco & Musco (2015), "Randomized block Krylov
    methods", Algorithm 2.
    """
    if isinstance(operator, Entries) and not operator.plain:
        white, left, right = operator.whitened()
        W = leading_part(white, b, min(rank, *white.shape), rng, settled)
        return lowrank.from_product(left(W.left), right(W.V), rank)
    return leading_part(operator, b, rank, rng, settled)


def started(operator: Operator, b: Array, rank: int, rng: Generator, start: str, settled: float = SETTLED) -> LowRank:
    """Return the matrix that a solver starts from, see `Start`; a random one has the norm that b lets W expect."""
    if start != "random":
        return spectral_start(operator, clipped(b) if start == "clipped" else b, rank, rng, settled)
    U, V = (np.linalg.qr(rng.standard_normal((d, rank)))[0].astype(operator.dtype) for d in operator.shape)
    # E[scale ||A(W)||^2] = ||W||^2, but for the trace of a symmetric W.
    s = np.full(rank, float(np.sqrt(operator.scale / rank) * np.linalg.norm(b)), operator.dtype)
    if not operator.symmetric:
        return LowRank(U, s, V)
    return LowRank(U, s * rng.choice([-1.0, 1.0], rank).astype(operator.dtype), U)


def clipped(b: Array) -> Array:
    """Return b with no entry larger than twice their root mean square: few large ones would rule the moment."""
    most = CLIPPED * np.sqrt(np.mean(b * b))
    return np.clip(b, -most, most)


def leading_part(operator: Operator, b: Array, rank: int, rng: Generator, settled: float = SETTLED) -> LowRank:
    """Return the nearest matrix of a rank to `moment(b)`; large ones once their values change by `settled` at most."""
    if formed(operator):
        return nearest(operator, operator.moment(b), rank)
    times = lambda V: operator.moment_left(b, V, operator.right(V))  # noqa: E731
    if operator.symmetric:
        return leading_eigenpairs(times, operator.shape[0], rank, rng, operator.dtype, settled)
    transposed = lambda U: operator.moment_right(b, U, operator.left(U))  # noqa: E731
    return leading_triples(times, transposed, operator.shape, rank, rng, operator.dtype, settled=settled)


def stepped(operator: Operator, W: LowRank, d: Array, eta: float, rng: Generator, settled: float) -> LowRank:
    """Return the nearest matrix of the rank of W to W - eta G, where G is the moment of the misfit d."""
    k = len(W.s)
    if formed(operator):
        return nearest(operator, W.dense() - eta * operator.moment(d), k)
    times = lambda V: W.left @ (W.V.T @ V) - eta * operator.moment_left(d, V, operator.right(V))  # noqa: E731
    if operator.symmetric:
        return leading_eigenpairs(times, len(W.U), k, rng, operator.dtype, settled)
    back = lambda U: W.V @ (W.left.T @ U) - eta * operator.moment_right(d, U, operator.left(U))  # noqa: E731
    return leading_triples(times, back, W.shape, k, rng, operator.dtype, near=W.V, settled=settled)


def shrunk(A: Entries, Z: LowRank, b: Array, level: float, guess: int, rng: Generator) -> LowRank:
    """Return the table Z + A*(b - A(Z)) with singular values lowered by `level`, those below it left out.

    It is sparse plus of low rank; `guess` is how many of its values are above the level.
    """
    S, n = A.sparse(b - A.forward(Z)), min(A.shape)
    transposed = S.T.tocsr()
    times, back = lambda V: Z.left @ (Z.V.T @ V) + S @ V, lambda U: Z.V @ (Z.left.T @ U) + transposed @ U
    while True:
        if A.shape[0] * A.shape[1] <= DECOMPOSED or SHARE * guess > n:
            U, s, V = lowrank.from_dense(Z.dense() + S.toarray())
            break
        near = Z.V[:, : guess // 2 + 1]
        U, s, V = leading_triples(times, back, A.shape, guess, rng, b.dtype, near=near, floor=level, settled=EXACT)
        if s[-1] <= level or not level:
            break
        guess *= 2
    retained = int((s > level).sum())
    return LowRank(U[:, :retained], s[:retained] - level, V[:, :retained])


def nearest(operator: Operator, M: Array, rank: int) -> LowRank:
    """Return the nearest matrix of a rank to M, which is symmetric if the operator is."""
    return lowrank.from_symmetric(M, rank) if operator.symmetric else lowrank.from_dense(M, rank)


def formed(operator: Operator) -> bool:
    """Whether adjoints are better formed as a matrix than applied."""
    # A dense operator reads all of its numbers for any product; the adjoint of plain entries is sparse.
    entries = operator.shape[0] * operator.shape[1]
    return isinstance(operator, Dense) or entries <= (FORMED // 10 if isinstance(operator, Entries) else FORMED)


def leading_triples(
    times: Product,
    transposed: Product,
    shape: tuple[int, int],
    rank: int,
    rng: Generator,
    dtype: np.dtype,
    *,
    near: Array | None = None,
    floor: float = 0.0,
    settled: float = SETTLED,
    checkpoint: Checkpoint = proceed,
) -> LowRank:
    """Return the leading singular triples of a matrix M (d1, d2) that is given by V -> M V and U -> M^T U.

    Basis Q of the block Krylov space of M M^T; M is replaced by Q Q^T M. Ends when the singular values above `floor`
    have settled to a relative error. `near` (d2, any) are right singular vectors to begin with, if some are known.
    `checkpoint` is called before each decomposition, products call their own.
    """
    width = min(rank + OVERSAMPLED, *shape)
    begin = rng.standard_normal((shape[1], width)).astype(dtype)
    if near is not None:
        begin[:, : near.shape[1]] = near[:, :width]
    block = _orthonormal(times(begin))
    Q, B = block[:, :0], np.empty((shape[1], 0), dtype)
    before = np.zeros(rank)
    for _ in range(DEPTH):
        pulled = transposed(block)
        Q, B = np.hstack([Q, block]), np.hstack([B, pulled])
        right, R = np.linalg.qr(B)
        checkpoint(1.0)
        U, s, Vt = np.linalg.svd(R.T, full_matrices=False)
        s = s[:rank]
        now = np.maximum(s, floor)
        if _settled(now, before, settled) or Q.shape[1] == shape[0]:
            break
        before = now
        block = _orthonormal(times(_orthonormal(pulled))[:, : shape[0] - Q.shape[1]], Q)
    return LowRank(Q @ U[:, :rank], s, right @ Vt[:rank].T)


def leading_eigenpairs(
    times: Product, p: int, rank: int, rng: Generator, dtype: np.dtype, settled: float = SETTLED
) -> LowRank:
    """Return the eigenpairs largest in size of a symmetric matrix (p, p) that is given by its products."""
    width = min(rank + OVERSAMPLED, p)
    block = _orthonormal(rng.standard_normal((p, width)).astype(dtype))
    Q, H = block[:, :0], block[:, :0]
    before = np.zeros(rank)
    for _ in range(DEPTH):
        pulled = times(block)
        Q, H = np.hstack([Q, block]), np.hstack([H, pulled])
        estimate = lowrank.from_core(Q, Q.T @ H, rank)
        if _settled(np.abs(estimate.s), before, settled) or Q.shape[1] == p:
            break
        before = np.abs(estimate.s)
        block = _orthonormal(pulled[:, : p - Q.shape[1]], Q)
    return estimate


def _settled(s: Array, before: Array, tolerance: float) -> bool:
    """Whether values grew so little that the vectors are right to the square root of it."""
    return bool(np.abs(s - before).max() <= tolerance * s.max())


def _orthonormal(block: Array, basis: Array | None = None) -> Array:
    if basis is None:
        return np.linalg.qr(block)[0]
    # Again, because a block that is nearly in the basis already leaves rounding errors and arbitrary directions.
    for _ in range(3):
        block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
    return block
