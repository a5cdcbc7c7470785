"""What descents on matrices of rank k share: initial matrices, gradients, transport, lines, steps that leave them.

Tangent vectors are stored as factors, see `operators.tangent`. The images of the factors are carried along, so that
each product reads the data once.
"""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.entries import Entries
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import tall
from lrlab.operators.tangent import EvaluatedMatrix, point
from lrlab.parameters import choice

Start = Annotated[
    str,
    choice(
        *("moment", "clipped", "random"),
        help="leading part of the moment; the same after clipping large measurements; or a random matrix",
        added=True,
    ),
]


def spectral_start(A: Operator, b: Array, rank: int, rng: Generator) -> LowRank:
    r"""Return the nearest matrix of a rank to the moment M = scale A*(b), debiased if symmetric: E[M] = W.

    Symmetric operators give the eigenpairs of largest size, of either sign. For entries of X W Y^T, the moment uses
    orthonormal bases of the features and maps the result back: in the features' own coordinates M would be X^T X W Y^T
    Y on average.
    Reference: Jain & Dhillon (2013), Algorithm 1 line 3 and Lemma 6.
    """
    if isinstance(A, Entries) and not A.plain:
        white, left, right = A.whitened()
        W = nearest(white.moment(b), min(rank, *white.shape), rng)
        return lowrank.from_product(left(W.left), right(W.V), rank)
    return nearest(A.moment(b), rank, rng)


def started(A: Operator, b: Array, rank: int, rng: Generator, start: str) -> LowRank:
    """Return the initial matrix of a solver, see `Start`; a random one has the norm of W that b lets expect."""
    if start != "random":
        return spectral_start(A, clipped(b) if start == "clipped" else b, rank, rng)
    U, V = (np.linalg.qr(rng.standard_normal((d, rank)))[0].astype(A.dtype) for d in A.shape)
    # E[scale ||A(W)||^2] = ||W||^2, but for the trace of a symmetric W.
    s = np.full(rank, float(np.sqrt(A.scale / rank) * np.linalg.norm(b)), A.dtype)
    if not A.symmetric:
        return LowRank(U, s, V)
    return LowRank(U, s * rng.choice([-1.0, 1.0], rank).astype(A.dtype), U)


def clipped(b: Array) -> Array:
    """Return b with no entry larger than twice their root mean square: few large ones would dominate the moment."""
    most = 2.0 * np.sqrt(np.mean(b * b))
    return np.clip(b, -most, most)


SLOW = 0.02
"""Relative decrease of F below which a step with the whole gradient is worth its price."""


class Line(NamedTuple):
    """A tangent direction A V^T + U B^T as L C R^T, in bases L = [U, Qa] and R = [V, Qb], with its image.

    Qa is orthonormal and orthogonal to U, Qb to V. P and Q: the images of L and R.
    """

    left: Array
    P: Array
    right: Array
    Q: Array
    core: Array
    image: Array


def projected(W: LowRank, right: Array, left: Array | None) -> Array:
    """Return the nearest tangent vector at W to a matrix G, from right = G V and left = G^T U; None if symmetric."""
    if left is None:
        return right - W.U @ (W.U.T @ right) / 2
    return np.vstack([right, left - W.V @ (W.V.T @ left)])


def inner(Z: Array, other: Array, W: LowRank) -> float:
    """Return the inner product of two tangent vectors at W as matrices; the B of one is orthogonal to V."""
    if W.U is not W.V:
        return float(np.vdot(Z, other))
    return 2.0 * float(np.vdot(Z, other) + np.vdot((W.U.T @ Z).T, W.U.T @ other))


def gradient(A: Operator, at: EvaluatedMatrix) -> Array:
    """Return the gradient of F = ||A(W) - b||^2 / 2 on the manifold, times `scale`: the projection of A*(d)."""
    left = None if A.symmetric else A.scale * A.pull_right(at.d, at.P)
    return projected(at.W, A.scale * A.pull_left(at.d, at.Q), left)


def newton_step(A: Operator, W: LowRank, slope: Array) -> Array:
    """Return the step to the minimum if A*A were its mean: minus the gradient, without the bias of the trace.

    The mean of scale A*A takes a symmetric T to T + c tr(T) I, c = scale m trace. On the tangent space I is U U^T, so
    that the inverse takes T to T - c tr(T) U U^T / (1 + c k).
    """
    if not A.trace:
        return -slope
    c = A.scale * A.size * A.trace
    trace = 2.0 * float((W.U * slope).sum())
    return W.U * W.U.dtype.type(c * trace / (2 * (1 + c * W.U.shape[1]))) - slope


