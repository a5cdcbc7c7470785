"""The spectral method that is best at weak recovery: an eigenvector of differently weighted covariances of answers."""

from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options
from lrlab.solvers.single_index.class_moments import class_moments, format_size
from lrlab.solvers.single_index.family import moment_solver, needs_second_moment
from lrlab.theory.bulk import largest_by_chance
from lrlab.theory.spectral import link_free_weights, spike


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the limit for the sign that the link has."""
    moments, ratio = spec.link_function.moments, spec.n / spec.p
    weights = link_free_weights((1.0 + moments.mu0) / 2.0, ratio, 1 if moments.mu2 > moments.mu0 else -1)
    return {"limit_overlap": spike(moments, ratio, weights).overlap if weights else 0.0}


@moment_solver(needs_second_moment, predict=predict, simulate=True)
def spectral_optimal(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Optimal spectral method.

    Eigenvector of a weighted covariance that sees even links at the fewest measurements, without the link.

    .. math:: \hat b = \text{top eigenvector of } \tfrac1p \sum_i T(y_i)\, x_i x_i^\top

    maximize    b^T M b  over ||b|| = 1,  M = (1/p) sum T(y_i) x_i x_i^T
    weights     T = c_y / (1 + c_y), c_+ = +-sqrt(n_- p / (n_+ n)), c_- = -+sqrt(n_+ p / (n_- n)). The link would tell
                the sign of E[z^2 | y = 1] - 1, z = <x, b>: the method takes the sign whose largest eigenvalue exceeds
                that of noise, about 1, by more standard deviations
    converges   the overlap is positive above n/p = (1 - mu_0^2) / (mu_2 - mu_0)^2, below which no polynomial-time
                method does better than a guess for links with mu_1 = 0; exactly, see `theory.spectral`. Odd links have
                mu_2 = mu_0 and are not detected
    cost        one pass over X (n, p) by blocks, memory O(p^2)

    Yields once: objective -b^T M b. A sign drops out if no link with it can be recovered at this n/p; if neither
    remains, b is 0 and the note says so.

    Reference: Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase retrieval",
    eq. 10.
    """
    moments, (n, p) = class_moments(problem), problem.shape
    found = list[tuple[float, str, float, Array]]()
    for sign, word in ((1, "larger"), (-1, "smaller")):
        T = link_free_weights(moments.n_pos / n, n / p, sign)
        if T is not None:
            weights = T.pos / p, T.neg / p
            # Lanczos needs many steps if one response has a large negative weight: LAPACK is faster up to this size.
            values, vectors = top_eigenpairs(moments.weighted(*weights), 1, dense=1500)
            value, chance = float(values[0]), largest_by_chance(weights, (moments.n_pos, moments.n_neg), p)
            found.append((chance.height(value), word, value, vectors[:, 0]))
    if not found:
        yield Iterate(np.zeros(p), note="With so few responses no link of either sign could be recovered: raise n.")
        return
    (height, word, value, b), *others = sorted(found, key=lambda one: -one[0])
    other = "".join(f", with the other sign {format_size(max(one[0], 0.0))}" for one in others)
    stands_out = f"{format_size(max(height, 0.0))} standard deviations above pure noise{other}"
    note = f"|<x, b>| assumed {word} if y = 1: the largest eigenvalue then stands out more, {stands_out}."
    yield Iterate(b, objective=-value, residual=0.0, note=note)
