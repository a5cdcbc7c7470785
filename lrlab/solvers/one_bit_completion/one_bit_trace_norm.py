"""1-bit matrix completion by the likelihood under a bound on the nuclear norm (Davenport et al. 2014)."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import BitEntries
from lrlab.parameters import Parameter, choice
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import solver
from lrlab.solvers.methods.proximal import Split, fasta
from lrlab.solvers.one_bit_completion.one_bit_factors import first_step, losses


@solver(
    family="one-bit-completion",
    oracle=("largest entry", "link", "noise"),
    oracle_with=lambda options: ("trace norm" if options["radius"] == "table" else "rank",),
    matrix=lambda spec, options: spec.n1 * spec.n2,
)
def one_bit_trace_norm(
    problem: BitEntries,
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
    both = BoundedTraceBall(most, problem.largest)

    def value(W: LowRank) -> tuple[float, Array]:
        loss, slope = losses(problem, A(W))
        return loss, slope

    def prox(V: Array, t: float) -> LowRank:
        return both.nearest(V, t) if bounded else trace_ball(V, most)

    split = Split(value, A.adjoint, prox, LowRank.dense)
    for state in fasta(split, lowrank.zero(size, 1), first_step(problem)):
        note = f"Rank {np.count_nonzero(state.x.s)}; nuclear norm {state.x.s.sum() / most:.3g} of its bound."
        rest, scale = (float(np.linalg.norm(part)) for part in (state.gradient + state.z, state.gradient))
        yield Iterate(state.x, state.f, rest / scale if scale else 0.0, note)


def simplex(sizes: Array, total: float) -> Array:
    """Return the nearest numbers >= 0 whose sum is at most `total` to sizes (k,) >= 0 in falling order."""
    if sizes.sum() <= total:
        return sizes
    lowered = (np.cumsum(sizes) - total) / np.arange(1, len(sizes) + 1)
    return np.maximum(sizes - lowered[np.flatnonzero(sizes > lowered)[-1]], 0.0)


def trace_ball(V: Array, radius: float) -> LowRank:
    """Return the nearest matrix of nuclear norm at most `radius`."""
    W = lowrank.from_dense(V)
    s = simplex(W.s, radius)
    return LowRank(W.U, s, W.V).truncated(max(int(np.count_nonzero(s)), 1))


class BoundedTraceBall:
    """Nearest matrices of nuclear norm at most `radius` and entries at most `largest`, for a sequence of near problems.

    By Dykstra's alternation of both projections, which ascends the dual: it begins with the multipliers of the entries
    that were last found, scaled to the weight t of the distance ||W - V||^2 / (2 t).
    Reference: Boyle & Dykstra (1986), "A method for finding projections onto the intersection of convex sets".
    """

    def __init__(self, radius: float, largest: float) -> None:
        self.radius, self.largest, self.multipliers = radius, largest, 0.0

    def nearest(self, V: Array, t: float) -> LowRank:
        """Return the matrix nearest to V; its entries exceed the bound by 1e-4 of it, or what 100 rounds leave."""
        q = t * self.multipliers
        for _ in range(100):
            W = trace_ball(V - q, self.radius)
            Y = W.dense()
            X = np.clip(Y + q, -self.largest, self.largest)
            q = Y + q - X
            if np.abs(X - Y).max() <= 1e-4 * self.largest:
                break
        self.multipliers = q / t
        return W
