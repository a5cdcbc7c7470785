"""Fitted models of ratings: predictions for pairs, new users and items among them, and the best unrated items."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any, NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.datasets import Ratings
from lrlab.datasets.dataset import Names
from lrlab.datasets.ratings_features import Column, Columns, Features, read_features
from lrlab.fits.model_shapes import require_numbers
from lrlab.fits.own_files import File
from lrlab.models.ratings_problem import Factors, places_of
from lrlab.parameters import InputError, nearest

KIND = "Factors"
"""What a model's file calls an estimate of ratings."""
PAIR_COLUMNS = ("user", "item", "prediction", "new")
TOP_COLUMNS = ("user", "place", "item", "prediction")
NEW = {(False, False): "", (True, False): "user", (False, True): "item", (True, True): "user and item"}


class Standardisation(NamedTuple):
    """Features of one side about their means (d,), numbers in units of their standard deviation (d,)."""

    centre: Array
    unit: Array

    @classmethod
    def of(cls, values: Array | None, columns: Columns) -> "Standardisation":
        """Return the scaling of features (n, d); of none, that of no columns."""
        if values is None:
            return cls(np.zeros(0), np.ones(0))
        spread = values.std(axis=0)
        words = np.array([bool(column.word) for column in columns])
        return cls(values.mean(axis=0), np.where(words | (spread == 0), 1.0, spread))

    def applied(self, values: Array) -> Array:
        """Return a constant beside the scaled features; a gap has the mean."""
        scaled = np.nan_to_num((values - self.centre) / self.unit, nan=0.0)
        return np.hstack([np.ones((len(values), 1)), scaled])


