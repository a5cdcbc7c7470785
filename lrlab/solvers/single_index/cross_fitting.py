"""Directions refined side by side, each without its own share of the data, by products that all of them share.

Column k < K of B (p, K + 1) is fitted without the answers of fold k; the last column uses all of them. Products with X
are taken over blocks of rows, so that the temporary arrays stay small.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices, Mask
from lrlab.solvers.methods.sphere import DAMPING, factorised_directions, newton_directions, tangent
from lrlab.solvers.single_index.link_smoothing import IndexedAnswers, IndexLink, loss

# Entries of X in a block: its square, the largest temporary array, takes 32 MB.
BLOCK = 2**22
# Rows in a block of eleven columns: temporary arrays of 45 kB are taken from memory at hand, larger ones may be mapped
# anew each time.
MOST_ROWS = 512
# A sample of this size suffices to compare smoothnesses; more would only cost time.
CHOICE_ROWS = 20_000
FOLDS = 10
# Entries up to which a factorisation of each column's curvature takes less time than products with X in turn.
SMALL = 32
# Groups of neighbouring indices to which links are fitted.
GROUPS = 256


class Derivatives(NamedTuple):
    """For each column, over its training rows: summed loss (K+1,), minus its gradient (p, K+1), and the Fisher
    weights eta'(z)^2 p (1 - p) of the rows (n, K+1), 0 where they are held out.
    """  # noqa: D205

    loss: Array
    descent: Array
    weights: Array


@dataclass(frozen=True)
class CrossFit:
    """Measurements X (n, p), answers (n,) in {0, 1}, the fold 0..K-1 of each row (n,), and K."""

    X: Array
    answers: Array
    fold: Indices
    folds: int

    @classmethod
    def split(cls, X: Array, y: Array, rng: Generator) -> "CrossFit":
        """Part the measurements, with answers +-1, into folds at random."""
        folds = min(FOLDS, len(y))
        return cls(X, (y + 1.0) / 2.0, rng.permutation(len(y)) % folds, folds)

    @cached_property
    def by_fold(self) -> list[tuple[Indices, Array]]:
        """Of each fold its rows, and a copy of their measurements."""
        rows = (np.flatnonzero(self.fold == fold) for fold in range(self.folds))
        return [(own, self.X[own]) for own in rows]

    @property
    def whole(self) -> "CrossFit":
        """The measurements without folds: the last column alone."""
        return CrossFit(self.X, self.answers, np.full(len(self.X), -1), 0)

    def among(self, entries: Mask) -> "CrossFit":
        """Return the measurements of some entries (p,) alone, in the same folds."""
        return self if entries.all() else CrossFit(self.X[:, entries], self.answers, self.fold, self.folds)

    def indices(self, B: Array) -> Array:
        """Return X B (n, K + 1), by the entries that are not zero."""
        own: Mask = np.any(B, axis=1)
        return self.among(own).X @ B[own]

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows, and which rows train which column, as 0 or 1 (rows, K + 1)."""
        n, p = self.X.shape
        columns, most = np.arange(self.folds + 1), MOST_ROWS * (FOLDS + 1) // (self.folds + 1)
        height = min(most, max(1, BLOCK // p))
        for start in range(0, n, height):
            rows = slice(start, start + height)
            yield rows, (self.fold[rows, None] != columns).astype(float)

    def held_out(self, Z: Array) -> Array:
        """Return each row's index under the column that holds it out (n,), of Z = X B (n, K + 1)."""
        return Z[np.arange(len(Z)), self.fold]

    def rows(self, Z: Array, link: IndexLink | None = None) -> IndexedAnswers:
        """Return the answers, in groups, with the indices of the columns that hold them out."""
        return IndexedAnswers.of(self.held_out(Z), self.answers, GROUPS, link)

    def sample(self, Z: Array, link: IndexLink | None = None) -> IndexedAnswers:
        """Return an even selection of at most 20,000 of these rows."""
        every = slice(None, None, -(-len(Z) // CHOICE_ROWS))
        return IndexedAnswers.of(self.held_out(Z)[every], self.answers[every], GROUPS, link)

    def moment(self, scale: Array, B: Array | None = None) -> Array:
        """Return X^T diag(scale) X B / n, or X^T scale / n without B (p, K + 1)."""
        total = np.zeros((self.X.shape[1], self.folds + 1))
        for rows, in_training in self.blocks():
            in_training *= scale[rows, None]
            total += self.X[rows].T @ (in_training if B is None else in_training * (self.X[rows] @ B))
        return total / len(self.X)

    def squares(self, scale: Array) -> Array:
        """Return the diagonals of X^T diag(scale) X / n (p, K + 1)."""
        total = np.zeros((self.X.shape[1], self.folds + 1))
        for rows, in_training in self.blocks():
            total += np.square(self.X[rows]).T @ (in_training * scale[rows, None])
        return total / len(self.X)

    def losses(self, Z: Array, link: IndexLink) -> Array:
        """Return the summed loss of each column (K + 1,)."""
        total = np.zeros(self.folds + 1)
        for rows, in_training in self.blocks():
            total += (in_training * loss(link(Z[rows])[0], self.answers[rows, None])).sum(axis=0)
        return total

    def derivatives(self, Z: Array, link: IndexLink) -> Derivatives:
        """Return losses, descent directions and Fisher weights at Z = X B."""
        value, descent = np.zeros(self.folds + 1), np.zeros((self.X.shape[1], self.folds + 1))
        weights = np.empty(Z.shape)
        for rows, in_training in self.blocks():
            eta, slope = link(Z[rows])
            e = np.exp(-np.abs(eta))
            y, chance = self.answers[rows, None], np.where(eta > 0, 1.0, e) / (1.0 + e)
            value += (in_training * (np.maximum(eta, 0.0) + np.log1p(e) - y * eta)).sum(axis=0)
            slope *= in_training
            descent += self.X[rows].T @ (slope * (y - chance))
            weights[rows] = slope * slope * e / np.square(1.0 + e)
        return Derivatives(value, descent, weights)

    def curved(self, weights: Array, V: Array) -> Array:
        """Return X^T (weights * (X V)) (p, K + 1): the Fisher information of each column times its vector."""
        total = np.zeros_like(V)
        for rows, _ in self.blocks():
            total += self.X[rows].T @ (weights[rows] * (self.X[rows] @ V))
        return total

    def curvatures(self, weights: Array) -> Array:
        """Return X^T diag(weights) X, the Fisher information of each column (K + 1, p, p)."""
        total = np.zeros((self.folds + 1, self.X.shape[1], self.X.shape[1]))
        for rows, _ in self.blocks():
            for own, weight in zip(total, weights[rows].T, strict=True):
                own += (self.X[rows].T * weight) @ self.X[rows]
        return total

    def newton(self, at: Derivatives, B: Array, free: Mask, dropped: Array | None = None) -> Array:
        """Return the Newton directions of all columns on the sphere, within the `free` coordinates (p, K + 1).

        `dropped` is the part of B that the step also takes away: the quadratic model is then minimised over what is
        supported on `free`.
        """
        own = (free | (B != 0)).any(axis=1)
        if not own.all():
            step, near = np.zeros_like(B), at._replace(descent=at.descent[own])
            step[own] = self.among(own).newton(near, B[own], free[own], None if dropped is None else dropped[own])
            return step
        outward = np.maximum((B * at.descent).sum(axis=0), 0.0)
        right = tangent(B, at.descent)
        if dropped is not None:
            right = right + self.curved(at.weights, dropped) + outward * dropped
        damping = outward + DAMPING * at.weights.sum(axis=0)
        if len(B) <= SMALL and free.all():
            D = factorised_directions(self.curvatures(at.weights), B, right, damping)
        else:
            D = newton_directions(lambda V: self.curved(at.weights, V), B, right, free, damping)
        return D if dropped is None else D - dropped
