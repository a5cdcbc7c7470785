"""1-bit matrix completion by the likelihood under a bound on the nuclear norm (Davenport et al. 2014)."""

import math
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.solver_entry import Generator, Iterate, Iterates, Parameter, choice, solver
from lrlab.solvers.methods.proximal import fasta, lowered
from lrlab.solvers.one_bit_completion.one_bit_factors import first_step, losses


@solver(
    family="one-bit-completion",
    oracle=("largest entry", "link", "noise"),
    oracle_with=lambda options: ("trace norm" if options["radius"] == "table" else "rank",),
    matrix=lambda spec, options: spec.n1 * spec.n2,
)
def one_bit_trace_norm(
    problem: Any,
    *,
    bounded: Annotated[bool, Parameter(meaning="bound the entries by the largest of the table, too")] = True,
    radius: Annotated[
        str,
        choice(
            *("table", "rank"),
            help="bound of the nuclear norm: the one of the table; or √(k n₁ n₂) times the largest entry",
        ),
    ] = "table",
    rng: Generator,
) -> Iterates:
    r"""Nuclear norm (convex, 1-bit).

    The likelihood under a bound on the nuclear norm and on the entries: convex, no initialization.

    .. math:: W \leftarrow P\bigl(W - t \nabla F(W)\bigr), \quad P \text{ onto } \|W\|_* \le T,\ |W_{ij}| \le \alpha

    minimize    F(W) = mean of -log P(y_ij | W_ij) over tables W (n1, n2) with ||W||_* <= T, and with `bounded` all
                |W_ij| <= a, the size of the table's largest entry. T is the table's own nuclear norm, or the paper's a
                sqrt(k n1 n2), which no table of rank k exceeds, and some times larger if most entries are smaller than
                a
    start       W = 0
    update      t and the line search as in FASTA. P lowers the singular values; with the bound of the entries by
                Dykstra's alternation of both projections
    converges   to the minimum: the problem is convex
    cost        a singular value decomposition of n1 x n2 per projection

    Yields endlessly: objective F, in the end at most its value at the ground truth; residual ||grad F + Z|| / ||grad
    F||, Z normal to the set at W. With little noise the gradient falls by many orders of magnitude while W still moves,
    so that its size at 0 would be no scale.

    Reference: Davenport, Plan, van den Berg, Wootters (2014), "1-bit matrix completion", eq. 3 and section 4.1.
    """
    A, size = problem.operator, problem.operator.shape
    most = problem.trace_norm if radius == "table" else problem.largest * math.sqrt(problem.rank * math.prod(size))
    # Multipliers of the bound on the entries, over the step t: they change little between iterations.
    multipliers: Array = np.zeros(size)

    def prox(V: Array, t: float) -> LowRank:
        nonlocal multipliers
        if not bounded:
            return trace_ball(V, most)
        W, q = both_bounds(V, t * multipliers, most, problem.largest)
        multipliers = q / t
        return W

    value = lambda W: losses(problem, A(W))  # noqa: E731
    for state in fasta(value, A.adjoint, prox, lowrank.zero(size, 1), first_step(problem)):
        note = f"Rank {np.count_nonzero(state.x.s)}; nuclear norm {state.x.s.sum() / most:.3g} of its bound."
        rest, scale = (float(np.linalg.norm(part)) for part in (state.gradient + state.z, state.gradient))
        yield Iterate(state.x, state.f, rest / scale if scale else 0.0, note)


def trace_ball(V: Array, radius: float) -> LowRank:
    """Return the nearest matrix of nuclear norm at most `radius`: its singular values are the nearest of that sum."""
    W = lowrank.from_dense(V)
    levels = (np.cumsum(W.s) - radius) / np.arange(1, len(W.s) + 1)
    return lowered(W, 0.0 if W.s.sum() <= radius else levels[np.flatnonzero(W.s > levels)[-1]])


def both_bounds(V: Array, q: Array, radius: float, largest: float) -> tuple[LowRank, Array]:
    """Return the matrix nearest to V of nuclear norm at most `radius` and entries at most `largest`, and multipliers.

    By Dykstra's alternation of both projections, which ascends the dual from the multipliers q of the entries; these
    exceed their bound by 1e-4 of it, or what 100 rounds leave.
    Reference: Boyle & Dykstra (1986), "A method for finding projections onto the intersection of convex sets".
    """
    for _ in range(100):
        W = trace_ball(V - q, radius)
        Y = W.dense()
        X = np.clip(Y + q, -largest, largest)
        q = Y + q - X
        if np.abs(X - Y).max() <= 1e-4 * largest:
            break
    return W, q
