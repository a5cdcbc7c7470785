r"""The Cramer-Rao bound of an image from photon counts N_i ~ Poisson(c |<a_i, x>|^2).

The information of the counts on x along a direction d is sum_i (dl_i)^2 / l_i with l_i = c |<a_i, x>|^2, which is
4 c sum_i Re(conj(u_i) <a_i, d>)^2, u_i the phase of <a_i, x>: a form in the real and imaginary parts of d that vanishes
along i x, the global phase. An unbiased estimate, turned to its nearest phase, has E ||x-hat - x||^2 >= tr I^+, the
trace of the pseudo-inverse. That is the mean of <v, I^+ v> over vectors v of random signs (Hutchinson 1990), each by
conjugate gradients, so that I is never formed.
Reference: Kay (1993), "Fundamentals of statistical signal processing: estimation theory", section 3.9.
"""

import math

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, cg

from lrlab.arrays import Vector

SIGNS = 2**15
"""Random signs in all vectors v together, which give the trace to about a hundredth."""


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
    count, total = math.ceil(SIGNS / (2 * p)), 0.0
    for _ in range(count):
        v = rng.choice((-1.0, 1.0), 2 * p)
        v -= (phase @ v) * phase
        # The error of a solution affects the trace in second order only.
        solution, failed = cg(information, v, rtol=1e-3, maxiter=2000)
        total += math.inf if failed else float(v @ solution)
    return math.sqrt(total / count / (4.0 * photons)) / float(np.linalg.norm(x))
