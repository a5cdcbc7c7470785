"""Users and items of a model of ratings: their names, and their features on the scale on which they were fitted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.datasets import Ratings
from lrlab.datasets.dataset import Names
from lrlab.datasets.ratings_features import Columns, Features, read_features
from lrlab.fits.own_files import File
from lrlab.parameters import InputError


class Scaling(NamedTuple):
    """Features of one side about their means (d,), numbers in units of their standard deviation (d,)."""

    centre: Array
    unit: Array

    @classmethod
    def of(cls, values: Array | None, columns: Columns) -> "Scaling":
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
    scaling: Scaling = field(repr=False)

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
    users = Members(ratings.user_names, ratings.x_columns, Scaling.of(ratings.X, ratings.x_columns))
    return users, Members(ratings.item_names, ratings.y_columns, Scaling.of(ratings.Y, ratings.y_columns))
