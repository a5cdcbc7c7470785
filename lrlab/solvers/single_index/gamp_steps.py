r"""Iterations of generalised approximate message passing in a single-index model: damped, and their means over draws.

`drawn_iterations` gives what they do at finite n and p near a threshold. State evolution is the limit of large p. Near
a threshold of a symmetric link the overlap is so sensitive to the sample that its mean at p = 1000 lies .03 below that
limit (one-bit phase retrieval, t = 2, n/p = 2). The iterations read X (n, p) only in products with a few vectors. So
its entries need not be drawn: for a unit vector u orthogonal to earlier ones, and the products V^T X that are known
from the left, X u is V V^T X u plus a standard normal vector on the complement of V. The law of each iterate is exact,
at the cost of some hundred vectors of length n + p (Lu 2021, "Householder dice: a matrix-free algorithm for simulating
dynamics on Gaussian and random orthogonal ensembles").
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import proceed
from lrlab.theory import priors
from lrlab.theory.channels import TINY, answer
from lrlab.theory.links import Link
from lrlab.theory.predicted_overlap import spectral_start
from lrlab.theory.principal_hessian import shares
from lrlab.theory.spectral import known_link_weights
from lrlab.theory.state_evolution import overlaps

# Variances cannot fall to 0: answers without noise would then be events of probability 0.
LEAST_VARIANCE = 1e-12
ROWS = 2**14
PATIENCE, TURNS = 10, 4
LEAST_STEP = 0.3

DRAWS, ITERATIONS = 64, 30
SENSITIVE = 0.1
"""Change of the limit, as the number of the rarer answers varies by chance, from which on draws are made."""
LARGEST = 2**13
"""Largest n + p, for which the draws take some seconds."""


class State(NamedTuple):
    """Posterior means b (p,) with the summed variance V of its entries, and the means w (n,) of the indices X b.

    score: g (n,) of the update that led here, None at the start.
    """

    b: Array
    V: float
    w: Array
    score: Array | None


class Point(NamedTuple):
    """A state, the size of the change that follows it, and the step with which it is made."""

    state: State
    change: float
    step: float


def path(problem: SingleIndexData, now: State, rate: float) -> Iterator[Point]:
    """Yield `now` and the states that follow, without end; steps are damped where they oscillate."""
    step, changes, cosines, before = 1.0, list[float](), list[float](), now.b * 0.0
    while True:
        following = updated(problem, now, rate, step)
        move = following.b - now.b
        size = float(np.linalg.norm(move))
        changes.append(max(size, abs(following.V - now.V)) / step)
        cosines.append(float(move @ before) / max(size * float(np.linalg.norm(before)), TINY))
        yield Point(now, changes[-1], step)
        if oscillates(changes, cosines):
            step, changes, cosines = max(LEAST_STEP, step / 1.5), [], []
        now, before = following, move


def oscillates(changes: list[float], cosines: list[float]) -> bool:
    """Return whether changes, one an iteration, reverse four times, or stay as they are for ten.

    cosines: of the angles between each change of b and the one before. A change may well grow for some iterations:
    while a sparse truth takes shape, damping would only disturb.
    """
    reverses = len(cosines) >= TURNS and max(cosines[-TURNS:]) < -0.5 and changes[-1] > 0.7 * changes[-TURNS]
    return reverses or (
        len(changes) >= 2 * PATIENCE and min(changes[-PATIENCE:]) > 0.9 * min(changes[-2 * PATIENCE : -PATIENCE])
    )


def updated(problem: SingleIndexData, now: State, rate: float, step: float) -> State:
    """Return the state after one update, of which g and b move by the share `step`."""
    X, p = problem.X, len(now.b)
    score, precision = _answers(problem, now)
    if now.score is not None:
        score = step * score + (1.0 - step) * now.score
    if precision <= 0.0:
        # E h = E g^2 under the model; the sum of squares cannot be negative where chance makes the other so.
        precision = float(score @ score)
    S = 1.0 / max(precision, TINY)
    # In units of 1 / sqrt(p), in which an entry has variance 1.
    posterior = priors.posterior(math.sqrt(p) * (now.b + S * (score @ X)), p * S, rate)
    b = posterior.mean / math.sqrt(p)
    V = min(max(posterior.variance, LEAST_VARIANCE), 1.0)
    # 1 = ||b_true||^2 = ||b||^2 + V. Left free, the two drift against each other for hundreds of iterations where V is
    # small; made equal where little is known of b, they oscillate.
    b = b * ((1.0 - V) / max(float(b @ b), TINY)) ** ((1.0 - V) / 2.0)
    b = step * b + (1.0 - step) * now.b
    return State(b, V, X @ b - V * score, score)


def _answers(problem: SingleIndexData, now: State) -> tuple[Array, float]:
    """Return g (n,) and the sum of h, by blocks of rows: a link's quadrature takes some hundred numbers a row."""
    score, precision, n = np.empty_like(now.w), 0.0, len(now.w)
    for start in range(0, n, ROWS):
        problem.checkpoint(start / n)
        rows = slice(start, start + ROWS)
        at = answer(problem.link, now.w[rows], now.V, problem.y[rows])
        score[rows] = at.score
        precision += float(at.curvature.sum())
    return score, precision


