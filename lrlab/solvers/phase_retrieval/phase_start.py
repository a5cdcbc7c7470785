"""Shared parts of solvers of phase retrieval: spectral initialization, its theory, phases, and their declaration."""

import math
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from lrlab.arrays import Array, Vector
from lrlab.linalg import unit
from lrlab.models.protocols import PhaseData
from lrlab.solver_entry import Generator, Options, choice, solver
from lrlab.theory.phase import LEFT_OUT, STARTS, softening, start_overlap, weigh

Start = Annotated[
    str, choice(*STARTS, help="weights of the second moment whose leading eigenvector is the initialization; or random")
]
KRYLOV = 40


def initial(problem: PhaseData, start: str, rng: Generator) -> Vector:
    """Return z (p,) whose length is the root of the mean intensity, E |<a, x>|^2 = ||x||^2, in the start's direction.

    The direction is the leading eigenvector of (1/m) sum T(s_i) a_i a_i^*, s_i = intensity over its mean, with the
    weights T of `theory.phase`. Two passes over A (m, p) per Lanczos step; no p x p matrix is made.
    """
    A, mean = problem.A, float(problem.intensity.mean())
    m, p = A.shape
    v = rng.standard_normal(p * A.dtype.itemsize // 8).view(A.dtype)
    # Responses of one size, or photons in a few pixels, may all have the weight 0.
    if start != "random" and mean > 0 and (T := start_weights(problem, start)).any():

        def product(u: Vector) -> Vector:
            problem.checkpoint(0.0)
            return adjoint(A, T * (A @ u.ravel())) / m

        if p <= KRYLOV:
            v = np.linalg.eigh(np.array([product(e) for e in np.eye(p, dtype=A.dtype)]).T)[1][:, -1]
        else:
            M = LinearOperator((p, p), matvec=product, dtype=A.dtype)
            v = eigsh(M, k=1, which="LA", v0=v, ncv=KRYLOV, tol=1e-5)[1][:, 0]
    return math.sqrt(mean) * unit(v)


def start_weights(problem: PhaseData, start: str) -> Array:
    """Return the weights T (m,) of the responses, which are not all 0, for a start other than "random"."""
    (m, p), s = problem.shape, problem.intensity / problem.intensity.mean()
    cut = float(np.quantile(s, LEFT_OUT.get(start, 0.0)))
    return weigh(start, s, cut, softening("complex" if np.iscomplexobj(problem.A) else "real", m / p))


def adjoint(A: Any, u: Vector) -> Vector:
    """Return A^* u (p,) without a conjugated copy of A (m, p)."""
    return (u.conj() @ A).conj()


def phases(u: Vector) -> Vector:
    """Return u / |u| entry by entry, 1 for zeros of u."""
    size = np.abs(u)
    return np.where(size > 0, u, 1.0) / np.where(size > 0, size, 1.0)


def steepness(g: Vector, z: Vector, along: float) -> float:
    """Return ||g|| relative to the part of the gradient g (p,) that stems from the data, along z.

    g = A^* v - A^* w, w stemming from the data and <z, A^* w> = <A z, w> = `along`: at a stationary point A^* w is A^*
    v, which is nearly along z, and to look along z takes no pass over A. 0 if g is 0.
    """
    size = float(np.linalg.norm(g))
    return size / (along / (float(np.linalg.norm(z)) or 1.0) or size) if size > 0 else 0.0


def predict_start(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlap of the start, which is the first iterate, for large m and p, for Gaussian A."""
    if spec.model != "phase-retrieval":
        return {}
    overlap = start_overlap(spec.m / spec.p, spec.field, str(options["start"]), noise=spec.noise, data=spec.data)
    return {"predicted_start_overlap": overlap}


# Memory: a dozen complex vectors, which masks and their magnitudes do not outweigh.
phase_solver = partial(
    solver,
    family=("phase-retrieval", "coded-diffraction"),
    memory=0.05,
    matrix=lambda spec, options: 3 * spec.m,
    predict=predict_start,
)
