"""AP-ROM: projected gradient descent for polynomial networks, with approximate projections."""

import math
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import leading, nearest, random_block
from lrlab.operators.operator import Moment
from lrlab.parameters import InputError, choice, number
from lrlab.protocol import Iterates
from lrlab.solver_entry import Options, all_of, solver
from lrlab.solvers.network.debiased import Batches, Move, Step, StepRule, descent, refuse_batches


def refuse_wide(spec: Any, options: Options) -> None:
    """Refuse ranks above p / 2: a head of rank 2r would be everything."""
    p, r = spec.size[0], spec.given_rank
    if 2 * r > p:
        raise InputError("r", f"at most p / 2 = {p / 2:g} for this solver", r, "lower r or raise p, or take ep-rom")


@solver(models="polynomial-network", oracle="rank", memory=0.2, refuse=all_of(refuse_wide, refuse_batches))
def ap_rom(
    problem: LowRankData,
    *,
    head: Annotated[
        str,
        choice(
            "tangent",
            "two-sided",
            "one-sided",
            help="part of the gradient: along the current factors and a head of the rest; the paper's head of rank 2r; "
            "or one side of it, as printed",
        ),
    ] = "tangent",
    blocks: Annotated[
        int, number(0, 20, "blocks of the Krylov space of a head; 0: log p, as the paper's guarantee asks")
    ] = 2,
    oversampling: Annotated[int, number(0, 100, "columns of a Krylov block beyond the rank")] = 5,
    step_rule: StepRule = "adaptive",
    step: Step = 1.0,
    fresh_batches: Batches = 0,
    rng: Generator,
) -> Iterates:
    r"""AP-ROM (approximate projections).

    EP-ROM with a block Krylov head instead of the whole gradient; products only.

    .. math:: L \leftarrow T\bigl(L - \eta\, H(G)\bigr), \quad G = \tfrac1{2m} \mathcal A^*(d) - \tfrac12 \bar d\, I,
        \quad d = \mathcal A(L) - y,
        \quad H, T \text{ approximate projections}

    minimize    ||A(L) - b||^2 / 2  over symmetric L (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       the rank r part of the unbiased moment M of b, by block Krylov; times the adaptive step
    update      L <- T(L - eta H(G)),  G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b
    head        H(G) = P G + G P - P G P, P projecting on the columns of L and a head of rank r of the rest of G
                (`tangent`, not in the paper), or on a head of rank 2r of G, as in the paper (`two-sided`); (P G +
                G P) / 2 with the same P (`one-sided`, as printed)
    tail        T: the nearest matrix of rank r, exactly, on the columns of L and H(G)
    converges   `tangent`: as EP-ROM does, to the same L, as both stand still if the tangent part of G is 0. With noise,
                or few samples, the leading directions of G belong to the noise: at p = 100, r = 5, m = 8500, noise .1
                the paper's heads leave 1.04 to 1.42 times the error of least squares on the true tangent space after 60
                iterations, up to 1.30 times after 300; `tangent` 1.00 after 20
    cost        `blocks` + 1 products G V of two passes over X (m, p) each, never a p x p matrix

    (P G + G P) / 2 is the part of the paper's P G that A depends on. The paper takes q = Theta(log(p) / sqrt(eps))
    blocks; 2 need as few iterations. `fresh_batches` and iterates as in `ep_rom`.

    Reference: Soltani & Hegde (2018), Algorithm 2 (AP-ROM), Algorithms 3 and 4 (MBK-SVD).
    """
    A, r, tangent = problem.operator, problem.rank, head == "tangent"
    depth = blocks or max(1, math.ceil(math.log(A.shape[0])))

    def move(L: LowRank, G: Moment, GU: Array) -> Move:
        start = random_block(len(L.U), r if tangent else 2 * r, rng, A.dtype, over=oversampling)
        H = tangent_head(G, L.U, GU, start, depth) if tangent else wide_head(G, r, start, depth)
        return lambda eta: tail(L, H, eta, head)

    first = lambda M: nearest(M, r, rng, formed=False)  # noqa: E731
    return (yield from descent(problem, step_rule, step, fresh_batches, first, move))


def wide_head(G: Moment, r: int, start: Array, depth: int) -> tuple[Array, Array]:
    """Return Z (p, 2r) and G Z of the paper's head: Algorithms 3 and 4 with one product with G per block."""
    W, GZ = leading(G.matmat, start, 2 * r, blocks=depth + 1)
    return W.U, GZ


def tangent_head(G: Moment, U: Array, GU: Array, start: Array, depth: int) -> tuple[Array, Array]:
    """Return Z (p, 2r), which is U and a head of the rest (I - U U^T) G (I - U U^T), and G Z."""
    outside = lambda V: V - U @ (U.T @ V)  # noqa: E731
    W, image = leading(lambda V: outside(G @ outside(V)), outside(start), U.shape[1], blocks=depth + 1)
    return np.hstack([U, W.U]), np.hstack([GU, image + U @ (GU.T @ W.U)])


def tail(L: LowRank, head: tuple[Array, Array], eta: float, kind: str) -> LowRank:
    """Return the nearest matrix of rank r to L - eta H(G), which is U diag(s) U^T - eta (Z F^T + F Z^T)."""
    U, (Z, GZ) = L.U, head
    F = GZ / 2 if kind == "one-sided" else GZ - Z @ ((Z.T @ GZ) / 2)
    Q = np.linalg.qr(np.hstack([U, Z, F]))[0]
    u, z, f = Q.T @ U, Q.T @ Z, Q.T @ F
    return lowrank.from_core(Q, (u * L.s) @ u.T - eta * (z @ f.T + f @ z.T), len(L.s))