def from_spectral(problem: SingleIndexData, v: Array) -> State:
    """Return the optimal spectral estimate v (p,), scaled to be a posterior mean of its predicted overlap."""
    (n, p), weights = problem.shape, known_link_weights(problem.link.moments)
    limit = spectral_start(problem.link, n / p)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    q = max(q, 1.0 / math.sqrt(p))
    b = math.sqrt(q) * v
    return State(b, 1.0 - q, problem.X @ b * (1.0 - t * np.where(problem.y > 0, weights.pos, weights.neg)), None)


def draws_needed(spec: SingleIndexSpec) -> bool:
    """Return whether chance in the number of answers moves the limit so much that the mean is another one."""
    link, ratio = spec.link_function, spec.n / spec.p
    if abs(link.moments.mu1) > 1e-9 or spec.sparsity or not 10 <= spec.p <= spec.n + spec.p <= LARGEST:
        return False
    rarer = spec.n * min(shares(link.moments)[:2])
    spread = math.sqrt(2.0 / max(rarer, 1.0))
    low, high = (overlaps(link, ratio * math.exp(sign * spread)).fast for sign in (-1.0, 1.0))
    return high - low > SENSITIVE


def drawn_iterations(spec: SingleIndexSpec, iterations: int) -> Array:
    """Return the mean overlaps (iterations,) of draws; they stay after `ITERATIONS` as they were."""
    means = _means(spec.link_function, spec.n, spec.p)
    return means[np.minimum(np.arange(iterations), ITERATIONS - 1)]


@lru_cache(maxsize=256)
def _means(link: Link, n: int, p: int) -> Array:
    return np.mean([_drawn_path(link, n, p, np.random.default_rng([n, p, draw])) for draw in range(DRAWS)], axis=0)


def _drawn_path(link: Link, n: int, p: int, rng: Generator) -> list[float]:
    """Return the overlaps of the first iterates of one draw, whose truth is the first unit vector."""
    # Imported here: it is not needed to start the lab.
    from scipy.sparse.linalg import LinearOperator, eigsh

    X, truth = UnseenGaussian((n, p), rng), np.eye(1, p)[0]
    noisy = X @ truth + link.noise * rng.standard_normal(n)
    y = np.where(rng.random(n) < (1.0 + link.base(noisy)) / 2.0, 1.0, -1.0)
    weights = known_link_weights(link.moments)
    T = np.where(y > 0, weights.pos, weights.neg)
    M = LinearOperator((p, p), matvec=lambda v: (T * (X @ v.ravel())) @ X / p, dtype=float)
    v = eigsh(M, k=1, which="LA", tol=1e-4, v0=rng.standard_normal(p))[1][:, 0]
    problem: Any = SimpleNamespace(X=X, y=y, link=link, shape=(n, p), checkpoint=proceed)
    return [float(unit(at.state.b)[0] ** 2) for at in islice(path(problem, from_spectral(problem, v), 1.0), ITERATIONS)]


class UnseenGaussian:
    """A matrix X (n, p) of independent N(0, 1) that is drawn in the directions in which it is multiplied.

    U (k, p), V (m, n): orthonormal rows, directions from the right and from the left so far. XU (k, n), VX (m, p): the
    products with them.
    """

    __array_ufunc__ = None

    def __init__(self, shape: tuple[int, int], rng: Generator) -> None:
        n, p = shape
        self.rng = rng
        self.U: Array = np.zeros((0, p))
        self.XU: Array = np.zeros((0, n))
        self.V: Array = np.zeros((0, n))
        self.VX: Array = np.zeros((0, p))

    def __matmul__(self, b: Array) -> Array:
        """Return X b (n,)."""
        self.U, self.XU, product = self._product(b, self.U, self.XU, self.V, self.VX)
        return product

    def __rmatmul__(self, g: Array) -> Array:
        """Return g X (p,)."""
        self.V, self.VX, product = self._product(g, self.V, self.VX, self.U, self.XU)
        return product

    def _product(self, b: Array, U: Array, XU: Array, V: Array, VX: Array) -> tuple[Array, Array, Array]:
        """Return the rows of U, those of XU, with one more each where b is no combination of them, and X b."""
        known: Array = U @ b
        rest: Array = b - known @ U
        # Once more, since rounding leaves the first remainder with a part along U.
        again = U @ rest
        rest, known = rest - again @ U, known + again
        size = float(np.linalg.norm(rest))
        if size > 1e-9 * float(np.linalg.norm(b)):
            u = rest / size
            drawn = self.rng.standard_normal((XU.shape[1],))
            drawn += (VX @ u - V @ drawn) @ V
            U, XU, known = np.vstack([U, u]), np.vstack([XU, drawn]), np.append(known, size)
        return U, XU, known @ XU
