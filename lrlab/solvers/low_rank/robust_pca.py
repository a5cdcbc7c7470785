"""Robust principal component analysis: a table of low rank plus a sparse one, by convex optimisation."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.protocols import LowRankData
from lrlab.models.table_spec import TableSpec
from lrlab.operators.entries import Entries
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.low_rank.requirements import refuse_features
from lrlab.solvers.methods.matrix_memory import square_bytes
from lrlab.solvers.methods.proximal import shrink_singular_values

PENALTY, RELAXED = 3.0, 1.6
"""The penalty mu over m / (4 sum |b|), and the extrapolation: of 1, 3 and 10 with 1 and 1.6 the fastest over tables."""


def robust_pca(
    problem: LowRankData,
    *,
    weight: Annotated[
        float,
        Parameter(
            meaning="weight of the gross errors, in 1 / √(share of observed entries · larger side)",
            symbol="λ √(ρ n)",
            low=0.01,
            high=100,
            scale="log",
        ),
    ] = 1.0,
    rng: Generator,
) -> Iterates:
    r"""Complete a table W (n1, n2) of low rank from entries b at m places of which some are grossly wrong.

    minimise    F(W) = ||W||_* + lambda sum over places |W_ij - b_ij|,  lambda = weight / sqrt(rho max(n1, n2)),
                rho = m / (n1 n2)
    update      W <- S(B - E + Y / mu, 1 / mu), S lowers singular values to 0 at the least
                R = 1.6 W - 0.6 (B - E)
                E <- B - R + Y / mu: at the observed places lowered in size by lambda / mu, to 0 at the least
                Y <- Y + mu (B - R - E),  B = b at the places and 0 elsewhere
    start       0; mu = 3 m / (4 sum |b|)
    converges   to the minimum, for every b. With weight 1 it is the true table with high probability, of a rank and
                share of errors at random places up to constants, where singular vectors are spread evenly

    Tables n1 x n2 are formed, and one is decomposed an iteration. Neither the rank nor the share of errors is used; the
    rank is what comes out. Under noise in the other entries W is biased as with any nuclear norm.
    Yields endlessly: objective F at W; residual the larger of ||B - W - E|| / ||b|| and ||Z - Y|| / ||Y||: Y is a
    subgradient of the second term at E, and Z = Y_old + mu (B - W - E_old) one of the nuclear norm at W. Where W is not
    exact this falls slowly, and runs end at their limit.
    Reference: Candes, Li, Ma, Wright (2011), "Robust principal component analysis?", Algorithm 1 and, for missing
    entries, section 1.6; Boyd, Parikh, Chu, Peleato, Eckstein (2011), "Distributed optimization and statistical
    learning via the alternating direction method of multipliers", sections 3.3 and 3.4.3.
    """
    A, b = problem.operator, problem.b
    assert isinstance(A, Entries)
    n1, n2 = A.shape
    if not b.any():
        yield Iterate(lowrank.zero(A.shape, 1), 0.0, 0.0, "All entries are 0: W = 0.")
        return
    level = weight / np.sqrt(len(b) / (n1 * n2) * max(n1, n2))
    places, size = (A.rows, A.columns), float(np.linalg.norm(b))
    B, mu = A.adjoint(b), PENALTY * len(b) / (4.0 * float(np.abs(b).sum()))
    E, Y = np.zeros_like(B), np.zeros_like(B)
    while True:
        A.checkpoint(1.0)
        W = shrink_singular_values(B - E + Y / mu, 1.0 / mu)
        rest = B - W.dense()
        Z, relaxed = Y + mu * (rest - E), RELAXED * rest + (1.0 - RELAXED) * E
        # What is not observed may be anything: E takes it up, and Y is 0 there.
        free = relaxed + Y / mu
        E = free.copy()
        E[places] = lowered(free[places], level / mu)
        Y = mu * (free - E)
        missed = float(np.linalg.norm(rest - E)) / size
        apart = float(np.linalg.norm(Z - Y)) / (float(np.linalg.norm(Y)) or 1.0)
        objective = float(W.s.sum()) + level * float(np.abs(rest[places]).sum())
        note = f"Rank {np.count_nonzero(W.s)}; {np.count_nonzero(E[places])} of {len(b)} entries are taken as wrong."
        yield Iterate(W, objective, max(missed, apart), note)


def lowered(x: Array, level: float) -> Array:
    """Return x with all sizes lowered by a level, to 0 at the least."""
    return np.sign(x) * np.maximum(np.abs(x) - level, 0.0)


def workspace(spec: TableSpec, options: Options) -> int:
    """Hold a dozen tables, and what their decomposition takes."""
    return square_bytes(spec, 20)


ENTRY = SolverEntry(
    title="Robust PCA (principal component pursuit)",
    update=r"W \leftarrow S_{1/\mu}(B - E + Y/\mu), \quad E_\Omega \leftarrow S_{\lambda/\mu}(B - W + Y/\mu)_\Omega,"
    r" \quad Y \leftarrow Y + \mu (B - W - E)",
    summary="Convex: nuclear norm plus sizes of misfits, for tables without features of which some entries are grossly "
    "wrong; needs neither the rank nor their share.",
    run=robust_pca,
    models=("inductive-completion",),
    max_iter=1000,
    workspace=workspace,
    refuse=refuse_features,
)
