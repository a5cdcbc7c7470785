"""Ratings of items by users as entries of a table X W Y^T, with a person's own features of both sides."""

from dataclasses import dataclass

import numpy as np

from lrlab.arrays import Array, Indices, frozen
from lrlab.datasets import Ratings
from lrlab.lowrank import LowRank
from lrlab.models.completion import InductiveCompletion
from lrlab.operators.entries import Entries
from lrlab.parameters import InputError

RANK = 5
"""The rank where none is given, or less where there are fewer features."""


@dataclass(frozen=True)
class Cells:
    """Rated cells of the table: rows, columns (m,) in row-major order, and their ratings (m,)."""

    rows: Indices
    columns: Indices
    values: Array


class RatingsProblem:
    """Ratings R_ij, about their mean, as entries of X W Y^T, W of a given rank, 0 for `RANK`.

    A constant is added to the features of each side, so that W holds what is of a user or of an item alone; then they
    are brought to orthonormal coordinates (Jain & Dhillon 2013, Lemma 6), in which W is found. A side without features
    has one of its own for each of its members, and nothing is learnt of a member without ratings.

    Attributes: operator, b (m,), rank: as solvers of inductive completion take them; test: cells to be predicted;
    mean: of the training ratings; cold_users, cold_items: which test cells are of a user, an item without ratings.
    """

    def __init__(self, given: Cells, test: Cells, X: Array | None, Y: Array | None, table: tuple[int, int], rank: int):
        """Take ratings to learn from and to test on, and features X (n1, d1), Y (n2, d2), None for a side without."""
        left, right = (None if side is None else np.hstack([np.ones((len(side), 1)), side]) for side in (X, Y))
        free = np.prod([n if side is None else 1 for side, n in zip((left, right), table, strict=True)])
        plain = Entries(left, right, table, given.rows, given.columns, float(free) / len(given.rows))
        self.operator, _, _ = plain.whitened()
        most = min(self.operator.shape)
        if not 0 <= rank <= most:
            expected = f"in 0..{most}, the smaller number of independent features, the constant among them"
            raise InputError("rank", expected, rank, f"take a rank of at most {most}, or leave it 0")
        self.test, self.rank, self.mean = test, rank or min(RANK, most), float(given.values.mean())
        self.b = frozen(given.values - self.mean)
        self.cold_users = ~np.isin(test.rows, given.rows)
        self.cold_items = ~np.isin(test.columns, given.columns)

    @property
    def drawn_alike(self) -> InductiveCompletion:
        """Return what draws problems of these sizes: by it solvers say what they refuse, and what memory they need."""
        (n1, n2), (d1, d2) = self.operator.table, self.operator.shape
        features = "canonical" if self.operator.plain else "correlated"
        share = max(1e-4, len(self.b) / (n1 * n2))
        return InductiveCompletion(n1=n1, n2=n2, d1=d1, d2=d2, rank=self.rank, observed=share, features=features)

    def load(self, everything: bool) -> None:
        """Do nothing: all ratings are in memory."""

    def predict(self, estimate: LowRank, cells: Cells) -> Array:
        """Return the predicted ratings of some cells."""
        of = self.operator
        return self.mean + Entries(of.X, of.Y, of.table, cells.rows, cells.columns, 1.0).forward(estimate)

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return `train_rmse` and `rmse`, root mean squared errors of training and test ratings.

        Also of test ratings of users and of items without training ratings, `rmse_cold_users` and `rmse_cold_items`;
        nan where there are none.
        """
        off = self.predict(estimate, self.test) - self.test.values
        return {
            "train_rmse": rms(self.operator.forward(estimate) - self.b),
            "rmse": rms(off),
            "rmse_cold_users": rms(off[self.cold_users]),
            "rmse_cold_items": rms(off[self.cold_items]),
        }


def rms(values: Array) -> float:
    """Return the root of the mean square; nan of nothing."""
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def aligned(given: Ratings, test: Ratings) -> tuple[Cells, Cells, tuple[int, int]]:
    """Return the cells of two files of ratings in one table, and its size.

    Features fix the place of a name. On a side without them, names of the test that are new come after the others.
    """
    places = [side(*names) for names in ((given.user_names, test.user_names), (given.item_names, test.item_names))]
    rows, columns = places[0][0][test.rows], places[1][0][test.columns]
    order = np.lexsort((columns, rows))
    fresh = Cells(rows[order], columns[order], test.values[order])
    return Cells(given.rows, given.columns, given.values), fresh, (places[0][1], places[1][1])


def side(known: tuple[str, ...], names: tuple[str, ...]) -> tuple[Indices, int]:
    """Return the places of names, and how many there are in all."""
    index = {name: place for place, name in enumerate(known)}
    return np.array([index.setdefault(name, len(index)) for name in names], dtype=np.intp), len(index)
