"""1-bit matrix completion by the likelihood of factors (Bhaskar & Javanmard 2015)."""

import math

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import svds

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import BitEntries
from lrlab.operators.entries import Entries
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import solver
from lrlab.solvers.methods.balls import short_rows
from lrlab.solvers.methods.proximal import Split, fasta
from lrlab.solvers.one_bit_completion.bit_losses import first_step, losses

DECOMPOSED = 400**2
"""Entries of the largest tables that are decomposed whole."""


@solver(family="one-bit-completion", oracle=("rank", "largest entry", "link", "noise"))
def one_bit_factors(problem: BitEntries, *, rng: Generator) -> Iterates:
    r"""Factors (1-bit likelihood).

    The likelihood of factors of the true rank by projected gradient steps from a spectral initialization.

    .. math:: (U, V) \leftarrow P\bigl((U, V) - t \nabla F(U V^\top)\bigr), \quad P \text{ shortens rows}

    minimize    F(U, V) = mean of -log P(y_ij | u_i^T v_j)  over U (n1, k), V (n2, k) with rows of at most
                sqrt(a sqrt k), a the size of the largest entry: every table of rank k with |M_ij| <= a has such factors
    start       the leading singular triples of the bits, zero elsewhere, whose mean is M 2 f'(0) / width if entries are
                small
    update      t and the line search as in FASTA
    converges   to stationary points; the bound keeps them finite if bits can be separated
    cost        O(m k) time for m bits, O(m + (n1 + n2) k) memory

    Yields endlessly: objective F; residual ||grad F + Z|| over the norm of the summed sizes of each bit's part of grad
    F, Z normal to the bound.

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
