"""Alternating least squares: completion of a table of a known rank from some of its entries."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import unsettled
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.low_rank.requirements import penalty_note, ranked_entry, refuse_features
from lrlab.solvers.low_rank.starts import spectral_start


def als(
    problem: LowRankData,
    *,
    ridge: Annotated[float, Parameter(meaning="weight of (‖U‖² + ‖V‖²) / 2 in the objective", low=0, high=1e9)] = 0.1,
    rng: Generator,
) -> Iterates:
    r"""Complete a table W (n1, n2) of a known rank k from its entries b at m places.

    minimise    F(U, V) = sum over places (u_i^T v_j - b_ij)^2 / 2 + ridge (||U||_F^2 + ||V||_F^2) / 2
    start       the leading singular triples of the zero-filled table, shared evenly by U and V
    update      each row of V, then each of U, by its own k x k least squares; minimum norm where it is singular
    converges   F never rises. With a ridge its minima over large enough k are those of the nuclear norm

    Yields after each sweep: objective F; residual the change of the fit in the sweep relative to the misfit, 0 when
    the misfit is rounding error. Memory O((n1 + n2) k^2).
    Reference: Zhou, Wilkinson, Schreiber, Pan (2008), "Large-scale parallel collaborative filtering for the Netflix
    prize", section 3; Koren, Bell, Volinsky (2009), "Matrix factorization techniques for recommender systems".
    """
    A, b = problem.operator, problem.b
    W = spectral_start(A, b, problem.rank, rng)
    U = W.U * np.sqrt(W.s)
    fit = np.zeros_like(b)
    while True:
        V = A.right_map(A.left(U)).solve(b, ridge)
        U = A.left_map(A.right(V)).solve(b, ridge)
        fit, before = A.pair(A.left(U), A.right(V)), fit
        objective = (np.vdot(fit - b, fit - b) + ridge * (np.vdot(U, U) + np.vdot(V, V))) / 2
        note = penalty_note("ridge", ridge, "", fit - b, b) if ridge else ""
        yield Iterate(lowrank.from_product(U, V), float(objective), unsettled(fit - b, fit - before, b), note)


ENTRY = ranked_entry(
    title="Alternating least squares",
    update=r"v_j \leftarrow \arg\min_v \sum_{i \in \Omega_j} (u_i^\top v - b_{ij})^2 + \rho \|v\|^2, \qquad"
    r" u_i \leftarrow \arg\min_u \sum_{j \in \Omega_i} (u^\top v_j - b_{ij})^2 + \rho \|u\|^2",
    summary="Completion without features: every row of each factor by its own small least squares, with a ridge.",
    run=als,
    models=("inductive-completion",),
    memory=0.7,
    refuse=refuse_features,
)
