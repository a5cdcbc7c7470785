"""Bayesian compressed sensing of labels: random projections, their regression and sparse labels in one model."""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.special import gammaln

from lrlab.arrays import Array
from lrlab.models.protocols import LabelData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.multilabel.affine import Design
from lrlab.solvers.multilabel.compressed_labels import MOST, Compressed, Sparsity, height, posterior
from lrlab.solvers.multilabel.leml_squared import Spectrum
from lrlab.solvers.multilabel.requirements import multilabel_entry, spectrum

Ratio = Annotated[
    float,
    Parameter(
        meaning="number of random projections of a row of labels, as a share of L; 0 takes the rank of the problem",
        low=0,
        high=1,
    ),
]
Weight = Annotated[float, Parameter(meaning="weight of the penalty on W", symbol="λ", low=1e-6, high=1e9, scale="log")]
Variance = Annotated[
    float,
    Parameter(
        meaning="variance of the noise between projections of labels and their prediction",
        symbol="σ²",
        low=1e-6,
        high=1e3,
        scale="log",
    ),
]
Shape = Annotated[
    float,
    Parameter(
        meaning="shape of the Gamma prior of a label's precision: the smaller, the sparser the labels",
        symbol="a",
        low=1e-6,
        high=1e6,
        scale="log",
    ),
]
Rounds = Annotated[
    int, Parameter(meaning="variational rounds for labels of new rows; one is linear in the row", low=1, high=MOST)
]


class Regression(NamedTuple):
    """The posterior of W (d, k), columns N(M_c, S), from projections T = X W + noise of variance s^2: W ~ N(0, tau^-1).

    spectrum: of X. weight: s^2 tau, lambda of ridge regression. variance: s^2.
    """

    spectrum: Spectrum
    weight: float
    variance: float

    def mean(self, T: Array) -> Array:
        """Return M for E[T] (n, k)."""
        return self.spectrum.solve(T, np.eye(T.shape[1]), self.weight)

    def images(self, M: Array, c: Array) -> Array:
        """Return X M + c, (n, k)."""
        return self.spectrum.X @ M + c

    def bound(self, M: Array, misfit: float, spread: float, n: int) -> float:
        """Return E[log p(T | W)] + E[log p(W)] + entropy of W, for ||E[T] - X M||^2 and the summed variance of T."""
        d, k = M.shape
        s = self.spectrum.s
        tau = self.weight / self.variance
        # S has the eigenvalues s^2 / (e + lambda), e those of X^T X, and 1 / tau beyond the rank of X.
        fit = misfit + spread + k * self.variance * float((s / (s + self.weight)).sum())
        likelihood = -fit / (2 * self.variance) - n * k / 2 * np.log(2 * np.pi * self.variance)
        beyond = d - len(s)
        trace = self.variance * float((1 / (s + self.weight)).sum()) + beyond / tau
        logarithm = float(np.log(self.variance / (s + self.weight)).sum()) - beyond * np.log(tau)
        prior = k * (d * np.log(tau) + logarithm + d) - tau * (float(np.vdot(M, M)) + k * trace)
        return float(likelihood + prior / 2)


class Unobserved(NamedTuple):
    """Unobserved labels: the prior variance of each (n, L), 0 where observed, and what the posterior says of them.

    images: E[Y] Phi^T of all labels (n, k). spread: summed variance of Y Phi^T. bound: their part of the bound.
    """

    v: Array
    images: Array
    spread: float
    bound: float


