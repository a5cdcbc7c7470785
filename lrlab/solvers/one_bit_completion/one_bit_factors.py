"""1-bit matrix completion by the likelihood of factors (Bhaskar & Javanmard 2015)."""

import math
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.operators.krylov import nearest
from lrlab.solver_entry import Generator, Iterate, Iterates, solver
from lrlab.solvers.methods.proximal import fasta

CURVATURE = {"probit": 1.0, "logistic": 0.25}
"""Largest second derivative of a bit's loss in its margin."""


@solver(family="one-bit-completion", oracle=("rank", "largest entry", "link", "noise"))
def one_bit_factors(problem: Any, *, rng: Generator) -> Iterates:
    r"""Factors (1-bit likelihood).

    Maximizes the likelihood over factors of the true rank by projected gradient steps.

    .. math:: (U, V) \leftarrow P\bigl((U, V) - t \nabla F(U V^\top)\bigr), \quad P \text{ shortens rows}

    minimize    F(U, V) = mean of -log P(y_ij | u_i^T v_j)  over U (n1, k), V (n2, k) with rows of at most
                sqrt(a sqrt k), a the size of the largest entry: every M of rank k with |M_ij| <= a has such factors
    start       the leading singular triples of the bits, with zeros at unobserved entries; their mean is
                M 2 f'(0) / width if entries are small
    update      t and the line search as in FASTA
    converges   to stationary points; the bound keeps them finite if the bits are separable
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
    start = nearest(A.moment(y), k, rng)
    sizes = start.s * problem.width / (2.0 * steepest)
    first = np.vstack([start.U * np.sqrt(sizes), start.V * np.sqrt(sizes)])

    def value(F: Array) -> tuple[float, tuple[Array, Array]]:
        loss, slope = losses(problem, A.pair(F[:n1], F[n1:]))
        return loss, (F, slope)

    def gradient(state: tuple[Array, Array]) -> Array:
        F, slope = state
        return np.vstack([A.pull_left(slope, F[n1:]), A.pull_right(slope, F[:n1])])

    prox = lambda F, t: short_rows(F, longest)  # noqa: E731
    # A step of the factors moves their product by about the square of their norm times as much.
    step = first_step(problem) / (float(sizes[0]) or 1.0)
    for state in fasta(value, gradient, prox, short_rows(first, longest), step):
        F = state.x
        each = np.abs(losses(problem, A.pair(F[:n1], F[n1:]))[1])
        sides = A.pull_left(each, np.abs(F[n1:])), A.pull_right(each, np.abs(F[:n1]))
        scale = math.hypot(*(float(np.linalg.norm(side)) for side in sides))
        rest = float(np.linalg.norm(state.gradient + state.z))
        yield Iterate(lowrank.from_product(F[:n1], F[n1:]), state.f, rest / scale if scale else 0.0)


def short_rows(F: Array, length: float) -> Array:
    """Return the nearest matrix whose rows have at most this length."""
    sizes = np.linalg.norm(F, axis=1, keepdims=True)
    return F * np.minimum(1.0, length / np.where(sizes > 0, sizes, 1.0))


def losses(problem: Any, entries: Array) -> tuple[float, Array]:
    """Return the mean loss of the bits at estimates of their entries (m,), and its derivative by each of these."""
    y, width = problem.y, problem.width
    loss, slope, _ = problem.likelihood.derivatives(y * entries / width)
    return float(loss.mean()), y * slope / (width * len(y))


def first_step(problem: Any) -> float:
    """Return 1 over the largest curvature of the mean loss in an entry."""
    return problem.width**2 * len(problem.y) / CURVATURE[problem.likelihood.name]
