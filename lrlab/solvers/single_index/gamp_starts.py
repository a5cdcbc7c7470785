"""States that `gamp` starts from: the first one, and others for where that ends at odds with the answers."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solvers.single_index.moment_methods import class_moments
from lrlab.solvers.single_index.spectral_optimal import leading
from lrlab.theory.message_passing import State, from_spectral, updated
from lrlab.theory.predicted_overlap import is_symmetric
from lrlab.theory.spectral import known_link_weights

RANDOM = 2
"""Random directions that are tried."""
RESTRICTED = 0.5
"""Overlap that an eigenvector on few entries is taken to have."""


def starts(problem: SingleIndexData, rate: float, rng: Generator) -> Iterator[State]:
    """Yield the first state, then others, in the order in which they are to be tried.

    The next is the first with a variance for each entry: where few entries are not zero, the indices of some
    measurements are far more uncertain than those of others. Then, for symmetric links, leading eigenvectors on few
    entries where the truth is sparse, and random directions.
    """
    p = problem.shape[1]
    first = first_state(problem, rate)
    yield first
    yield with_variances(first)
    if not is_symmetric(problem.link):
        return
    s = round(rate * p)
    for size in (4 * s, s):
        if size < p:
            yield with_variances(scaled(problem, restricted(problem, size), RESTRICTED))
    for _ in range(RANDOM):
        yield with_variances(scaled(problem, unit(rng.standard_normal(p)), 1.0 / math.sqrt(p)))


def first_state(problem: SingleIndexData, rate: float) -> State:
    """Return b = 0 after one update, or for symmetric links, of which that is a fixed point, the spectral estimate."""
    n, p = problem.shape
    if is_symmetric(problem.link):
        T = known_link_weights(problem.link.moments)
        return from_spectral(problem, leading(class_moments(problem), T, p, "").b)
    # From b = 0 the first update is a direction; b = 0 is none.
    return updated(problem, State(np.zeros(p), 1.0, np.zeros(n), None), rate, step=1.0)


def restricted(problem: SingleIndexData, size: int) -> Array:
    """Return the optimal spectral estimate (p,) on the entries whose <x_j^2> differ most between both answers."""
    T, p, moments = known_link_weights(problem.link.moments), problem.shape[1], class_moments(problem)
    differing = np.diag(moments.S_pos) * T.pos + np.diag(moments.S_neg) * T.neg
    own = np.sort(np.argsort(-np.abs(differing - np.median(differing)))[:size])
    among = np.ix_(own, own)
    v = np.zeros(p)
    v[own] = eigh(T.pos * moments.S_pos[among] + T.neg * moments.S_neg[among])[1][:, -1]
    return v


def scaled(problem: SingleIndexData, v: Array, overlap: float) -> State:
    """Return a direction v (p,) as a posterior mean of the overlap."""
    b = math.sqrt(overlap) * v
    return State(b, 1.0 - overlap, problem.X @ b, None)


def with_variances(state: State) -> State:
    """Return the state with a variance for each entry."""
    return state._replace(variances=np.full(len(state.b), state.V / len(state.b)))
