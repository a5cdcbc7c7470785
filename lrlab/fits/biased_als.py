"""Biases and factors of users and items by alternating least squares whose ridge comes from the ratings themselves."""

import math
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array
from lrlab.models.ratings_problem import Factors, RatingTable, rms
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate

LEAST = 1e-9
"""Smallest variance, as a share of that of the ratings: what has none is held at 0."""
HELD_SWEEPS = 8
"""First sweeps, in which the variances of factors stay where they start."""
LINE_SWEEPS = 60
LINE_SETTLED = 1e-7
"""Relative change of the noise at which the fit of biases alone ends."""


def biased_als(
    table: RatingTable,
    rank: int,
    *,
    ridge: Annotated[
        float,
        Parameter(
            meaning="weight of squared factors against squared errors; 0: for each factor what the ratings say",
            low=0,
            high=1e9,
        ),
    ] = 0.0,
    rng: Generator,
) -> Iterator[Iterate]:
    r"""Fit ratings r_ij = mean + a_i + c_j + u_i^T v_j + noise, the vectors of rank k + 1 drawn about their features.

    model       (a_i, u_i) ~ N(M^T x_i, diag(alpha)), M_ab ~ N(0, tau_b), and alike for items; noise ~ N(0, sigma^2)
    update      all (a_i, u_i): each its (k + 1) x (k + 1) least squares with ridge sigma^2 / alpha towards M^T x_i,
                whose normal equations carry the covariances of the items' vectors; then those of the items; then M,
                alpha, tau, sigma^2 by their moments
    converges   each update lowers one bound of the evidence; factors that the ratings do not bear shrink to 0

    The variances of factors are held for 8 sweeps. Rank k is an upper bound, and the ridge needs no search. A given
    ridge is that of all factors instead, without covariances: least squares alternated, as in Zhou et al. (2008); the
    biases have the ridge that suits them.
    Yields after each sweep the means as `Factors`; residual: change of the fitted ratings relative to their misfit.
    Memory O((n1 + n2) k^2). A sweep costs O(m k^2 + (n1 + n2) k^3).
    Reference: Lim & Teh (2007), "Variational Bayesian approach to movie rating prediction", section 3; the means from
    features: Agarwal & Chen (2009), "Regression-based latent factor models".
    """
    sweeps, fit = Sweeps(table, rank, ridge, rng), np.zeros_like(table.b)
    rows, columns = table.given.rows, table.given.columns
    while True:
        sweeps.sweep()
        means = sweeps.means()
        fit, before = means.at(rows, columns), fit
        yield Iterate(means, residual=rms(fit - before) / (rms(fit - table.b) or 1.0))


class Line(NamedTuple):
    """The fit of biases alone, without features, and the ridges that suit those of users and of items."""

    factors: Factors
    ridges: tuple[float, float]


def bias_line(table: RatingTable) -> Line:
    """Fit ratings by their mean and biases of users and items, both about their own means."""
    sweeps = Sweeps(table.plain, 0, 0.0, np.random.default_rng(0))
    before = np.inf
    for _ in range(LINE_SWEEPS):
        sweeps.sweep()
        if abs(sweeps.noise - before) <= LINE_SETTLED * sweeps.noise:
            break
        before = sweeps.noise
    users, items = (float(sweeps.noise / side.alpha[0]) for side in (sweeps.users, sweeps.items))
    return Line(sweeps.means(), (users, items))


def memory_bytes(table: RatingTable, rank: int) -> int:
    """Return the bytes of a fit: covariances and systems of both sides, ratings both ways, features."""
    (n1, n2), width = table.size, 1 + rank
    features = sum(3 * X.size + 4 * X.shape[1] ** 2 for X in (table.X, table.Y))
    return 8 * ((n1 + n2) * (5 * width**2 + 10 * width) + 12 * len(table.b) + features)


