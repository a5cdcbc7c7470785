r"""Moments of a single-index problem drawn from their exact law at its n and p, while X (n, p) is never formed.

The methods of first and second moments read X only through sums over the answers of either kind, or over pairs of
measurements. Turn the axes so that b = e_1. The column z = X b decides the answers; the other p - 1 columns G are
independent of both and standard normal, and stay so under rotations from the left. For a class of K answers, with the
orthonormal vectors q_1 along 1 and q_2 along z - mean(z) of its rows,

    sum x   = (sum z, sqrt(K) g_1),   g_k = q_k^T G ~ N(0, I) independent,
    z^T G   = sqrt(K) mean(z) g_1 + ||z - mean(z)|| g_2,
    G^T G   = g_1 g_1^T + g_2 g_2^T + W,   W ~ Wishart(K - 2),

and W is drawn by its Cholesky factor (Bartlett's decomposition): p^2 random numbers stand for n p. A matrix of pairs
has one column that is not normal, and is drawn in tridiagonal form (`theory.spiked`), apart from the moments of the
classes, by which a method may choose between matrices of pairs: how the two depend on each other is left out.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.protocol import Checkpoint, proceed
from lrlab.theory.links import Link, normal_density
from lrlab.theory.spiked import NODES, REACH, surviving_squares, tridiagonal

MANY = 10_000
"""Rows from which on their sums are drawn in the place of the rows."""
SEED = 0x11B
"""Of the draws: the same spec has the same ones."""


class ClassMoments(NamedTuple):
    """For the answers +1 and -1: counts, sums of x (p,), and sums of x x^T (p, p)."""

    n_pos: int
    n_neg: int
    s_pos: Array
    s_neg: Array
    S_pos: Array
    S_neg: Array


class IndexSums(NamedTuple):
    """Of the indices z (K,) of some rows: number, sum and sum of squares; z itself where it was drawn."""

    rows: int
    total: float
    squares: float
    z: Array | None = None

    @classmethod
    def of(cls, z: Array) -> "IndexSums":
        """Return the sums of given indices."""
        return cls(len(z), float(z.sum()), float(z @ z), z)


@dataclass(eq=False)
class DrawnProblem:
    """One draw: sums over rows of either answer (pos, neg), and differences over pairs that differ or agree.

    As `SingleIndexData` for methods that read moments of classes or of pairs alone; b is the first unit vector.
    differ, agree: sums of (z_i - z_j) / sqrt(2) over consecutive pairs.
    """

    shape: tuple[int, int]
    link: Link
    pos: IndexSums
    neg: IndexSums
    differ: IndexSums
    agree: IndexSums
    rng: Generator
    checkpoint: Checkpoint = proceed

    @property
    def sparsity(self) -> int:
        """All entries: the axes are turned, so that no entry of b is known to be 0."""
        return self.shape[1]

    @property
    def X(self) -> Array:
        """Raise: there is none."""
        raise TypeError("a drawn problem has moments and no measurements")

    @property
    def y(self) -> Array:
        """Raise: there are none."""
        raise TypeError("a drawn problem has moments and no answers")

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Raise: there are none."""
        raise TypeError("a drawn problem has moments and no measurements")

    @cached_property
    def classes(self) -> ClassMoments:
        """The moments of both classes of answers."""
        (s_pos, S_pos), (s_neg, S_neg) = (_class(sums, self.shape[1], self.rng) for sums in (self.pos, self.neg))
        return ClassMoments(self.pos.rows, self.neg.rows, s_pos, s_neg, S_pos, S_neg)

    @cached_property
    def pairs(self) -> tuple[Array, Array]:
        """M/4 and M'/4 of consecutive pairs, each in axes of its own."""
        n, p = self.shape
        return _pair_moment(self.differ, n // 2, p, self.rng), _pair_moment(self.agree, n // 2, p, self.rng)


def _class(sums: IndexSums, p: int, rng: Generator) -> tuple[Array, Array]:
    """Return sum x (p,) and sum x x^T (p, p) of rows with these indices."""
    K, total, gram = sums.rows, np.empty(p), np.empty((p, p))
    if sums.z is not None and K < p + 2:
        X = np.column_stack([sums.z, rng.standard_normal((K, p - 1))])
        return X.sum(axis=0), X.T @ X
    g = rng.standard_normal((2, p - 1))
    factor = _wishart_factor(K - 2, p - 1, rng)
    spread = math.sqrt(max(sums.squares - sums.total**2 / K, 0.0))
    total[0], total[1:] = sums.total, math.sqrt(K) * g[0]
    gram[0, 0] = sums.squares
    gram[0, 1:] = gram[1:, 0] = sums.total / math.sqrt(K) * g[0] + spread * g[1]
    gram[1:, 1:] = factor @ factor.T + g.T @ g
    return total, gram


def _wishart_factor(freedom: int, p: int, rng: Generator) -> Array:
    """Return L (p, p), lower triangular, such that L L^T is a Wishart matrix of at least p degrees of freedom."""
    L = np.tril(rng.standard_normal((p, p)), -1)
    np.fill_diagonal(L, np.sqrt(rng.chisquare(freedom - np.arange(p))))
    return L


def _pair_moment(sums: IndexSums, count: int, p: int, rng: Generator) -> Array:
    """Return the mean over `count` pairs of dx dx^T (p, p), over those whose differences along b have these sums."""
    diagonal, side = tridiagonal(sums.rows, sums.squares, p, rng)
    return 2.0 / count * (np.diag(diagonal) + np.diag(side, 1) + np.diag(side, -1))


def drawn_problems(link: Link, n: int, p: int, count: int) -> Iterator[DrawnProblem]:
    """Yield draws of a problem; more of them begin with the same ones."""
    yield from (drawn_problem(link, n, p, number) for number in range(count))


def drawn_problem(link: Link, n: int, p: int, number: int) -> DrawnProblem:
    """Return one of the draws of a problem."""
    rng = np.random.default_rng([SEED, n, p, number])
    pos, neg, differ, agree = _many_sums(link, n, rng) if _are_many(link, n, p) else _sums(link, n, rng)
    return DrawnProblem((n, p), link, pos, neg, differ, agree, rng)


def _are_many(link: Link, n: int, p: int) -> bool:
    """Return whether sums over rows of either kind are as good as Gaussian."""
    rare = n * (1.0 - abs(link.moments.mu0)) / 2.0
    return n >= MANY and rare > 4 * p + MANY / 10


def _sums(link: Link, n: int, rng: Generator) -> list[IndexSums]:
    z = rng.standard_normal(n)
    noisy = z + link.noise * rng.standard_normal(n)
    yes = rng.random(n) < (1.0 + link.base(noisy)) / 2.0
    first, second = slice(0, n // 2 * 2, 2), slice(1, n // 2 * 2, 2)
    dz, changed = (z[second] - z[first]) / math.sqrt(2.0), yes[second] != yes[first]
    return [IndexSums.of(part) for part in (z[yes], z[~yes], dz[changed], dz[~changed])]


def _many_sums(link: Link, n: int, rng: Generator) -> list[IndexSums]:
    mean, root = _sum_law(link)
    yes, total_pos, squares_pos, total_neg, squares_neg = n * mean + math.sqrt(n) * (root @ rng.standard_normal(5))
    classes = [
        IndexSums(round(yes), total_pos, max(squares_pos, 0.0)),
        IndexSums(n - round(yes), total_neg, max(squares_neg, 0.0)),
    ]
    differ = int(rng.binomial(n // 2, (1.0 - link.moments.mu0**2) / 2.0))
    for K, sign in ((differ, 1.0), (n // 2 - differ, -1.0)):
        mean_square, variance = surviving_squares(link, sign)
        classes.append(IndexSums(K, 0.0, max(rng.normal(K * mean_square, math.sqrt(K * variance)), 0.0)))
    return classes


@lru_cache(maxsize=256)
def _sum_law(link: Link) -> tuple[Array, Array]:
    """Return mean (5,) and a root of the covariance (5, 5) of 1, z, z^2 of a row with y = 1 and z, z^2 of y = -1."""
    z = np.linspace(-REACH, REACH, NODES)
    weight, f = normal_density(z) * (z[1] - z[0]), np.asarray(link(z), dtype=float)
    yes, no = weight * (1.0 + f) / 2.0, weight * (1.0 - f) / 2.0
    pos, neg = np.stack([z**0, z, z**2]), np.stack([z, z**2])
    mean = np.concatenate([pos @ yes, neg @ no])
    second = np.zeros((5, 5))
    second[:3, :3], second[3:, 3:] = (pos * yes) @ pos.T, (neg * no) @ neg.T
    values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
    return mean, vectors * np.sqrt(np.maximum(values, 0.0))
