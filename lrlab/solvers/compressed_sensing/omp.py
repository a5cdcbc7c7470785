"""Orthogonal matching pursuit."""

import numpy as np
from numpy.random import Generator

from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.compressed_sensing.steps import SparseData, least_squares, sparse_solver


@sparse_solver(oracle="sparsity", memory=0.5, max_iter=2000)
def omp(problem: SparseData, *, rng: Generator) -> Iterates:
    r"""Orthogonal matching pursuit (OMP).

    Adds the column that explains most of the rest, fits all columns chosen so far, and ends after s of them.

    .. math:: S \leftarrow S \cup \arg\max_j |\langle a_j, r\rangle|, \quad
        x_S \leftarrow \arg\min_z \|y - A_S z\|, \quad r \leftarrow y - A_S x_S

    minimize    ||y - A x||^2 / 2  over ||x||_0 <= s, greedily
    start       S empty
    converges   after s steps, to a local choice that it never takes back
    cost        one pass over A and a least-squares problem with |S| columns

    Reference: Pati, Rezaiifar & Krishnaprasad (1993), "Orthogonal matching pursuit"; Tropp & Gilbert (2007), "Signal
    recovery from random measurements via orthogonal matching pursuit".
    """
    A, y = problem.A, problem.y
    x, support, half = np.zeros(A.shape[1]), np.empty(0, dtype=np.intp), float(y @ y) / 2.0 or 1.0
    for _ in range(min(problem.sparsity, *problem.shape)):
        r = y - A @ x
        yield Iterate(x, objective=float(r @ r) / 2.0, residual=float(r @ r) / 2.0 / half)
        slopes = r @ A if problem.nonnegative else np.abs(r @ A)
        slopes[support] = -np.inf
        support = np.append(support, np.argmax(slopes))
        x = least_squares(A, y, support)
    r = y - A @ x
    yield Iterate(x, objective=float(r @ r) / 2.0, residual=float(r @ r) / 2.0 / half)
    return Stop.FINISHED