class Sweeps:
    """The state of the alternation: both sides, and the variance `noise` of the noise."""

    def __init__(self, table: RatingTable, rank: int, ridge: float, rng: Generator) -> None:
        """Start from random vectors of items."""
        b, places = table.b, (table.given.rows, table.given.columns)
        self.ratings = csr_array((b, places), shape=table.size)
        self.mask = csr_array((np.ones(len(b)), places), shape=table.size)
        self.transposed = self.ratings.T.tocsr(), self.mask.T.tocsr()
        self.sums, self.counts = self.ratings.sum(axis=1), self.mask.sum(axis=1)
        self.total = float(b @ b)
        self.noise = self.total / len(b) or 1.0
        self.least = LEAST * self.noise
        # Half the ridge that shrinks noise of the ratings' size to 0.
        norm = sum(math.sqrt(len(b) / n) for n in table.size)
        start = 2.0 * math.sqrt(self.noise) / norm
        self.users, self.items = (Side(X, rank, self.noise / 4.0, start, ridge) for X in (table.X, table.Y))
        self.count = 0
        self.items.mean[:, 1:] = rng.standard_normal((len(table.Y), rank)) * math.sqrt(start)

    def sweep(self) -> None:
        """Update users, items and the noise."""
        self.count += 1
        for side, pulled, other in (
            (self.users, (self.ratings, self.mask), self.items),
            (self.items, self.transposed, self.users),
        ):
            side.refit(*pulled, other, self.noise)
            side.renew(held=self.count <= HELD_SWEEPS)
        self.noise = max(self._misfit() / self.mask.nnz, self.least)

    def means(self) -> Factors:
        """Return the means of all vectors and maps."""
        users, items = self.users, self.items
        return Factors(users.mean.copy(), items.mean.copy(), users.map.copy(), items.map.copy())

    def _misfit(self) -> float:
        """Return the expected sum of squared errors, with the normal equations of the items."""
        users, items = self.users, self.items
        bias, squares = users.mean[:, 0], users.mean[:, 0] ** 2 + users.covariance[:, 0, 0]
        alone = self.total - 2.0 * float(bias @ self.sums) + float(squares @ self.counts)
        second = np.einsum("ia,ib->iab", items.mean, items.mean) + items.covariance
        return alone - 2.0 * float(np.vdot(items.mean, items.pull)) + float(np.vdot(items.normal, second))


class Side:
    """The vectors (bias, factors) of the members of one side: their means (n, 1 + k) and covariances.

    alpha, tau (1 + k,): variances about what features say, and of the entries of `map` (1 + d, 1 + k), which says it.
    """

    def __init__(self, X: Array, rank: int, biases: float, factors: float, ridge: float) -> None:
        """Start at 0, with variances of biases and of factors."""
        self.X, self.ridge, self.least = X, ridge, LEAST * biases
        n, width = len(X), 1 + rank
        self.values, self.basis = np.linalg.eigh(X.T @ X)
        self.values = np.maximum(self.values, 0.0)
        self.mean, self.map = np.zeros((n, width)), np.zeros((X.shape[1], width))
        self.covariance: Array = np.zeros((n, width, width))
        self.alpha = np.array([biases] + [factors] * rank)
        self.tau = self.alpha.copy()
        self.upper = np.triu_indices(width)

    def moments(self) -> tuple[Array, Array, Array]:
        """Return of z = (1, factors) its means (n, 1 + k), E z z^T as upper triangles, and E bias z."""
        z = np.hstack([np.ones((len(self.mean), 1)), self.mean[:, 1:]])
        C = self.covariance.copy()
        C[:, 0, :] = C[:, :, 0] = 0.0
        left, right = self.upper
        crossed = self.mean[:, :1] * z
        crossed[:, 1:] += self.covariance[:, 0, 1:]
        return z, z[:, left] * z[:, right] + C[:, left, right], crossed

    def refit(self, ratings: csr_array, mask: csr_array, other: "Side", noise: float) -> None:
        """Take the vectors' distribution given that of the other side."""
        z, squares, crossed = other.moments()
        sums = mask @ np.hstack([squares, crossed])
        grams = np.empty_like(self.covariance)
        left, right = self.upper
        grams[:, left, right] = grams[:, right, left] = sums[:, : len(left)]
        weights = noise / self.alpha
        if self.ridge:
            weights[1:] = self.ridge
        self.normal, self.pull = grams, ratings @ z - sums[:, len(left) :]
        inverse = np.linalg.inv(grams + np.diag(weights))
        self.mean = np.einsum("iab,ib->ia", inverse, self.pull + weights * (self.X @ self.map))
        self.covariance = noise * inverse
        if self.ridge:
            self.covariance[:, 1:, :] = self.covariance[:, :, 1:] = 0.0

    def renew(self, held: bool) -> None:
        """Set `map` to its mean given the vectors, and alpha and tau to the mean squares they stand for.

        held: those of factors stay; shrunk before they have grown, factors that the ratings do bear would vanish, too.
        """
        n, d = self.X.shape
        ridge = self.alpha / self.tau
        shrunk = 1.0 / (self.values[:, None] + ridge)
        self.map = self.basis @ (shrunk * (self.basis.T @ (self.X.T @ self.mean)))
        # A constant factor of one side would be a bias of the other side that no ridge weighs.
        self.map[0, 1:] = 0.0
        off = self.mean - self.X @ self.map
        variances = np.einsum("iaa->a", self.covariance)
        # The squares of `off` and of `map`, and their variances, `alpha` times leverages and inverses.
        spread = self.alpha * (self.values[:, None] * shrunk).sum(axis=0)
        tau = ((self.map**2).sum(axis=0) + self.alpha * shrunk.sum(axis=0)) / d
        renewed = slice(0, 1 if held else None)
        alpha = np.maximum(((off**2).sum(axis=0) + variances + spread) / n, self.least)
        self.alpha[renewed], self.tau[renewed] = alpha[renewed], np.maximum(tau, self.least)[renewed]
