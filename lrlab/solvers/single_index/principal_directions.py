"""Second-moment methods of single-index models: principal Hessian directions, sliced average variance estimation."""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import cholesky, solve_triangular

from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import InputError, choice
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.family import (
    VANISHING,
    moment_solver,
    needs_both_answers,
    needs_samples,
    needs_second_moment,
)
from lrlab.solvers.single_index.moment_methods import class_moments, covariance
from lrlab.theory import principal_hessian


def refuse_phd(spec: Any, options: Options) -> None:
    """Refuse fewer measurements than the inverse moment wants, and links whose mean of y x x^T says nothing."""
    if options["whitening"] == "sample":
        needs_samples(spec, options)
    needs_second_moment(spec, options)


def predict_phd(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlap of principal Hessian directions."""
    limit = principal_hessian.predict(spec.link_function.moments, spec.n / spec.p, str(options["whitening"]))
    return {"limit_overlap": limit.overlap}


@moment_solver(
    refuse=refuse_phd, predict=predict_phd, equivariant=lambda options: options["whitening"] == "sample", simulate=True
)
@needs_both_answers
def phd(
    problem: SingleIndexData,
    *,
    whitening: Annotated[
        str, choice("sample", "identity", help="variance relative to the sample's second moment, or to the true one, I")
    ] = "sample",
    rng: Generator,
) -> Iterates:
    r"""Principal Hessian directions (PHD).

    Direction of the largest difference between the second moments of x given either response; not for odd links.

    .. math:: \hat b = L^{-\top} v, \quad L^{-1} M L^{-\top} v = \lambda v \text{ with the largest } |\lambda|, \qquad
        M = \tfrac1n \sum_i (y_i - \bar y)\, x_i x_i^\top, \quad S = L L^\top

    maximize    |b^T M b| / b^T S b,  M = mean (y_i - mean y) x_i x_i^T,  E[M] = (mu_2 - mu_0) b b^T, and
                S = mean x_i x_i^T (`sample`) or I (`identity`)
    solution    b = L^{-T} v,  S = L L^T,  v the eigenvector of L^{-1} M L^{-T} whose eigenvalue is largest in size
    converges   the error is O(sqrt(p / n)) if mu_2 is not mu_0; exactly, see `theory.principal_hessian`
    cost        one pass over X (n, p) by blocks, n > p for `sample`, memory O(p^2)

    Although x is known to have covariance I, the sample's is the better yardstick: it takes the chance variation of x
    out of M, as least squares does for the mean of y x. M and S are about 0, the known mean of x, not the sample's.
    Yields once: objective -|b^T M b| / b^T S b.

    Reference: Li (1992), "On principal Hessian directions for data visualization and dimension reduction"; `identity`
    is the spectral start of phase retrieval, Lu & Li (2017).
    """
    moments = class_moments(problem)
    n, p = problem.shape
    answer = (moments.n_pos - moments.n_neg) / n
    M = (1.0 - answer) / n * moments.S_pos
    M -= (1.0 + answer) / n * moments.S_neg
    if whitening == "identity":
        value, b = largest_in_size(M)
    else:
        L = cholesky((moments.S_pos + moments.S_neg) / n, lower=True, overwrite_a=True)
        value, v = largest_in_size(whitened(M, L))
        b = unit(solve_triangular(L, v, lower=True, trans="T"))
    note = f"The eigenvalue largest in size is {value:.3g}."
    yield Iterate(b, objective=-abs(value), note=note)


def refuse_save(spec: Any, options: Options) -> None:
    """Refuse fewer measurements than the inverse covariance wants, and links that leave the variance as it is."""
    needs_samples(spec, options)
    mu0, mu1, mu2 = spec.link_function.moments
    # 1 - Var(z | y = +-1), for each answer that is ever given.
    changes = [1 - (1 + a * mu2) / (1 + a * mu0) + (mu1 / (1 + a * mu0)) ** 2 for a in (1, -1) if 1 + a * mu0 > 0]
    if max(map(abs, changes)) < VANISHING:
        expected = "one whose responses change the variance of <x, b> for this solver"
        raise InputError("link", expected, f"none on {spec.model}", "lower the noise or flip, or move the threshold")


@moment_solver(refuse=refuse_save, simulate=True)
@needs_both_answers
def save(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Sliced average variance estimation (SAVE).

    Direction whose variance given the response differs most from its variance overall.

    .. math:: \hat b = L^{-\top} v, \quad v = \text{top eigenvector of } p_+ (I - V_+)^2 + p_- (I - V_-)^2,
        \quad V_\pm = L^{-1} \operatorname{Cov}(x \mid y = \pm 1) L^{-\top}

    maximize    v^T K v  over ||v|| = 1,  K = p_+ (I - V_+)^2 + p_- (I - V_-)^2,  V_+- = L^{-1} Cov(x | y = +-1) L^{-T},
                S = L L^T the sample covariance of x, p_+- the rates of both responses
    solution    b = L^{-T} v
    converges   the error is O(sqrt(p / n)) if a response changes the variance of <x, b>: both for links with mu_2 other
                than mu_0 and, since Var(<x, b> | y) falls with mu_1^2, for odd ones
    cost        one pass over X (n, p) by blocks, n > p, memory O(p^2)

    Yields once: objective -v^T K v.

    Reference: Cook & Weisberg (1991), discussion of Li (1991); Cook & Lee (1999), "Dimension reduction in binary
    response regression".
    """
    moments = class_moments(problem)
    n, p = problem.shape
    S, _ = covariance(moments)
    L = cholesky(S, lower=True, overwrite_a=True)
    K = np.zeros((p, p))
    for count, total, V in (
        (moments.n_pos, moments.s_pos, moments.S_pos),
        (moments.n_neg, moments.s_neg, moments.S_neg),
    ):
        V /= count
        V -= np.outer(total / count, total / count)
        rest = whitened(V, L)
        rest.flat[:: p + 1] -= 1.0
        K += count / n * (rest @ rest)
    values, vectors = top_eigenpairs(K, 1)
    b = unit(solve_triangular(L, vectors[:, 0], lower=True, trans="T"))
    yield Iterate(b, objective=-float(values[0]))


def whitened(M: Array, L: Array) -> Array:
    """Return L^{-1} M L^{-T} (p, p) for a symmetric M, which is used up."""
    half = solve_triangular(L, M, lower=True, overwrite_b=True)
    return solve_triangular(L, half.T, lower=True, overwrite_b=True)


def largest_in_size(M: Array) -> tuple[float, Array]:
    """Return the eigenvalue of a symmetric M (p, p) that is largest in size, and its unit eigenvector."""
    top, above = top_eigenpairs(M, 1)
    bottom, below = top_eigenpairs(-M, 1)
    return (float(top[0]), above[:, 0]) if top[0] >= bottom[0] else (-float(bottom[0]), below[:, 0])
