"""Sliced average variance estimation: the direction whose variance depends most on the response."""

from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import cholesky, solve_triangular

from lrlab.linalg import top_eigenpairs, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.class_moments import class_moments, whitened
from lrlab.solvers.single_index.family import moment_solver, needs_samples


def refuse_save(spec: Any, options: Options) -> None:
    """Refuse fewer measurements than the inverse covariance wants, and links that leave the variance as it is."""
    needs_samples(spec, options)
    mu0, mu1, mu2 = spec.link_function.moments
    # 1 - Var(z | y = +-1), for each answer that is ever given.
    changes = [1 - (1 + a * mu2) / (1 + a * mu0) + (mu1 / (1 + a * mu0)) ** 2 for a in (1, -1) if 1 + a * mu0 > 0]
    if max(map(abs, changes)) < 1e-9:
        expected = "one whose responses change the variance of <x, b> for this solver"
        raise InputError("link", expected, f"none on {spec.model}", "lower the noise or flip, or move the threshold")


@moment_solver(refuse_save, simulate=True)
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
    mean = (moments.s_pos + moments.s_neg) / n
    covariance = moments.S_pos + moments.S_neg
    covariance /= n
    covariance -= np.outer(mean, mean)
    L = cholesky(covariance, lower=True, overwrite_a=True)
    K = np.zeros((p, p))
    n_pos, n_neg, s_pos, s_neg, S_pos, S_neg = moments
    for count, total, S in ((n_pos, s_pos, S_pos), (n_neg, s_neg, S_neg)):
        # In place: S is not needed again.
        S /= count
        S -= np.outer(total / count, total / count)
        rest = whitened(S, L)
        rest.flat[:: p + 1] -= 1.0
        K += count / n * (rest @ rest)
    values, vectors = top_eigenpairs(K, 1)
    b = unit(solve_triangular(L, vectors[:, 0], lower=True, trans="T"))
    yield Iterate(b, objective=-float(values[0]))
