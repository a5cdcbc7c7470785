"""Compressive sampling matching pursuit."""

import numpy as np
from numpy.random import Generator

from lrlab.linalg import hard_threshold
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.compressed_sensing.steps import SparseData, least_squares, sparse_solver

PATIENCE = 20
"""Iterations without improvement that count as a cycle."""


@sparse_solver(oracle="sparsity", memory=1.5)
def cosamp(problem: SparseData, *, rng: Generator) -> Iterates:
    r"""Compressive matching pursuit (CoSaMP).

    Merges the support with the 2s columns that explain most of the rest, fits, and keeps the s largest entries.

    .. math:: S \leftarrow \operatorname{supp}(x) \cup \operatorname{supp} T_{2s}\bigl(A^\top (y - A x)\bigr), \qquad
        x \leftarrow T_s\Bigl(\arg\min_{z:\, \operatorname{supp} z \subseteq S} \|y - A z\|\Bigr)

    minimize    ||y - A x||^2 / 2  over ||x||_0 <= s, with errors of the support that later steps correct
    start       x = 0
    converges   without noise linearly to x if A nearly preserves lengths of 4s-sparse vectors; it ends if it stands
                still or cycles; residual: ||y - A x||^2 / ||y||^2
    cost        two passes over A (n, p) and a least-squares problem with at most 3s columns

    Reference: Needell & Tropp (2009), "CoSaMP: iterative signal recovery from incomplete and inaccurate samples",
    Algorithm 2.1.
    """
    A, y, s = problem.A, problem.y, problem.sparsity
    x, energy, objectives = np.zeros(A.shape[1]), float(y @ y) or 1.0, list[float]()
    while True:
        r = y - A @ x
        objectives.append(float(r @ r) / 2.0)
        yield Iterate(x, objective=objectives[-1], residual=float(r @ r) / energy)
        if min(objectives[-PATIENCE:]) > min(objectives) or len(set(objectives[-2:])) < min(2, len(objectives)):
            return Stop.FINISHED
        merged = np.union1d(np.flatnonzero(x), np.flatnonzero(hard_threshold(r @ A, 2 * s)))
        x = hard_threshold(least_squares(A, y, merged), s)
