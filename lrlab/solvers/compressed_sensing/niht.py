"""Normalized iterative hard thresholding."""

import numpy as np
from numpy.random import Generator

from lrlab.linalg import hard_threshold
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver

SHRINK, SAFE = 2.0, 0.99
"""Division of a step that is too long, and the fraction of the largest safe step."""


@sparse_solver(oracle="sparsity", memory=0.1, max_iter=1000)
def niht(problem: SparseData, *, rng: Generator) -> Iterates:
    r"""Normalized hard thresholding (NIHT).

    Gradient steps that keep the s largest entries, with the step that is exact while the support stays.

    .. math:: x \leftarrow T_s\bigl(x + \mu A^\top (y - A x)\bigr), \qquad
        \mu = \frac{\|g_S\|^2}{\|A_S g_S\|^2}, \quad g = A^\top (y - A x)

    minimize    ||y - A x||^2 / 2  over ||x||_0 <= s
    start       x = 0, S the s largest entries of A^T y
    converges   to a local minimum: if S changes, mu is halved until mu <= .99 ||d||^2 / ||A d||^2 for the change d
    cost        four passes over A (n, p)

    Reference: Blumensath & Davies (2010), "Normalized iterative hard thresholding: guaranteed stability and
    performance", Algorithm 1.
    """
    A, y, s = problem.A, problem.y, problem.sparsity
    x = np.zeros(A.shape[1])
    while True:
        r = y - A @ x
        g = r @ A
        support = np.flatnonzero(x if x.any() else hard_threshold(g, s))
        step = float(g[support] @ g[support]) / (float(np.sum((A[:, support] @ g[support]) ** 2)) or 1.0)
        while True:
            following = hard_threshold(x + step * g, s)
            d = following - x
            if np.array_equal(np.flatnonzero(following), support) or not d.any():
                break
            if step <= SAFE * float(d @ d) / float(np.sum((A @ d) ** 2)):
                break
            step /= SHRINK
        yield Iterate(x, objective=float(r @ r) / 2.0, residual=moved(x, following))
        x = following
