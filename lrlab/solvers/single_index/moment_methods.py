"""First-moment methods of single-index models: the mean of y x, and sliced inverse regression."""

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve

from lrlab.arrays import Array
from lrlab.linalg import Gram, hard_threshold, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, all_of
from lrlab.solvers.single_index.family import (
    SAME_ANSWERS,
    SupportSize,
    index_solver,
    moment_solver,
    needs_both_answers,
    needs_first_moment,
    needs_samples,
    refuse_first_moment,
    sparse_size,
    support_size,
)
from lrlab.theory.predicted_overlap import least_squares_overlap, marginal_mean_overlap


class ClassMoments(NamedTuple):
    """Counts, sums of x (p,), and sums of x x^T (p, p) over the samples with y = 1 and y = -1."""

    n_pos: int
    n_neg: int
    s_pos: Array
    s_neg: Array
    S_pos: Array
    S_neg: Array


def class_moments(problem: SingleIndexData) -> ClassMoments:
    """Return the class moments of a single-index problem; one pass by blocks, memory 2 p^2 and a block."""
    p = problem.shape[1]
    counts, sums, grams = [0, 0], [np.zeros(p), np.zeros(p)], [Gram(p), Gram(p)]
    for X, y in problem.blocks():
        for k, answer in enumerate((1.0, -1.0)):
            chosen = X[y == answer]
            grams[k].add(chosen)
            sums[k] += chosen.sum(axis=0)
            counts[k] += len(chosen)
    return ClassMoments(counts[0], counts[1], sums[0], sums[1], grams[0].matrix(), grams[1].matrix())


def predict_marginal_mean(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlap of the dense mean of y x."""
    if spec.side or sparse_size(spec, options) < spec.p:
        return {}
    return {"limit_overlap": marginal_mean_overlap(spec.link_function.moments, spec.n / spec.p)}


@index_solver(
    oracle="sparsity",
    streams=True,
    memory=0.05,
    refuse=refuse_first_moment,
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
    mean, total = np.zeros(p), 0.0
    for X, y in problem.blocks():
        mean += y @ X
        total += float(y.sum())
    mean /= n
    s = support_size(problem, kept)
    b = unit(hard_threshold(mean, s))
    equal = SAME_ANSWERS if abs(total) == n else ""
    yield Iterate(b, objective=-float(b @ mean), note=f"{min(s, p)} of {p} entries.{equal}")


def predict_sir(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlap of least squares."""
    return {"limit_overlap": least_squares_overlap(spec.link_function.moments, spec.n / spec.p)}


@moment_solver(refuse=all_of(needs_samples, needs_first_moment), predict=predict_sir, equivariant=True, simulate=True)
@needs_both_answers
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
    moments = class_moments(problem)
    S, mean = covariance(moments)
    n = moments.n_pos + moments.n_neg
    answer = (moments.n_pos - moments.n_neg) / n
    # Cov(x, y) = 2 p_+ p_- (m_+ - m_-).
    cross = (moments.s_pos - moments.s_neg) / n - answer * mean
    b = unit(cho_solve(cho_factor(S, lower=True), cross))
    spread = float(b @ S @ b) * (1.0 - answer**2)
    value = float(b @ cross) ** 2 / spread if spread > 0 else 0.0
    yield Iterate(b, objective=-value)


def covariance(moments: ClassMoments) -> tuple[Array, Array]:
    """Return the sample covariance (p, p), divided by n, and the mean (p,) of x."""
    n = moments.n_pos + moments.n_neg
    mean = (moments.s_pos + moments.s_neg) / n
    S = moments.S_pos + moments.S_neg
    S /= n
    S -= np.outer(mean, mean)
    return S, mean
