"""Basis pursuit: the smallest l1 norm among all signals that fit exact data."""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from lrlab.parameters import InputError, number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver
from lrlab.theory.sparse_limits import soft


def refuse(spec: Any, options: Options) -> None:
    """Raise InputError for data that no signal of interest fits exactly."""
    if spec.noise or spec.bits:
        raise InputError("noise", "0 and bits 0 for basis-pursuit", spec.noise or spec.bits, "take lasso instead")


@sparse_solver(memory=2.5, max_iter=5000, refuse=refuse)
def basis_pursuit(
    problem: SparseData,
    *,
    step: Annotated[float, number(0.01, 100, "threshold relative to the measurements", scale="log")] = 1.0,
    rng: Generator,
) -> Iterates:
    r"""Basis pursuit (Douglas-Rachford).

    The l1 minimizer among all signals that fit the data, by thresholds and projections in turn.

    .. math:: x \leftarrow P_{A x = y}(v), \qquad v \leftarrow v + \eta(2 x - v; \gamma) - x

    minimize    ||x||_1  subject to A x = y, and x >= 0 if entries are known to be so
    start       v = A^+ y, the fit of the smallest l2 norm; gamma is `step` times ||y|| / sqrt(n)
    converges   to a minimizer; residual: relative distance between the projection and the threshold
    cost        two passes over a basis of the rows of A, orthonormal by one QR factorization

    Without noise x is recovered if n/p is above the Donoho-Tanner threshold of s/p (`theory.sparse_limits`).

    Reference: Chen, Donoho & Saunders (1998), "Atomic decomposition by basis pursuit"; Combettes & Pesquet (2007),
    "A Douglas-Rachford splitting approach to nonsmooth convex variational signal recovery".
    """
    Q, R = np.linalg.qr(problem.A.T)
    fit = Q @ np.linalg.lstsq(R.T, problem.y, rcond=None)[0]
    gamma, v = step * float(np.linalg.norm(problem.y)) / np.sqrt(len(problem.y)), fit
    while True:
        x = v - Q @ (Q.T @ v) + fit
        sparse = soft(2.0 * x - v, gamma, problem.nonnegative)
        yield Iterate(sparse, objective=float(np.abs(sparse).sum()), residual=moved(x, sparse))
        v = v + sparse - x
