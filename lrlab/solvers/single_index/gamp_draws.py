r"""What the iterations of `gamp` do at finite n and p: draws of their law in which X is never formed.

State evolution is the limit of large p. Near a threshold of a symmetric link the overlap is so sensitive to the sample
that its mean at p = 1000 lies .03 below that limit (one-bit phase retrieval, t = 2, n/p = 2). The iterations read
X (n, p) only in products with a few vectors. So its entries need not be drawn: for a unit vector u orthogonal to
earlier ones, and the products V^T X that are known from the left, X u is V V^T X u plus a standard normal vector on the
complement of V. The law of each iterate is exact, at the cost of some hundred vectors of length n + p (Lu 2021,
"Householder dice: a matrix-free algorithm for simulating dynamics on Gaussian and random orthogonal ensembles").
"""

import math
from functools import lru_cache
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import proceed
from lrlab.solvers.single_index.gamp_steps import from_spectral, path
from lrlab.theory.links import Link
from lrlab.theory.principal_hessian import shares
from lrlab.theory.spectral import known_link_weights
from lrlab.theory.state_evolution import overlaps

DRAWS, ITERATIONS = 64, 30
SENSITIVE = 0.1
"""Change of the limit, as the number of the rarer answers varies by chance, from which on draws are made."""
LARGEST = 2**13
"""Largest n + p, for which the draws take some seconds."""


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
