"""Convex recovery of low-rank matrices: least squares with a nuclear-norm penalty."""

import math
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.solver_entry import Generator, Iterate, Iterates, number, solver
from lrlab.solvers.methods.proximal import FastaState, fasta, lowered

Share = Annotated[
    float, number(1e-8, 1, "weight of the nuclear norm over ‖A*(b)‖, which gives 0", symbol="μ/‖A*(b)‖", scale="log")
]


@solver(family="low-rank", matrix=lambda spec, options: math.prod(spec.size))
def nuclear_norm(problem: LowRankData, *, mu_share: Share = 1e-3, rng: Generator) -> Iterates:
    r"""Nuclear norm (convex, FASTA).

    Convex least squares with a nuclear-norm penalty: needs no rank, no start; forms whole matrices.

    .. math:: W \leftarrow S_{t \mu}\bigl(W - t\, \mathcal A^*(\mathcal A(W) - b)\bigr), \qquad
        S_\tau \text{ lowers all singular values by } \tau

    minimize    F(W) = ||A(W) - b||^2 / 2 + mu ||W||_*,  mu = mu_share ||A*(b)||, over all W (d1, d2)
    start       W = 0, the solution from mu = ||A*(b)|| on
    update      W <- S(W - t A*(A(W) - b), t mu_k): S lowers all singular values (of a symmetric W the eigenvalues, in
                size) to 0 at the least; t and the line search as in FASTA
    path        mu_k falls from ||A*(b)|| / 2 to mu, by a factor as soon as an iterate is nearly optimal for mu_k, so
                that ranks stay low on the way
    converges   to the minimum, for every A
    cost        one singular value decomposition of a d1 x d2 matrix, which is formed

    Larger mu means lower rank and larger bias: without noise take a small mu_share, with noise one that makes mu about
    ||A*(noise)||. The rank of the solution is usually above the true one. Yields endlessly: objective F(W) with the
    last mu, residual = ||A*(A(W) - b) + mu Z|| / max(||A*(A(W) - b)||, ||mu Z||), Z a subgradient of the nuclear norm
    at W.

    Reference: Goldstein, Studer, Baraniuk (2014), FASTA; the path: Ma, Goldfarb, Chen (2011), "Fixed point and
    Bregman iterative methods for matrix rank minimization".
    """
    operator, b = problem.operator, problem.b
    if not b.any():
        yield Iterate(lowrank.zero(operator.shape, 1, operator.dtype), 0.0, 0.0, "All measurements are 0: W = 0.")
        return
    pulled = operator.adjoint(b)
    # The curvature along the leading direction u v^T of the first step.
    u, s, vt = lowrank.from_dense(pulled, 1)
    zero_from = float(s[0])
    mu, mu_k = mu_share * zero_from, max(0.5, mu_share) * zero_from
    step = 1.0 / max(float(np.linalg.norm(operator(LowRank(u, np.ones_like(s), vt)))) ** 2, 1e-300)
    rounding = 16 * float(np.finfo(b.dtype).eps) * float(np.linalg.norm(pulled))
    decomposed = lowrank.from_symmetric if operator.symmetric else lowrank.from_dense

    def value(W: LowRank) -> tuple[float, Array]:
        d = operator(W) - b
        return 0.5 * float(np.linalg.norm(d)) ** 2, d

    prox, zero = lambda V, t: lowered(decomposed(V), t * mu_k), lowrank.zero(operator.shape, 1, operator.dtype)
    for state in fasta(value, operator.adjoint, prox, zero, step):
        Z = state.z / state.z.dtype.type(mu_k)
        size = float(np.linalg.norm(state.x.s, 1))
        note = f"Rank {np.count_nonzero(state.x.s)}."
        note = note if mu_k == mu else f"{note} On the way, the weight is {mu_k / mu:.3g} times the last."
        yield Iterate(state.x, state.f + mu * size, optimality(state, mu, Z, rounding), note)
        # Looser steps of the path cost more at its end.
        if mu_k > mu and optimality(state, mu_k, Z, rounding) <= 0.03:
            mu_k = max(0.3 * mu_k, mu)


def optimality(state: FastaState, mu: float, Z: Array, rounding: float) -> float:
    """Return ||gradient + mu Z||_F relative to the larger of the two terms; 0 if it is rounding error."""
    g, pull = state.gradient, Z * Z.dtype.type(mu)
    size = max(float(np.linalg.norm(g)), float(np.linalg.norm(pull)))
    rest = float(np.linalg.norm(g + pull))
    return rest / size if rest > rounding else 0.0
