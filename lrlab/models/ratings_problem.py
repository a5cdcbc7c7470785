"""Ratings of items by users: biases of both and a low-rank part, with a person's own features of both sides."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices, Mask
from lrlab.datasets import Ratings
from lrlab.lowrank import LowRank
from lrlab.models.completion import InductiveCompletion
from lrlab.operators.entries import Entries

SWEEPS = 100
SETTLED = 1e-6
"""Relative change at which the sweeps over biases end."""


@dataclass(frozen=True)
class Cells:
    """Rated cells of the table: rows, columns (m,) in row-major order, and their ratings (m,)."""

    rows: Indices
    columns: Indices
    values: Array

    def part(self, chosen: Mask) -> "Cells":
        """Return some of the cells, given by a mask."""
        return Cells(self.rows[chosen], self.columns[chosen], self.values[chosen])


class Factors(NamedTuple):
    """Ratings mean + a_i + c_j + u_i^T v_j: `users` (n1, 1 + k) has rows (a_i, u_i), `items` (n2, 1 + k) (c_j, v_j).

    user_map (1 + d1, 1 + k), item_map (1 + d2, 1 + k): the row of a member without ratings from a 1 and its features.
    """

    users: Array
    items: Array
    user_map: Array
    item_map: Array

    def at(self, rows: Indices, columns: Indices) -> Array:
        """Return the ratings of cells, about their mean."""
        values = self.users[rows, 0] + self.items[columns, 0]
        # Column by column: numpy gathers short rows ten times as slowly.
        for p, q in zip(self.users.T[1:], self.items.T[1:], strict=True):
            values += np.ascontiguousarray(p)[rows] * np.ascontiguousarray(q)[columns]
        return values


@dataclass(frozen=True, eq=False)
class RatingTable:
    """Ratings to learn from and to test on, X (n1, 1 + d1) and Y (n2, 1 + d2): a constant, and features if there are.

    cold_users, cold_items: which test cells are of a user, an item without ratings.
    """

    given: Cells
    test: Cells
    X: Array
    Y: Array

    @property
    def size(self) -> tuple[int, int]:
        """The numbers (n1, n2) of users and items."""
        return len(self.X), len(self.Y)

    @cached_property
    def mean(self) -> float:
        """The mean of the ratings."""
        return float(self.given.values.mean())

    @cached_property
    def b(self) -> Array:
        """The ratings about their mean."""
        return self.given.values - self.mean

    @cached_property
    def cold_users(self) -> Mask:  # noqa: D102
        return ~np.isin(self.test.rows, self.given.rows)

    @cached_property
    def cold_items(self) -> Mask:  # noqa: D102
        return ~np.isin(self.test.columns, self.given.columns)

    @property
    def plain(self) -> "RatingTable":
        """The same ratings without features."""
        X, Y = (np.ones((n, 1)) for n in self.size)
        return RatingTable(self.given, self.test, X, Y)

    def folds(self, parts: int, most: int, rng: np.random.Generator) -> "list[RatingTable]":
        """Return tables whose test is one of `parts` equal random parts of the ratings, at most so many of them."""
        part = rng.permutation(len(self.b)) % parts
        cells = ((self.given.part(part != k), self.given.part(part == k)) for k in range(min(parts, most)))
        return [RatingTable(given, test, self.X, self.Y) for given, test in cells]

    def score(self, factors: Factors) -> dict[str, float]:
        """Return `train_rmse` and `rmse`, root mean squared errors of training and test ratings.

        Also of test ratings of users and of items without training ratings, `rmse_cold_users` and `rmse_cold_items`;
        nan where there are none.
        """
        off = self.mean + factors.at(self.test.rows, self.test.columns) - self.test.values
        return {
            "train_rmse": rms(factors.at(self.given.rows, self.given.columns) - self.b),
            "rmse": rms(off),
            "rmse_cold_users": rms(off[self.cold_users]),
            "rmse_cold_items": rms(off[self.cold_items]),
        }

    def biases(self, target: Array, ridges: tuple[float, float]) -> tuple[Array, Array]:
        """Return biases (n1,), (n2,) that minimise the squares of target - a_i - c_j plus ridges times theirs."""
        (n1, n2), rows, columns = self.size, self.given.rows, self.given.columns
        counts = [np.bincount(rows, minlength=n1) + ridges[0], np.bincount(columns, minlength=n2) + ridges[1]]
        a, c = np.zeros(n1), np.zeros(n2)
        for _ in range(SWEEPS):
            before = c
            a = np.bincount(rows, target - c[columns], n1) / counts[0]
            c = np.bincount(columns, target - a[rows], n2) / counts[1]
            if np.linalg.norm(c - before) <= SETTLED * np.linalg.norm(c):
                break
        return a, c


class RatingsProblem:
    """The ratings of a table as entries of X W Y^T, W of a given rank, for solvers of inductive completion.

    The features, with their constant, are brought to orthonormal coordinates (Jain & Dhillon 2013, Lemma 6), in which
    W is found; so W holds what features say of a user or an item alone. A side without features has one of its own for
    each of its members; where neither has any, W is found in what `line`, the biases alone, leaves of the ratings.

    Attributes: operator, b (m,), rank, as solvers of inductive completion take them.
    """

    def __init__(self, table: RatingTable, rank: int, line: Factors, ridges: tuple[float, float]) -> None:
        self.table, self.rank, self.line, self.ridges = table, rank, line, ridges
        X, Y = (None if side.shape[1] == 1 else side for side in (table.X, table.Y))
        free = np.prod([n if side is None else 1 for side, n in zip((X, Y), table.size, strict=True)])
        cells = table.given
        plain = Entries(X, Y, table.size, cells.rows, cells.columns, float(free) / len(cells.rows))
        self.operator, *self._back = plain.whitened()
        self.b = table.b - line.at(cells.rows, cells.columns) if plain.plain else table.b

    @property
    def drawn_alike(self) -> InductiveCompletion:
        """Return what draws problems of these sizes: by it solvers say what they refuse, and what memory they need."""
        (n1, n2), (d1, d2) = self.operator.table, self.operator.shape
        features = "canonical" if self.operator.plain else "correlated"
        share = max(1e-4, len(self.b) / (n1 * n2))
        return InductiveCompletion(n1=n1, n2=n2, d1=d1, d2=d2, rank=self.rank, observed=share, features=features)

    def factors(self, estimate: LowRank, share: float = 1.0) -> Factors:
        """Return an estimate with the biases that fit best beside it, mixed by its share with the line of biases."""
        A, (left, right), (rows, columns) = self.operator, self._back, (self.table.given.rows, self.table.given.columns)
        U, V = estimate.U * (share * estimate.s), estimate.V
        sides = A.left(U), A.right(V)
        fit = sum((p[rows] * q[columns] for p, q in zip(sides[0].T.copy(), sides[1].T.copy(), strict=True)), 0.0 * rows)
        parts, weight = [], 1.0 if A.plain else 1.0 - share
        biases = self.table.biases(share * self.b - fit, self.ridges)
        for features, back, factor, images, bias, alone, alone_map in zip(
            (A.X, A.Y), (left, right), (U, V), sides, biases, self.line[:2], self.line[2:], strict=True
        ):
            own = bias + weight * alone[:, 0]
            mapped = np.zeros((1, U.shape[1])) if features is None else back(factor)
            constant = np.zeros(len(mapped))
            constant[0] = weight * alone_map[0, 0]
            parts.append((np.column_stack([own, images]), np.column_stack([constant, mapped])))
        (users, user_map), (items, item_map) = parts
        return Factors(users, items, user_map, item_map)


def rms(values: Array) -> float:
    """Return the root of the mean square; nan of nothing."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def aligned(given: Ratings, test: Ratings) -> tuple[Cells, Cells, tuple[int, int]]:
    """Return the cells of two files of ratings in one table, and its size.

    Features fix the place of a name. On a side without them, names of the test that are new come after the others.
    """
    users, user_places = places_of(given.user_names, test.user_names)
    items, item_places = places_of(given.item_names, test.item_names)
    rows, columns = user_places[test.rows], item_places[test.columns]
    order = np.lexsort((columns, rows))
    fresh = Cells(rows[order], columns[order], test.values[order])
    return Cells(given.rows, given.columns, given.values), fresh, (len(users), len(items))


def places_of(known: Sequence[str], names: Sequence[str]) -> tuple[list[str], Indices]:
    """Return all different names, the known ones first, and the place of each of `names` among them."""
    index = {name: place for place, name in enumerate(known)}
    places = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.intp)
    return list(index), places