def bcs(
    problem: LabelData,
    *,
    ratio: Ratio = 0.6,
    regularization: Weight = 10.0,
    variance: Variance = 0.003,
    shape: Shape = 1.0,
    rounds: Rounds = 3,
    rng: Generator,
) -> Iterates:
    r"""Predict labels Y (n, L) from k random projections of them, Phi y (k,): one Bayesian model, variationally.

    model       Phi y_i = W^T x_i + N(0, s^2 I), W_fc ~ N(0, s^2 / lambda), Phi Phi^T = (L / k) I, at random;
                y_ij ~ N(0, 1 / alpha_ij), alpha_ij ~ Gamma(a, b), b / a the share of the observed labels that are on
    posterior   Q(W) Q(Y) Q(alpha), Y the labels that are not observed
    update      Q(y_i) = N(v Phi^T G^-1 (W^T x_i - Phi y_obs), ...), G = s^2 I + Phi diag(v) Phi^T, v = 1 / E[alpha];
                E[alpha_ij] = (a + 1/2) / (b + E[y_ij^2] / 2); E[W] = (X^T X + lambda I)^-1 X^T E[Y] Phi^T

    The bound never falls. With all labels observed W is exact, and there is one iterate. The paper's projections z_i,
    with their two noises, are integrated out: what is left of the noises is the sum s^2 of their variances. With
    intercepts, where the problem wants them, T = X W + 1 c^T + noise of centred X, c the mean of E[T], which maximises
    the bound.
    Takes one eigendecomposition of the smaller of X^T X and X X^T; where labels are missing a table (n, L) and n
    systems k x k an iteration. New rows have no label observed, and Q(W) is kept for them.
    Yields estimate E[W] as Compressed, objective: minus the bound, the log evidence where all is observed; residual: by
    how much E[W] changed, relative; none where W is exact.
    Reference: Kapoor, Viswanathan, Jain (2012), "Multilabel classification using Bayesian compressed sensing", section
    3; named a rival in Yu, Jain, Kar, Dhillon (2014), section 5.
    """
    Y, mask = problem.Y, problem.mask
    design = Design.of(problem.X, problem.intercept)
    n, L = Y.shape
    k = projections(ratio, L, problem.rank)
    Phi = np.sqrt(L / k) * np.linalg.qr(rng.standard_normal((L, k)))[0].T
    prior = Sparsity(shape, shape * share_on(Y, mask))
    regression = Regression(Spectrum.of(design.X), regularization, variance)
    settings = np.array([*prior, variance, rounds])
    observed = Y @ Phi.T
    M, c = regression.mean(observed), intercepts(design, observed)
    if mask is None:
        misfit = float(np.linalg.norm(observed - regression.images(M, c))) ** 2
        yield Iterate(predictor(design, M, c, Phi, settings), -regression.bound(M, misfit, 0.0, n))
        return
    unobserved = Unobserved(hidden(mask, prior.variance), observed, 0.0, 0.0)
    while True:
        unobserved = inferred(unobserved.v, observed, regression.images(M, c), Phi, prior, variance)
        before, M, c = M, regression.mean(unobserved.images), intercepts(design, unobserved.images)
        misfit = float(np.linalg.norm(unobserved.images - regression.images(M, c))) ** 2
        bound = regression.bound(M, misfit, unobserved.spread, n) + unobserved.bound
        change = float(np.linalg.norm(M - before) / (np.linalg.norm(M) or 1.0))
        yield Iterate(predictor(design, M, c, Phi, settings), -bound, change)


def intercepts(design: Design, images: Array) -> Array:
    """Return the intercepts c (k,) of projections, or 0 without."""
    return np.zeros(images.shape[1]) if design.mean is None else images.mean(axis=0)


def predictor(design: Design, M: Array, c: Array, Phi: Array, settings: Array) -> Compressed:
    """Return the predictor for rows that are not centred."""
    return Compressed(M, Phi, settings, c if design.mean is None else c - design.mean @ M)


def projections(ratio: float, L: int, rank: int) -> int:
    """Return the number of random projections of L labels."""
    return max(1, round(ratio * L)) if ratio else rank


def share_on(Y: csr_array, mask: csr_array | None) -> float:
    """Return the share of the labels observed that are on, at least that of one more."""
    observed = Y.shape[0] * Y.shape[1] if mask is None else mask.nnz
    return (Y.nnz + 1) / (observed + 1)


def hidden(mask: csr_array, value: float) -> Array:
    """Return a table with a value where nothing is observed, and 0 elsewhere."""
    return np.where(mask.toarray(), 0.0, value)


def inferred(v: Array, observed: Array, predicted: Array, Phi: Array, prior: Sparsity, variance: float) -> Unobserved:
    """Return the posterior of unobserved labels, then of their precisions, from W^T x (n, k) and Phi y_obs."""
    n, k = len(v), len(Phi)
    variances, images, spread, bound = np.zeros_like(v), observed.copy(), 0.0, 0.0
    for start in range(0, n, height(Phi)):
        cut = slice(start, min(start + height(Phi), n))
        at = posterior(predicted[cut] - observed[cut], v[cut], Phi, variance)
        there = v[cut] > 0
        images[cut] += at.mean @ Phi.T
        spread += variance * (k * len(at.mean) - variance * float(at.trace.sum()))
        variances[cut] = np.where(there, prior.variances(at.mean**2 + at.variance), 0.0)
        bound += labels_bound(v[cut][there], variances[cut][there], prior)
        bound += float(k * len(at.mean) * np.log(variance) + at.logarithm.sum()) / 2
    return Unobserved(variances, images, spread, bound)


def labels_bound(before: Array, after: Array, prior: Sparsity) -> float:
    """Return E[log p(y | alpha)] + E[log p(alpha)] + entropies of hidden labels and precisions, less log |G / s^2|.

    before, after: 1 / E[alpha] from which Q(y) was computed, and 1 / E[alpha] computed from Q(y).
    """
    a, b = prior
    constant = a * np.log(b) - gammaln(a) + gammaln(a + 0.5) + 0.5
    rates = (a + 0.5) * after
    return float(len(after) * constant - (a + 0.5) * np.log(rates).sum() + np.log(before).sum() / 2)


ENTRY = multilabel_entry(
    title="Bayesian compressed sensing",
    update=r"\mathbb E[y_i] = v \Phi^\top G^{-1} (W^\top x_i - \Phi y_{\text{obs}}), \quad v_{ij} = \frac{b +"
    r" \mathbb E[y_{ij}^2] / 2}{a + 1/2}, \quad \mathbb E[W] = (X^\top X + \lambda I)^{-1} X^\top \mathbb E[Y]"
    r" \Phi^\top",
    summary="Predicts random projections of the labels, and sparse labels from these, all in one Bayesian model.",
    run=bcs,
    oracle=("rank",),
    memory=0.1,
    matrix=spectrum,
)
