"""Greedy methods with a known sparsity: orthogonal and compressive matching pursuit, hard thresholding."""

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.linalg import hard_threshold
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver


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
    x, support, energy = np.zeros(A.shape[1]), np.empty(0, dtype=np.intp), float(y @ y) or 1.0
    while True:
        r = y - A @ x
        yield Iterate(x, objective=float(r @ r) / 2.0, residual=float(r @ r) / energy)
        if len(support) == min(problem.sparsity, *problem.shape):
            return Stop.FINISHED
        slopes = r @ A if problem.nonnegative else np.abs(r @ A)
        slopes[support] = -np.inf
        support = np.append(support, np.argmax(slopes))
        x = least_squares(A, y, support)


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
        # Twenty iterations without improvement count as a cycle.
        if min(objectives[-20:]) > min(objectives) or len(set(objectives[-2:])) < min(2, len(objectives)):
            return Stop.FINISHED
        merged = np.union1d(np.flatnonzero(x), np.flatnonzero(hard_threshold(r @ A, 2 * s)))
        x = hard_threshold(least_squares(A, y, merged), s)


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
            same = np.array_equal(np.flatnonzero(following), support)
            if same or step * float(np.sum((A @ d) ** 2)) <= 0.99 * float(d @ d):
                break
            step /= 2.0
        yield Iterate(x, objective=float(r @ r) / 2.0, residual=moved(x, following))
        x = following


def least_squares(A: Array, y: Array, support: Indices) -> Array:
    """Return the x with this support (indices) that minimizes ||y - A x||."""
    x = np.zeros(A.shape[1])
    x[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return x
