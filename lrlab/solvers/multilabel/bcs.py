"""Bayesian compressed sensing of labels: random projections, their regression and sparse labels in one model."""

from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, Iterate, Iterates, number
from lrlab.solvers.multilabel.compressed_labels import MOST, Compressed, inferred
from lrlab.solvers.multilabel.design import Design, Spectrum
from lrlab.solvers.multilabel.labels import gram_numbers, label_solver


@label_solver(oracle="rank", matrix=gram_numbers)
def bcs(
    problem: LabelData,
    *,
    ratio: Annotated[float, number(0, 1, "random projections per row of labels, over L; 0 takes the rank")] = 0.6,
    regularization: Annotated[float, number(1e-6, 1e9, "regularization strength of W", symbol="λ", scale="log")] = 10.0,
    variance: Annotated[float, number(1e-6, 1e3, "noise variance of projections", symbol="σ²", scale="log")] = 0.003,
    shape: Annotated[float, number(1e-6, 1e6, "shape of the prior: small if sparse", symbol="a", scale="log")] = 1.0,
    rounds: Annotated[int, number(1, MOST, "variational rounds for labels of new rows; one is linear in the row")] = 3,
    rng: Generator,
) -> Iterates:
    r"""Bayesian compressed sensing.

    Predicts random projections of the labels, and sparse labels from these, all in one Bayesian model.

    .. math:: \mathbb E[y_i] = v \Phi^\top G^{-1} (W^\top x_i - \Phi y_{\text{obs}}), \quad v_{ij} = \frac{b +
        \mathbb E[y_{ij}^2] / 2}{a + 1/2}, \quad \mathbb E[W] = (X^\top X + \lambda I)^{-1} X^\top \mathbb E[Y]
        \Phi^\top

    model       Phi y_i = W^T x_i + N(0, s^2 I), W_fc ~ N(0, s^2 / lambda), Phi Phi^T = (L / k) I, at random;
                y_ij ~ N(0, 1 / alpha_ij), alpha_ij ~ Gamma(a, b), b / a the fraction of positive labels observed
    estimate    E[W] under the Q(W) Q(Y) Q(alpha) nearest to the posterior, Y the unobserved labels
    update      Q(y_i) = N(v Phi^T G^-1 (W^T x_i - Phi y_obs), ...), G = s^2 I + Phi diag(v) Phi^T, v = 1 / E[alpha]
    cost        an n x L table and n systems k x k if labels are missing, after one eigendecomposition of the smaller of
                X^T X and X X^T

    With all labels observed W is exact, and there is one iterate. The noises of the paper's projections z_i are
    integrated out: s^2 is the sum of their variances. With intercepts, T = X W + 1 c^T + noise of centered X, c the
    mean of E[T]. New rows have no label observed, and Q(W) is kept for them. Yields E[W] as Compressed, residual: by
    how much E[W] changed, relative; none if W is exact.

    Reference: Kapoor, Viswanathan, Jain (2012), "Multilabel classification using Bayesian compressed sensing", section
    3; compared in Yu, Jain, Kar, Dhillon (2014), section 5.
    """
    Y, mask, design = problem.Y, problem.mask, Design.of(problem.X, problem.intercept)
    n, L = Y.shape
    k = max(1, round(ratio * L)) if ratio else problem.rank
    Phi = np.sqrt(L / k) * np.linalg.qr(rng.standard_normal((L, k)))[0].T
    positive = (Y.nnz + 1) / ((n * L if mask is None else mask.nnz) + 1)
    rate, spectrum = shape * positive, Spectrum.of(design.X)
    settings, observed = np.array([shape, rate, variance, rounds]), Y @ Phi.T

    def regressed(images: Array) -> tuple[Array, Array, Compressed]:
        """Return E[W], predictions of projections T, and the predictor, from E[T] (n, k)."""
        M = spectrum.solve(images, np.eye(k), regularization)
        c = np.zeros(k) if design.mean is None else images.mean(axis=0)
        offset = c if design.mean is None else c - design.mean @ M
        return M, design.X @ M + c, Compressed(M, Phi, settings, offset)

    M, predicted, estimate = regressed(observed)
    if mask is None:
        yield Iterate(estimate)
        return
    v = np.where(mask.toarray(), 0.0, rate / shape)
    while True:
        v, images = inferred(v, observed, predicted, Phi, shape, rate, variance)
        before = M
        M, predicted, estimate = regressed(images)
        yield Iterate(estimate, residual=float(np.linalg.norm(M - before) / (np.linalg.norm(M) or 1.0)))
