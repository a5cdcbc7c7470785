"""Likelihood of bits of a table under a bound: on its trace norm, or on its rank."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import svds

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import BitEntries
from lrlab.operators.entries import Entries
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import SolverEntry
from lrlab.solvers.methods.balls import BoundedTraceBall, short_rows, trace_ball
from lrlab.solvers.methods.proximal import Split, fasta

CURVATURE = {"probit": 1.0, "logistic": 0.25}
"""Largest second derivative of a bit's loss in its margin."""
DECOMPOSED = 400**2
"""Tables of up to so many entries are decomposed whole."""


def one_bit_trace_norm(
    problem: BitEntries,
    *,
    bounded: Annotated[bool, Parameter(meaning="bound the entries by the largest of the table, too")] = True,
    radius: Annotated[
        str,
        Parameter(
            meaning="bound of the trace norm: that of the table; or √(k n₁ n₂) times the largest entry, which no table "
            "of rank k exceeds",
            choices=("table", "rank"),
        ),
    ] = "table",
    rng: Generator,
) -> Iterates:
    r"""Complete a table M (n1, n2) from bits y of its entries by the likelihood under a bound on the trace norm.

    minimise    F(W) = mean of -log P(y_ij | W_ij)  over ||W||_* <= T, and with `bounded` all |W_ij| <= a, the size of
                the table's largest entry. T is the table's own trace norm, or the paper's a sqrt(k n1 n2), which is
                some times larger where most entries are smaller than a
    start       W = 0
    update      W <- P(W - t grad F(W)), P the projection onto this convex set, t and the line search as in FASTA. P
                lowers the singular values; with the bound of the entries by Dykstra's alternation of both projections
    converges   to the minimum: the programme is convex

    Tables are formed, with one singular value decomposition for each projection. Yields endlessly: objective F, at
    most that of the truth in the end; residual ||grad F + Z|| / ||grad F||, Z normal to the set at W. With little noise
    the gradient falls by many orders of size while W still moves, so that its size at 0 would be no scale.
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
        note = f"Rank {np.count_nonzero(state.x.s)}; trace norm {state.x.s.sum() / most:.3g} of its bound."
        rest, scale = (float(np.linalg.norm(part)) for part in (state.gradient + state.z, state.gradient))
        yield Iterate(state.x, state.f, rest / scale if scale else 0.0, note)


def one_bit_factors(problem: BitEntries, *, rng: Generator) -> Iterates:
    r"""Complete a table M (n1, n2) of a known rank k from bits y of its entries by the likelihood of its factors.

    minimise    F(U, V) = mean of -log P(y_ij | u_i^T v_j)  over U (n1, k), V (n2, k) with rows of at most
                sqrt(a sqrt k), a the size of the largest entry: every table of rank k with |M_ij| <= a has such factors
    start       the leading singular triples of the bits, zero elsewhere, whose mean is M 2 f'(0) / width where entries
                are small
    update      (U, V) <- P((U, V) - t grad F), P shortens rows; t and the line search as in FASTA
    converges   to stationary points; the bound keeps them finite where bits can be separated

    Yields endlessly: objective F; residual ||grad F + Z|| over the norm of what each bit alone adds to grad F, Z normal
    to the bound. Time O(m k) a step, memory O(m + (n1 + n2) k).
    References: Bhaskar & Javanmard (2015), "1-bit matrix completion under exact low-rank constraint"; Ni & Gu (2016),
    "Optimal statistical and computational rates for one bit matrix completion", for gradient steps of the factors;
    Cai & Zhou (2013), "A max-norm constrained minimization approach to 1-bit matrix completion", for the bound.
    """
    A, y, (n1, _), k = problem.operator, problem.y, problem.operator.shape, problem.rank
    longest = math.sqrt(problem.largest * math.sqrt(k))
    steepest = -float(problem.likelihood.slope(np.zeros(1))[0])
    start = leading(A, y, k, rng)
    sizes = start.s * A.scale * problem.width / (2.0 * steepest)
    first = np.vstack([start.U * np.sqrt(sizes), start.V * np.sqrt(sizes)])

    def value(F: Array) -> tuple[float, tuple[Array, Array]]:
        loss, slope = losses(problem, A.pair(F[:n1], F[n1:]))
        return loss, (F, slope)

    def gradient(state: tuple[Array, Array]) -> Array:
        F, slope = state
        return np.vstack([A.pull_left(slope, F[n1:]), A.pull_right(slope, F[:n1])])

    prox = lambda F, t: short_rows(F, longest)  # noqa: E731
    # A step of the factors moves the table by about the square of their norm times as much.
    step = first_step(problem) / (float(sizes[0]) or 1.0)
    for state in fasta(Split(value, gradient, prox, lambda F: F), short_rows(first, longest), step):
        F = state.x
        each = np.abs(losses(problem, A.pair(F[:n1], F[n1:]))[1])
        sides = A.pull_left(each, np.abs(F[n1:])), A.pull_right(each, np.abs(F[:n1]))
        scale = math.hypot(*(float(np.linalg.norm(side)) for side in sides))
        rest = float(np.linalg.norm(state.gradient + state.z))
        yield Iterate(lowrank.from_product(F[:n1], F[n1:]), state.f, rest / scale if scale else 0.0)


def leading(A: Entries, y: Array, k: int, rng: Generator) -> LowRank:
    """Return the k leading singular triples of the table (n1, n2) with y (m,) at the observed places, 0 elsewhere."""
    if math.prod(A.shape) <= DECOMPOSED or k >= min(A.shape):
        return lowrank.from_dense(A.adjoint(y), k)
    U, s, Vt = svds(A.sparse(y), k, v0=rng.standard_normal(min(A.shape)))
    return LowRank(U[:, ::-1], s[::-1], Vt[::-1].T)


def losses(problem: BitEntries, entries: Array) -> tuple[float, Array]:
    """Return the mean loss of the bits at estimates of their entries (m,), and its derivative by each of these."""
    y, width = problem.y, problem.width
    loss, slope, _ = problem.likelihood.derivatives(y * entries / width)
    return float(loss.mean()), y * slope / (width * len(y))


def first_step(problem: BitEntries) -> float:
    """Return 1 over the largest curvature of the mean loss in an entry."""
    return problem.width**2 * len(problem.y) / CURVATURE[problem.likelihood.name]


ENTRIES = (
    SolverEntry(
        title="Trace norm (convex, 1-bit)",
        update=r"W \leftarrow P\bigl(W - t \nabla F(W)\bigr), \quad P \text{ onto } \|W\|_* \le T,\ |W_{ij}| \le"
        r" \alpha",
        summary="The likelihood under a bound on the trace norm and on the entries: convex, no start.",
        run=one_bit_trace_norm,
        families=("one-bit-completion",),
        oracle=("largest entry", "link", "noise"),
        oracle_with=lambda options: ("trace norm" if options["radius"] == "table" else "rank",),
        memory=1.0,
        matrix=lambda spec, options: spec.n1 * spec.n2,
    ),
    SolverEntry(
        title="Factors (1-bit likelihood)",
        update=r"(U, V) \leftarrow P\bigl((U, V) - t \nabla F(U V^\top)\bigr), \quad P \text{ shortens rows}",
        summary="The likelihood of factors of the true rank by projected gradient steps from a spectral start.",
        run=one_bit_factors,
        families=("one-bit-completion",),
        oracle=("rank", "largest entry", "link", "noise"),
        memory=1.0,
    ),
)
