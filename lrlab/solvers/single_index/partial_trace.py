"""Partial trace of a Hermite tensor, for links whose first and second moments say nothing, refined by likelihood."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.single_index import requirements
from lrlab.solvers.single_index.gamp_checks import PREFERRED, Checks
from lrlab.solvers.single_index.gamp_starts import with_variances
from lrlab.solvers.single_index.requirements import needs_both_answers, single_index_entry
from lrlab.theory.hermite import coefficient, information_exponent, trace_factor, trace_overlap
from lrlab.theory.message_passing import Point, State, path

AT_REST, LONGEST = 1e-5, 100
"""Change of b and V below which a path has come to its end, and the iterations after which it must fit the answers."""
LEAST, MOST = 0.02, 0.95
"""Overlaps that a start is taken to have: less is a guess, and at more its own errors would be taken for none."""


@needs_both_answers
def partial_trace(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Recover b from one-bit answers by the first Hermite tensor E[f(Z) He_k(Z)] b^{(x) k} that is not 0, k >= 1.

    start       T = mean (y_i - mean y) He_k(x_i), traced over pairs of its indices until one or two are left:
                odd k   v = mean (y_i - mean y) A(x_i) x_i, b = v / ||v||;  k = 3: A = ||x||^2 - p - 2
                even k  M = mean (y_i - mean y) (B(x_i) x_i x_i^T - A(x_i) I), b the eigenvector of the largest
                eigenvalue of M times the sign of E[f He_k];  k = 4: B = ||x||^2 - p - 4, A = ||x||^2 - p - 2
                the polynomials A and B are Laguerre's (`theory.hermite`)
    update      that of `gamp`, with a variance for each entry, from b = sqrt(q) v, V = 1 - q, q the overlap that theory
                predicts for the start, and w_i = <x_i, b> less what measurement i itself adds: the likelihood at the
                uncertainty that is left
    converges   to the posterior mean where n is of order p^(k/2), which is what known fast methods need (k >= 3); b = 0
                is a stable fixed point of the update, to which worse starts return. Then, and at an end that makes the
                answers less likely than it says (`gamp_checks`), it begins again with one variance for all; if that
                ends so, too, the end, or the start where b falls to 0, is a LOCAL_MINIMUM

    X (n, p), y (n,) in +-1; two passes over X for the start, two an iteration, memory O(n p + p^2). Knows the link and
    its noise. Yields b / ||b||, the start first, endlessly; residual the change of b and of V.
    Reference: Damian, Pillaud-Vivien, Lee & Bruna (2024), "Computational-statistical gaps in Gaussian single-index
    models", Algorithms 1 and 2; their second half refines by iterations of the tensor.
    """
    k = information_exponent(problem.link) or 1
    start = _vector(problem, k) if k % 2 else _eigenvector(problem, k)
    first = Iterate(unit(start.b), note=f"Partial trace of the Hermite tensor of order {k}.")
    yield first
    for variances in (True, False):
        checks = Checks(problem, 1.0)
        # The path begins with the start.
        states = path(problem, with_variances(start) if variances else start, 1.0)
        for number, at in enumerate(islice(states, 1, None)):
            checks.look(at)
            last = _iterate(at, checks)
            if 1.0 - at.state.V < LEAST / 2.0:
                last = replace(first, note=f"{first.note} The likelihood leads from there to no direction: raise n.")
                break
            yield last
            if checks.failed and (at.change < AT_REST or number > LONGEST):
                break
    yield last
    return Stop.LOCAL_MINIMUM


def _iterate(at: Point, checks: Checks) -> Iterate:
    note = f"Own estimate of the overlap {1.0 - at.state.V:.3g}."
    if checks.failed:
        note += f" It does not hold: the answers are {checks.excess:.3g} standard deviations less likely than it says."
    residual = max(at.change, checks.excess) if checks.failed else at.change
    return Iterate(unit(at.state.b), residual=residual, note=note, optimal=checks.gain >= PREFERRED)


def _centred(problem: SingleIndexData) -> Iterator[tuple[Array, Array, Array]]:
    """Yield blocks of X, of y - mean y, and of ||x||^2."""
    mean = float(problem.y.mean())
    for X, y in problem.blocks():
        yield X, y - mean, np.square(X).sum(axis=1)


def _vector(problem: SingleIndexData, k: int) -> State:
    p, j = problem.shape[1], (k - 1) // 2
    v, own = np.zeros(p), list[Array]()
    for X, y, square in _centred(problem):
        weights = y * trace_factor(square, p, j)
        v += weights @ X
        own.append(weights * square)
    v *= np.sign(coefficient(problem.link, k))
    own_index = np.sign(coefficient(problem.link, k)) * np.concatenate(own)
    return _state(problem, k, unit(v), own_index / float(np.linalg.norm(v)))


def _eigenvector(problem: SingleIndexData, k: int) -> State:
    p, j = problem.shape[1], (k - 1) // 2
    M, weights, squares = np.zeros((p, p)), list[Array](), list[Array]()
    for X, y, square in _centred(problem):
        weights.append(y * trace_factor(square, p, j, further=1))
        squares.append(square)
        M += (X.T * weights[-1]) @ X
        M.flat[:: p + 1] -= y @ trace_factor(square, p, j)
    values, vectors = np.linalg.eigh(np.sign(coefficient(problem.link, k)) * M)
    v = vectors[:, -1]
    share = np.sign(coefficient(problem.link, k)) * np.concatenate(weights) * np.concatenate(squares) / values[-1]
    return _state(problem, k, v, share * (problem.X @ v))


def _state(problem: SingleIndexData, k: int, v: Array, own_index: Array) -> State:
    """Return the direction v (p,) at its predicted overlap; own_index (n,): the part of <x_i, v> that is x_i's own."""
    q = min(max(trace_overlap(problem.link, k, *problem.shape), LEAST), MOST)
    return State(math.sqrt(q) * v, 1.0 - q, math.sqrt(q) * (problem.X @ v - own_index), None)


ENTRY = single_index_entry(
    title="Partial trace of a Hermite tensor",
    update=r"v = \tfrac1n \sum_i (y_i - \bar y)\, A(\|x_i\|^2)\, x_i, \qquad \text{then } b \leftarrow \mathbb"
    r" E[b \mid b + S X^\top g]",
    summary="For links whose first and second moments say nothing: a vector or a matrix from the first Hermite "
    "coefficient that is not 0, refined by approximate message passing; knows the link.",
    run=partial_trace,
    knows=("link",),
    workspace=requirements.message_workspace,
    max_iter=500,
    refuse=requirements.needs_some_coefficient,
)
