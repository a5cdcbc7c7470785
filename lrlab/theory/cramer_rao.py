r"""Cramer-Rao bounds: of matrices of rank k from linear measurements, and of an image from photon counts.

Matrices: an unbiased estimate from b = A(W) + sigma e has E ||W-hat - W||_F^2 >= sigma^2 tr I^-1 with I = J^T J; the
columns of J are A(T) for an orthonormal basis T of the tangent space at W, and the bound holds for any parametrization
of the manifold of rank k.

Counts N_i ~ Poisson(c |<a_i, x>|^2): their information on x along a direction d is sum_i (dl_i)^2 / l_i with
l_i = c |<a_i, x>|^2, which is 4 c sum_i Re(conj(u_i) <a_i, d>)^2, u_i the phase of <a_i, x>: a form in the real and
imaginary parts of d that vanishes along i x, the global phase. An unbiased estimate, turned to its nearest phase, has
E ||x-hat - x||^2 >= tr I^+, the trace of the pseudo-inverse. That is the mean of <v, I^+ v> over vectors v of random
signs (Hutchinson 1990), each by conjugate gradients, so that I is never formed.

References: Tang & Nehorai (2011), "Lower bounds on the mean-squared error of low-rank matrix reconstruction", Theorem
1; Kay (1993), "Fundamentals of statistical signal processing: estimation theory", section 3.9.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, cg

from lrlab.arrays import Array, Vector
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator


def least_image_error(A: LinearOperator, x: Vector, photons: float, rng: Generator) -> float:
    """Return the bound on the root mean square of ||x-hat - x|| / ||x|| at counts of mean `photons` for ||x|| = 1.

    Infinite if conjugate gradients do not converge: the counts do not determine x.
    """
    (_, p), Ax = A.shape, A @ x
    u = np.exp(1j * np.angle(Ax))

    def product(d: Vector) -> Vector:
        g = A.rmatvec(u * (u.conj() * (A @ (d[:p] + 1j * d[p:]))).real)
        return np.concatenate([g.real, g.imag])

    information = LinearOperator((2 * p, 2 * p), matvec=product, dtype=float)
    phase = np.concatenate([-x.imag, x.real]) / np.linalg.norm(x)
    # So many random signs in all give the trace to about a hundredth.
    count, total = math.ceil(2**14 / p), 0.0
    for _ in range(count):
        v = rng.choice((-1.0, 1.0), 2 * p)
        v -= (phase @ v) * phase
        # The error of a solution affects the trace in second order only.
        solution, failed = cg(information, v, rtol=1e-3, maxiter=2000)
        total += math.inf if failed else float(v @ solution)
    return math.sqrt(total / count / (4.0 * photons)) / float(np.linalg.norm(x))


def least_error(operator: Operator, W: LowRank, noise: float, weights: Array | float = 1.0) -> float:
    """Return the bound on the root mean square of ||W-hat - W||_F / ||W||_F; infinite for singular I.

    weights: (m,), for responses other than numbers with this noise: the root of their information relative to such
    numbers. One product with the data per unknown, k (d1 + d2 - k) of them, or k (2p - k + 1) / 2 for symmetric W.
    """
    J = np.array(list(images(operator, W)), float) * weights
    s = np.linalg.svd(J, compute_uv=False)
    if J.shape[0] > J.shape[1] or s[-1] <= 1e-12 * s[0]:
        return float("inf")
    return noise * float(np.sqrt(np.sum(s**-2.0))) / float(np.linalg.norm(W.s))


def images(operator: Operator, W: LowRank) -> Iterator[Array]:
    """Yield A(T) for an orthonormal basis of the tangent space {A V^T + U B^T}, for symmetric W {A U^T + U A^T}."""
    U, V, k = W.U, W.V, len(W.s)
    P, Q = operator.left(U), operator.right(V)
    if operator.symmetric:
        beyond = operator.left(_complement(U))
        for a in range(k):
            yield operator.pair(P[:, [a]], P[:, [a]])
            for column in np.hstack([P[:, :a], beyond]).T:
                yield np.sqrt(2.0) * operator.pair(column[:, None], P[:, [a]])
        return
    left, right = operator.left(np.eye(len(U))), operator.right(_complement(V))
    for a in range(k):
        for column in left.T:
            yield operator.pair(column[:, None], Q[:, [a]])
        for column in right.T:
            yield operator.pair(P[:, [a]], column[:, None])


def _complement(U: Array) -> Array:
    """Return an orthonormal basis (d, d - k) of the orthogonal complement of the columns of U (d, k)."""
    return np.linalg.qr(U, mode="complete")[0][:, U.shape[1] :]
