"""Directions in which second moments depend on the response: principal Hessian directions, and SAVE."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates
from lrlab.solvers.single_index.class_moments import class_moments
from lrlab.solvers.single_index.family import moment_solver, needs_samples, needs_second_moment, needs_some_moment
from lrlab.theory.spectral import hessian_overlap


@moment_solver(
    needs_samples,
    needs_second_moment,
    predict=lambda spec, options: {"limit_overlap": hessian_overlap(spec.link_function.moments, spec.n / spec.p)},
    simulate=True,
)
def phd(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Principal Hessian directions (PHD).

    Direction of the largest difference between the second moments of x given either response; not for odd links.

    .. math:: \hat b = L^{-\top} v, \quad L^{-1} M L^{-\top} v = \lambda v \text{ with the largest } |\lambda|, \qquad
        M = \tfrac1n \sum_i (y_i - \bar y)\, x_i x_i^\top, \quad S = L L^\top

    maximize    |b^T M b| / b^T S b,  M = mean (y_i - mean y) x_i x_i^T,  E[M] = (mu_2 - mu_0) b b^T, and
                S = mean x_i x_i^T
    solution    b = L^{-T} v,  S = L L^T,  v the eigenvector of L^{-1} M L^{-T} whose eigenvalue is largest in size
    converges   the error is O(sqrt(p / n)) if mu_2 is not mu_0; exactly, see `theory.spectral`
    cost        one pass over X (n, p) by blocks, n > p, memory O(p^2)

    Although x is known to have covariance I, the sample's is the better yardstick: it takes the random variation of x
    out of M, as least squares does for the mean of y x. M and S are about 0, the known mean of x, not the sample's.
    Yields once: objective -|b^T M b| / b^T S b.

    Reference: Li (1992), "On principal Hessian directions for data visualization and dimension reduction".
    """
    moments = class_moments(problem)
    n, answer = moments.n, moments.mean_answer
    M = moments.weighted((1.0 - answer) / n, -(1.0 + answer) / n)
    S = moments.weighted(1.0 / n, 1.0 / n)
    # Eigenvectors of M b = lambda S b are L^{-T} v. All of them: LAPACK misses the last one of some matrices by itself.
    values, vectors = eigh(M, S, driver="gvd", overwrite_a=True, overwrite_b=True)
    largest = int(np.argmax(np.abs(values)))
    value, b = float(values[largest]), vectors[:, largest]
    yield Iterate(unit(b), objective=-abs(value), note=f"The eigenvalue largest in size is {value:.3g}.")


@moment_solver(needs_samples, needs_some_moment, simulate=True)
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
    n_pos, n_neg, s_pos, s_neg, S_pos, S_neg = class_moments(problem)
    (n, p), mean = problem.shape, (s_pos + s_neg) / (n_pos + n_neg)
    covariance = (S_pos + S_neg) / n - np.outer(mean, mean)
    factor, K = cho_factor(covariance, lower=True), np.zeros((p, p))
    for count, total, S in ((n_pos, s_pos, S_pos), (n_neg, s_neg, S_neg)):
        # L (I - V) L^T, so that its square is that of I - V in the coordinates of x.
        rest = covariance - S / count + np.outer(total / count, total / count)
        K += count / n * (rest @ cho_solve(factor, rest))
    values, vectors = eigh(K, covariance, driver="gvd", overwrite_a=True, overwrite_b=True)
    yield Iterate(unit(vectors[:, -1]), objective=-float(values[-1]))
