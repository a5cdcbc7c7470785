"""AP-ROM: projected gradient descent for polynomial networks, with approximate projections."""

import math
from functools import partial
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import leading, nearest, random_block
from lrlab.operators.operator import Moment
from lrlab.solver_entry import Generator, InputError, Iterates, Options, choice, number, solver
from lrlab.solvers.network.debiased import Step, StepRule, first_point, iterate, stepped


def refuse_wide(spec: Any, options: Options) -> None:
    """Refuse ranks above p / 2: a head of rank 2r would be everything."""
    p, r = spec.size[0], spec.given_rank
    if 2 * r > p:
        raise InputError("r", f"at most p / 2 = {p / 2:g} for this solver", r, "lower r or raise p, or take ep-rom")


@solver(models="polynomial-network", oracle="rank", memory=0.2, refuse=refuse_wide)
def ap_rom(
    problem: LowRankData,
    *,
    head: Annotated[
        str, choice("tangent", "one-sided", help="along L and a head of the rest; one-sided: as printed in Algorithm 2")
    ] = "tangent",
    blocks: Annotated[int, number(0, 20, "blocks of the Krylov space; 0: log p, as in the paper's guarantee")] = 2,
    step_rule: StepRule = "adaptive",
    step: Step = 1.0,
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
                (`tangent`, not in the paper); or (P G + G P) / 2, P projecting on a head of rank 2r of G (`one-sided`)
    tail        T: the nearest matrix of rank r, exactly, on the columns of L and H(G)
    converges   `tangent`: as EP-ROM does, to the same L, as both stand still if the tangent part of G is 0. With noise,
                or few samples, the leading directions of G belong to the noise: at p = 100, r = 5, m = 8500, noise .1
                the paper's head leaves 1.04 to 1.42 times the error of least squares on the true tangent space after 60
                iterations, up to 1.30 times after 300; `tangent` 1.00 after 20
    cost        `blocks` + 1 products G V of two passes over X (m, p) each, never a p x p matrix

    (P G + G P) / 2 is the part of the paper's P G that A depends on. The paper takes q = Theta(log(p) / sqrt(eps))
    blocks; 2 need as few iterations. Iterates as in `ep_rom`.

    Reference: Soltani & Hegde (2018), Algorithm 2 (AP-ROM), Algorithms 3 and 4 (MBK-SVD).
    """
    A, b, r = problem.operator, problem.b, problem.rank
    depth, eta = blocks or max(1, math.ceil(math.log(A.shape[0]))), step if step_rule == "fixed" else None
    at = first_point(A, b, nearest(A.moment(b), r, rng, formed=False), eta)
    lowest = at.objective
    while True:
        G = A.moment(at.d)
        GU = G.times(at.W.U, at.P)
        Z, F = tangent_head(G, at.W.U, GU, depth, rng) if head == "tangent" else one_sided_head(G, r, depth, rng)
        new, taken = stepped(A, b, at, GU, eta, lowest, partial(tail, at.W, Z, F))
        yield iterate(b, at, new.W, taken, f"Step {taken:.3g}.")
        at, lowest = new, min(lowest, new.objective)


def one_sided_head(G: Moment, r: int, depth: int, rng: Generator) -> tuple[Array, Array]:
    """Return Z (p, 2r) and F = G Z / 2 of the paper's head: Algorithms 3 and 4 with one product with G per block."""
    W, GZ = leading(G.matmat, random_block(G.shape[0], 2 * r, rng, G.dtype), 2 * r, blocks=depth + 1)
    return W.U, GZ / 2


def tangent_head(G: Moment, U: Array, GU: Array, depth: int, rng: Generator) -> tuple[Array, Array]:
    """Return Z (p, 2r), U next to a head of the rest (I - U U^T) G (I - U U^T), and F: H(G) = Z F^T + F Z^T."""
    outside = lambda V: V - U @ (U.T @ V)  # noqa: E731
    start = outside(random_block(len(U), U.shape[1], rng, U.dtype))
    W, image = leading(lambda V: outside(G @ outside(V)), start, U.shape[1], blocks=depth + 1)
    Z, GZ = np.hstack([U, W.U]), np.hstack([GU, image + U @ (GU.T @ W.U)])
    return Z, GZ - Z @ ((Z.T @ GZ) / 2)


def tail(L: LowRank, Z: Array, F: Array, eta: float) -> LowRank:
    """Return the nearest matrix of rank r to L - eta H(G), which is U diag(s) U^T - eta (Z F^T + F Z^T)."""
    Q = np.linalg.qr(np.hstack([L.U, Z, F]))[0]
    u, z, f = Q.T @ L.U, Q.T @ Z, Q.T @ F
    return lowrank.from_core(Q, (u * L.s) @ u.T - eta * (z @ f.T + f @ z.T), len(L.s))