def transported(Z: Array, old: LowRank, new: LowRank) -> Array:
    """Return the nearest tangent vector at `new` to a tangent vector at `old`."""
    symmetric = old.U is old.V
    A, B = (Z, Z) if symmetric else np.split(Z, [len(old.U)])
    right = A @ (old.V.T @ new.V) + old.U @ (B.T @ new.V)
    return projected(new, right, None if symmetric else old.V @ (A.T @ new.U) + B @ (old.U.T @ new.U))


def across(U: Array, A: Array) -> tuple[Array, Array]:
    """Return Q and C with A = [U, Q] C, Q orthonormal and orthogonal to U: at most all directions outside of U."""
    M = U.T @ A
    # Reflections keep Q orthogonal to U even if A is nearly in its span.
    Q = np.linalg.qr(np.hstack([U, A]))[0][:, U.shape[1] :]
    return Q, np.vstack([M, Q.T @ (A - U @ M)])


def line(A: Operator, at: EvaluatedMatrix, Z: Array) -> Line:
    """Return a tangent direction as a line to move along: two readings of the data, one if W is symmetric."""
    U, V, k = at.W.U, at.W.V, len(at.W.s)
    Qa, C = across(U, Z[: A.shape[0]])
    left, P = np.hstack([U, Qa]), np.hstack([at.P, A.left(Qa)])
    right, Q, D, image = left, P, C, A.pair(tall(P, C), at.Q)
    if not A.symmetric:
        Qb, D = across(V, Z[A.shape[0] :])
        right, Q = np.hstack([V, Qb]), np.hstack([at.Q, A.right(Qb)])
        image = image + A.pair(at.P, tall(Q, D))
    core = np.zeros((len(C), len(D)), A.dtype)
    core[:, :k] = C
    core[:k] += D.T
    return Line(left, P, right, Q, core, 2 * image if A.symmetric else image)


def moved(A: Operator, at: EvaluatedMatrix, along: Line, step: float, b: Array) -> EvaluatedMatrix:
    """Return the nearest matrix of rank k to W + step (A V^T + U B^T), by an SVD of size 2k; no reading of the data."""
    k, core = len(at.W.s), step * along.core
    core[:k, :k] += np.diag(at.W.s)
    turn, s, back = lowrank.from_symmetric(core, k) if A.symmetric else lowrank.from_dense(core, k)
    U, P = along.left @ turn, tall(along.P, turn)
    V, Q = (U, P) if A.symmetric else (along.right @ back, tall(along.Q, back))
    return EvaluatedMatrix(LowRank(U, s, V), P, Q, A.pair(P * s, Q) - b)


class WholeSteps:
    r"""Steps W <- P_k(W - eta G), P_k the nearest matrix of rank k, G the moment of A(W) - b, about W - W_true.

    Methods that move on the tangent space change the sign of an eigenvalue, or exchange a term for another one, only by
    way of matrices of lower rank, and stop at minima that have the wrong terms. Such a step exchanges the weakest term
    u s v^T for one outside the tangent space. It is tried if progress is slow and the residual is larger than the image
    of the weakest term; after every failure twice as many slow steps pass before the next trial.
    Reference: Jain, Meka, Dhillon (2010), "Guaranteed rank minimization via singular value projection", Algorithm 1,
    and for networks Soltani & Hegde (2018), Algorithm 1, whose steps they are.
    """

    def __init__(self, A: Operator, b: Array, rng: np.random.Generator) -> None:
        self.A, self.b, self.rng = A, b, rng
        self.slow, self.due = 0, 1

    def leave(self, at: EvaluatedMatrix, before: float) -> EvaluatedMatrix | None:
        """Return a better point; None if the last step, from an F of `before`, went well or none exists."""
        least = (1 - SLOW) * at.objective
        if at.objective < (1 - SLOW) * before:
            return None
        self.slow += 1
        weakest = self.A.pair(at.P[:, -1:] * at.W.s[-1], at.Q[:, -1:])
        if self.slow < self.due or np.linalg.norm(weakest) >= np.linalg.norm(at.d):
            return None
        # With many measurements the step 1 leads to the truth.
        for eta in (1.0, 0.5, 0.25):
            W = nearest(at.W - self.A.moment(eta * at.d), len(at.W.s), self.rng, settled=0.05)
            if (new := point(self.A, W, self.b)).objective < least:
                self.slow, self.due = 0, 1
                return new
        self.due *= 2
        return None
