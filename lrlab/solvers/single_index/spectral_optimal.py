"""The spectral method that is best at weak recovery: an eigenvector of differently weighted covariances of answers."""

from typing import Annotated, Any

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options, choice
from lrlab.solvers.single_index.class_moments import ClassMoments, class_moments, format_size
from lrlab.solvers.single_index.family import moment_solver, needs_second_moment
from lrlab.theory.bulk import largest_by_chance
from lrlab.theory.spectral import Weights, known_link_weights, link_free_weights, spike

WeightsOption = Annotated[
    str, choice("counts", "link", help="weights of both responses: from their counts, or from the link")
]


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the limit for the sign that the link has."""
    moments, ratio = spec.link_function.moments, spec.n / spec.p
    if options["weights"] == "link":
        weights: Weights | None = known_link_weights(moments)
    else:
        sign = 1 if moments.mu2 > moments.mu0 else -1
        weights = link_free_weights((1.0 + moments.mu0) / 2.0, ratio, sign)
    return {"limit_overlap": spike(moments, ratio, weights).overlap if weights else 0.0}


@moment_solver(
    needs_second_moment,
    oracle_with=lambda options: ("link",) if options["weights"] == "link" else (),
    predict=predict,
    simulate=True,
)
def spectral_optimal(problem: SingleIndexData, *, weights: WeightsOption = "counts", rng: Generator) -> Iterates:
    r"""Optimal spectral method.

    Eigenvector of a weighted covariance that sees even links at the fewest measurements, by default without the link.

    .. math:: \hat b = \text{top eigenvector of } \tfrac1p \sum_i T(y_i)\, x_i x_i^\top

    maximize    b^T M b  over ||b|| = 1,  M = (1/p) sum T(y_i) x_i x_i^T
    weights     `counts`: T = c_y / (1 + c_y), c_+ = +-sqrt(n_- p / (n_+ n)), c_- = -+sqrt(n_+ p / (n_- n)). The link
                would tell the sign of E[z^2 | y = 1] - 1, z = <x, b>: the method takes the sign whose largest
                eigenvalue exceeds that of noise, about 1, by more standard deviations. `link`: T = 1 - 1 / E[z^2 | y],
                from the link; the largest overlap of all weights
    converges   the overlap is positive above n/p = (1 - mu_0^2) / (mu_2 - mu_0)^2, below which no polynomial-time
                method does better than a guess for links with mu_1 = 0; exactly, see `theory.spectral`. Odd links have
                mu_2 = mu_0 and are not detected
    cost        one pass over X (n, p) by blocks, memory O(p^2)

    Yields once: objective -b^T M b. If n/p is too small for a link of either sign, b is 0 and the note says so.

    Reference: Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase retrieval",
    eq. 10 (`counts`); Luo, Alghamdi & Lu (2019), "Optimal spectral initialization for signal recovery with applications
    to phase retrieval", Theorem 1 (`link`).
    """
    moments = class_moments(problem)
    n, p = problem.shape
    if weights == "link":
        value, b = leading(moments, known_link_weights(problem.link.moments), p)
        yield Iterate(b, objective=-value, residual=0.0, note="Weights from the link.")
    else:
        yield leading_by_counts(moments, n, p)


def leading(moments: ClassMoments, T: Weights, p: int) -> tuple[float, Array]:
    """Return the largest eigenvalue of (1/p) sum T(y_i) x_i x_i^T, and its unit eigenvector (p,)."""
    # Lanczos needs many steps if one response has a large negative weight: up to this size LAPACK is faster.
    values, vectors = top_eigenpairs(moments.weighted(T.pos / p, T.neg / p), 1, dense=1500)
    return float(values[0]), vectors[:, 0]


def leading_by_counts(moments: ClassMoments, n: int, p: int) -> Iterate:
    """Return the leading eigenvector for the sign that stands out more; 0 if neither sign remains.

    A sign drops out if no link with it can be recovered at this n/p.
    """
    found = list[tuple[float, str, float, Array]]()
    for sign, word in ((1, "larger"), (-1, "smaller")):
        T = link_free_weights(moments.n_pos / n, n / p, sign)
        if T is not None:
            value, b = leading(moments, T, p)
            chance = largest_by_chance((T.pos / p, T.neg / p), (moments.n_pos, moments.n_neg), p)
            found.append((chance.height(value), word, value, b))
    if not found:
        return Iterate(np.zeros(p), note="With so few responses no link of either sign could be recovered: raise n.")
    (height, word, value, b), *others = sorted(found, key=lambda one: -one[0])
    other = "".join(f", with the other sign {format_size(max(one[0], 0.0))}" for one in others)
    stands_out = f"{format_size(max(height, 0.0))} standard deviations above pure noise{other}"
    note = f"|<x, b>| assumed {word} if y = 1: the largest eigenvalue then stands out more, {stands_out}."
    return Iterate(b, objective=-value, residual=0.0, note=note)
