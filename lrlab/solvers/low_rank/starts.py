"""Initial matrices of low-rank solvers: the leading part of the moment of the measurements, or a random matrix."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.entries import Entries
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
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
