"""What solvers of phase retrieval share: their spectral start, by Lanczos, its theory and memory; phases; entries."""

import math
from collections.abc import Callable
from functools import partial
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh_tridiagonal

from lrlab.arrays import Array, Vector
from lrlab.linalg import unit
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.protocols import PhaseData
from lrlab.parameters import Parameter
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory.phase import LEFT_OUT, STARTS, softening, start_overlap, weigh

Start = Annotated[
    str,
    Parameter(
        meaning="where to start: the leading eigenvector of a weighted second moment (its weights), or at random",
        choices=STARTS,
    ),
]

Product = Callable[[Vector, float], Vector]

KRYLOV = 40
RESTARTS = 25
ACCURACY = 1e-5


def initial(problem: PhaseData, start: str, rng: Generator) -> Vector:
    """Return z (p,) whose length is the root of the mean intensity, E |<a, x>|^2 = ||x||^2, in the start's direction.

    The direction is the leading eigenvector of (1/m) sum T(s_i) a_i a_i^*, s_i = intensity over its mean, with the
    weights T of `theory.phase`. Two passes over A (m, p) a Lanczos step; no p x p matrix is made.
    """
    A, mean = problem.A, float(problem.intensity.mean())
    m, p = A.shape
    v = rng.standard_normal(p * A.dtype.itemsize // 8).view(A.dtype)
    if start != "random" and mean > 0:
        T = start_weights(problem, start)

        def product(u: Vector, done: float) -> Vector:
            problem.checkpoint(done)
            return adjoint(A, T * (A @ u)) / m

        v = leading_vector(product, v)
    return math.sqrt(mean) * unit(v)


def start_weights(problem: PhaseData, start: str) -> Array:
    """Return the weights T (m,) of the answers, which are not all 0, for a start other than "random"."""
    (m, p), s = problem.shape, problem.intensity / problem.intensity.mean()
    cut = float(np.quantile(s, LEFT_OUT.get(start, 0.0)))
    return weigh(start, s, cut, softening("complex" if np.iscomplexobj(problem.A) else "real", m / p))


def leading_vector(product: Product, v: Vector) -> Vector:
    """Return the unit eigenvector of the largest eigenvalue of a Hermitian operator: restarted Lanczos from v (p,).

    product(u, done): the operator times u (p,); `done` is the finished share of its Krylov space.

    Vectors stay orthogonal by a second projection. A restart begins from the best vector; it ends when the
    residual is at most 1e-5 of the largest eigenvalue in size, or after 25 restarts of 40 steps.
    """
    for _ in range(RESTARTS):
        Q, diagonal, off = krylov(product, unit(v), min(KRYLOV, len(v)))
        values, vectors = eigh_tridiagonal(diagonal, off[:-1])
        v = unit(vectors[:, -1] @ Q)
        if off[-1] * abs(vectors[-1, -1]) <= ACCURACY * np.abs(values).max():
            break
    return v


def krylov(product: Product, v: Vector, steps: int) -> tuple[Vector, Array, Array]:
    """Return orthonormal rows Q (k, p), and of Q^* M Q the diagonal (k,) and the off-diagonal (k,), its last beyond."""
    Q = np.empty((steps, len(v)), dtype=v.dtype)
    diagonal, off = np.empty(steps), np.empty(steps)
    for k in range(steps):
        Q[k] = v
        w = product(v, k / steps)
        diagonal[k] = np.vdot(v, w).real
        for _ in range(2):
            w = w - (Q[: k + 1].conj() @ w) @ Q[: k + 1]
        off[k] = np.linalg.norm(w)
        # An invariant subspace: nothing is left that Lanczos could reach.
        if off[k] <= 1e-13 * np.abs(diagonal[: k + 1]).max():
            return Q[: k + 1], diagonal[: k + 1], off[: k + 1]
        v = w / off[k]
    return Q, diagonal, off


def adjoint(A: Vector, u: Vector) -> Vector:
    """Return A^* u (p,) without a conjugated copy of A (m, p)."""
    return (u.conj() @ A).conj()


def phases(u: Vector) -> Vector:
    """Return u / |u| entry by entry, 1 where u is 0."""
    size = np.abs(u)
    return np.where(size > 0, u, 1.0) / np.where(size > 0, size, 1.0)


def relative(difference: Vector, scale: float) -> float:
    """Return ||difference|| / scale; 0 where the difference vanishes, 1 where only the scale does."""
    size = float(np.linalg.norm(difference))
    return size / (scale or size) if size > 0 else 0.0


def steepness(g: Vector, z: Vector, along: float) -> float:
    """Return ||g|| relative to the part of the gradient g (p,) that stems from the data, along z.

    g = A^* v - A^* w, where w stems from the data and <z, A^* w> = <A z, w> = `along`: at a stationary point A^* w is
    A^* v, which is nearly along z, and to look along z takes no pass over A.
    """
    return relative(g, along / (float(np.linalg.norm(z)) or 1.0))


def predict_start(spec: PhaseRetrieval, options: Options) -> dict[str, float]:
    """Return the overlap of the start, which is the first iterate, in the limit of large m and p, for Gaussian A."""
    if not isinstance(spec, PhaseRetrieval):
        return {}
    overlap = start_overlap(spec.m / spec.p, spec.field, str(options["start"]), noise=spec.noise, data=spec.data)
    return {"predicted_start_overlap": overlap}


phase_entry = partial(
    SolverEntry,
    families=("phase-retrieval",),
    memory=0.05,
    # A dozen complex vectors, which masks and their magnitudes do not outweigh.
    matrix=lambda spec, options: 3 * spec.m,
    predict=predict_start,
)
