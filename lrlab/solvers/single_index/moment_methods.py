"""First-moment methods of single-index models: the mean of y x, and sliced inverse regression."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from lrlab.linalg import hard_threshold, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options
from lrlab.solvers.single_index.class_moments import class_moments
from lrlab.solvers.single_index.family import (
    SAME_ANSWERS,
    SupportSize,
    index_solver,
    moment_solver,
    needs_first_moment,
    needs_samples,
    sparse_size,
)
from lrlab.theory.predicted_overlap import least_squares_overlap, marginal_mean_overlap


def predict_marginal_mean(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlap of the dense mean of y x."""
    if spec.side or sparse_size(spec, options) < spec.p:
        return {}
    return {"limit_overlap": marginal_mean_overlap(spec.link_function.moments, spec.n / spec.p)}


@index_solver(
    needs_first_moment,
    one_kind=True,
    oracle="sparsity",
    streams=True,
    memory=0.05,
    predict=predict_marginal_mean,
    simulate=True,
)
def marginal_mean(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Mean of y x.

    Correlates the responses with the measurements, and keeps the largest entries of a sparse signal.

    .. math:: \hat b \propto \tfrac1n \sum_i y_i x_i

    maximize    <b, mean y_i x_i>  over ||b|| = 1, ||b||_0 <= s;  E[y x] = mu_1 b
    solution    the s largest entries of mean y_i x_i, scaled to length 1
    converges   the error is O(sqrt(p / n)) / mu_1, and O(sqrt(s log(p / s) / n)) / mu_1 if b is s-sparse
    cost        one pass over X (n, p) by blocks, memory O(p)

    Yields once: objective -<b, mean y_i x_i>.

    Reference: Plan & Vershynin (2013), "Robust 1-bit compressed sensing and sparse logistic regression: a convex
    programming approach": their program over a set K, here the sparse vectors.
    """
    n, p = problem.shape
    mean, total, s = np.zeros(p), 0.0, kept or problem.sparsity
    for X, y in problem.blocks():
        mean += y @ X / n
        total += float(y.sum())
    b = unit(hard_threshold(mean, s))
    equal = SAME_ANSWERS if abs(total) == n else ""
    yield Iterate(b, objective=-float(b @ mean), note=f"{min(s, p)} of {p} entries.{equal}")


@moment_solver(
    needs_samples,
    needs_first_moment,
    predict=lambda spec, options: {"limit_overlap": least_squares_overlap(spec.link_function.moments, spec.n / spec.p)},
    simulate=True,
)
def sir(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Sliced inverse regression (SIR).

    Direction between the means of x for either response, whitened: least squares of y on x.

    .. math:: \hat b \propto S^{-1} (m_+ - m_-), \qquad m_\pm = \text{mean of } x_i \text{ with } y_i = \pm 1,
        \quad S = \tfrac1n \sum_i x_i x_i^\top - \bar x \bar x^\top

    maximize    b^T B b / b^T S b,  B = p_+ p_- (m_+ - m_-)(m_+ - m_-)^T the covariance of x between the slices, with
                means m_+- and rates p_+-, and S the sample covariance of x
    solution    b along S^{-1} (m_+ - m_-): least squares of y on x with an intercept, linear discriminant analysis
    converges   the error is O(sqrt(p / n)) if mu_1 is not 0; exactly, see `least_squares_overlap`
    cost        one pass over X (n, p) by blocks, n > p, memory O(p^2)

    Yields once: objective -b^T B b / b^T S b, which is minus the squared correlation of y with <x, b>.

    Reference: Li (1991), "Sliced inverse regression for dimension reduction", section 3.
    """
    n_pos, n_neg, s_pos, s_neg, S_pos, S_neg = class_moments(problem)
    n = n_pos + n_neg
    mean, difference = (s_pos + s_neg) / n, s_pos / n_pos - s_neg / n_neg
    S = (S_pos + S_neg) / n - np.outer(mean, mean)
    b = unit(cho_solve(cho_factor(S, lower=True), difference))
    yield Iterate(b, objective=-(n_pos * n_neg / n**2) * float(b @ difference) ** 2 / float(b @ S @ b))
