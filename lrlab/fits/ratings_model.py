"""Fitted models of ratings: predictions for pairs, new users and items among them, and the best unrated items."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.datasets.ratings_features import Column, Features
from lrlab.fits.model_shapes import require_numbers
from lrlab.fits.ratings_members import Members, Scaling
from lrlab.models.ratings_problem import Factors
from lrlab.parameters import InputError, nearest

KIND = "Factors"
"""What a model's file calls an estimate of ratings."""
PAIR_COLUMNS = ("user", "item", "prediction", "new")
TOP_COLUMNS = ("user", "place", "item", "prediction")
NEW = {(False, False): "", (True, False): "user", (False, True): "item", (True, True): "user and item"}


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
        names, places = zip(*(_coded(column) for column in zip(*pairs, strict=True)), strict=True)
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
        sides.append(Members(names, kinds, Scaling(centre, unit)))
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
    """Write what `predict` or `top` returns as CSV."""
    table = csv.DictWriter(stream, names)
    table.writeheader()
    table.writerows(rows)


def _coded(names: Sequence[str]) -> tuple[list[str], Indices]:
    """Return different names, and the place of each name among them."""
    index: dict[str, int] = {}
    places = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.intp)
    return list(index), places