@dataclass(frozen=True, eq=False)
class Members:
    """The users or the items of a model: names, what their features stand for, and how these are scaled."""

    names: Names = field(repr=False)
    columns: Columns = field(repr=False)
    scaling: Standardisation = field(repr=False)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each name."""
        return {name: place for place, name in enumerate(self.names)}

    def read(self, path: File, what: str) -> Features:
        """Read features of new members."""
        if not self.columns:
            raise InputError(f"{what}s", f"left out: the model has no features of {what}s", path, "leave the file out")
        return read_features(path, what, like=self.columns)

    def vectors(self, names: Sequence[str], known: Array, mapped: Array, features: Features | None) -> Array:
        """Return the vectors of members: `known` ones, or by `mapped` from their features, or those of the mean."""
        rows = np.tile(mapped[:1], (len(names), 1))
        for row, name in zip(rows, names, strict=True):
            if (place := self.places.get(name)) is not None:
                row[:] = known[place]
            elif features and (place := features.members.get(name)) is not None:
                row[:] = (self.scaling.applied(features.values[place : place + 1]) @ mapped)[0]
        return rows


def members_of(ratings: Ratings) -> tuple[Members, Members]:
    """Return the users and items of ratings."""
    users = Members(ratings.user_names, ratings.x_columns, Standardisation.of(ratings.X, ratings.x_columns))
    return users, Members(ratings.item_names, ratings.y_columns, Standardisation.of(ratings.Y, ratings.y_columns))


@dataclass(frozen=True, eq=False)
class RatingModel:
    """Factors of ratings with the names they belong to, and which items each user has rated.

    rated: the items of all users in turn; user i has those from pointer[i] to pointer[i + 1].
    """

    solver: str
    options: Mapping[str, Any]
    mean: float
    factors: Factors = field(repr=False)
    users: Members = field(repr=False)
    items: Members = field(repr=False)
    pointer: Indices = field(repr=False)
    rated: Indices = field(repr=False)

    def scores(
        self, pairs: Sequence[tuple[str, str]], users: Features | None = None, items: Features | None = None
    ) -> Array:
        """Return the ratings of pairs (m,) of a user and an item, by name.

        A new user or item has the vector that its features say, if these are given and the model has some, and else
        that of the mean user or item; without features this is a constant bias.
        """
        names, places = zip(*(places_of((), column) for column in zip(*pairs, strict=True)), strict=True)
        left = self.users.vectors(names[0], self.factors.users, self.factors.user_map, users)
        right = self.items.vectors(names[1], self.factors.items, self.factors.item_map, items)
        return self.mean + Factors(left, right, left, right).at(*places)

    def predict(
        self, pairs: Sequence[tuple[str, str]], users: Features | None = None, items: Features | None = None
    ) -> list[dict[str, Any]]:
        """Return rows `user`, `item`, `prediction`, and `new`, which says which of both has no ratings."""
        counts = np.diff(self.pointer), np.bincount(self.rated, minlength=len(self.items.names))

        def new(members: Members, name: str, count: Indices) -> bool:
            place = members.places.get(name)
            return place is None or count[place] == 0

        return [
            {
                "user": user,
                "item": item,
                "prediction": float(value),
                "new": NEW[new(self.users, user, counts[0]), new(self.items, item, counts[1])],
            }
            for (user, item), value in zip(pairs, self.scores(pairs, users, items), strict=True)
        ]

    def top(self, user: str, k: int = 10, users: Features | None = None) -> list[dict[str, Any]]:
        """Return rows `user`, `place` (from 1), `item`, `prediction`: the k items of highest prediction not rated yet.

        InputError for a user without ratings or features.
        """
        place = self.users.places.get(user)
        if place is None and not (users and user in users.members):
            remedy = nearest(user, self.users.names[:5000]) or "give the user's features, or take one with ratings"
            raise InputError("user", "one of the ratings or of the table of features", user, remedy)
        vector = self.users.vectors([user], self.factors.users, self.factors.user_map, users)
        values = self.mean + vector[0, 0] + self.factors.items[:, 0] + self.factors.items[:, 1:] @ vector[0, 1:]
        if place is not None:
            values[self.rated[self.pointer[place] : self.pointer[place + 1]]] = -np.inf
        order = np.argsort(-values, kind="stable")[:k]
        return [
            {"user": user, "place": i + 1, "item": self.items.names[j], "prediction": float(values[j])}
            for i, j in enumerate(order)
            if np.isfinite(values[j])
        ]

    def arrays(self) -> dict[str, Array]:
        """Return all that it consists of, by name, for storage in a file."""
        arrays = {**self.factors._asdict(), "mean": np.array(self.mean), "pointer": self.pointer, "rated": self.rated}
        for what, side in (("user", self.users), ("item", self.items)):
            arrays[f"{what}_names"] = np.array(side.names)
            arrays[f"{what}_columns"] = np.array(side.columns, dtype=str).reshape(-1, 2)
            arrays[f"{what}_scaling"] = np.array(side.scaling)
        return arrays


def restored(solver: str, options: str, arrays: Mapping[str, Array]) -> RatingModel:
    """Return the model of a file's arrays; ValueError and its like where they do not fit each other."""
    factors = Factors(*(arrays[name].astype(float) for name in Factors._fields))
    sides = []
    for what, vectors, mapped in (("user", factors[0], factors[2]), ("item", factors[1], factors[3])):
        names, columns = tuple(arrays[f"{what}_names"].tolist()), arrays[f"{what}_columns"]
        centre, unit = arrays[f"{what}_scaling"]
        shapes = vectors.shape == (len(names), factors.users.shape[1]), columns.shape == (len(centre), 2)
        if not all(shapes) or mapped.shape != (1 + len(centre), vectors.shape[1]) or not (unit > 0).all():
            raise ValueError(f"{what}s of sizes that do not fit each other")
        if arrays[f"{what}_names"].dtype.kind != "U" or len(set(names)) < len(names):
            raise ValueError(f"names of {what}s that are not text, each once")
        kinds = tuple(Column(name, word) for name, word in columns.tolist())
        sides.append(Members(names, kinds, Standardisation(centre, unit)))
    pointer: Indices = arrays["pointer"]  # type: ignore[assignment]
    rated: Indices = arrays["rated"]  # type: ignore[assignment]
    mean = float(arrays["mean"])
    require_numbers({name: part for name, part in arrays.items() if not name.endswith(("names", "columns"))})
    if {pointer.dtype.kind, rated.dtype.kind} - {"i", "u"}:
        raise ValueError("rated items that are no whole numbers")
    rising = len(pointer) == len(sides[0].names) + 1 and pointer[0] == 0 and (np.diff(pointer) >= 0).all()
    if (
        not rising
        or pointer[-1] != len(rated)
        or (len(rated) and not 0 <= rated.min() <= rated.max() < len(sides[1].names))
    ):
        raise ValueError("rated items that do not fit users and items")
    return RatingModel(solver, dict(json.loads(options)), mean, factors, sides[0], sides[1], pointer, rated)


def write_rows(rows: Iterable[Mapping[str, Any]], names: Sequence[str], stream: IO[str]) -> None:
    """Write what `predict` or `top` of a model returns as CSV."""
    table = csv.DictWriter(stream, names)
    table.writeheader()
    table.writerows(rows)
