"""Ratings with side information, for inductive completion: user, item, rating, and a table of features for each side.

All are CSV. Ratings have a row `user,item,rating` (further columns are left alone), or all `user,item`; a table of
features has a row `name,feature,feature,...` for each user or item. A first row whose numbers are words is a heading.
"""

from array import array
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.datasets.columns import Column, coded
from lrlab.datasets.dataset import Names
from lrlab.datasets.labels import HINTS
from lrlab.datasets.ratings_features import LARGEST, Columns, Features, read_features
from lrlab.datasets.table import csv_rows, require_width
from lrlab.datasets.text import LIMIT_BYTES, Source, number
from lrlab.parameters import InputError, nearest

FeatureFile = str | PathLike[str] | Features | None
RATING = [Column("rating")]
DUPLICATES = "", "last", "mean"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Rating `values[i]` (m,) of user `rows[i]` for item `columns[i]`, in row-major order, each pair once.

    X (n1, d1) and Y (n2, d2) are features of users and items, None for a side without; names are in the order of the
    rows of X and Y, or else of first appearance. x_columns, y_columns: what the columns of X and Y stand for.
    """

    rows: Indices
    columns: Indices
    values: Array
    X: Array | None
    Y: Array | None
    user_names: Names
    item_names: Names
    x_columns: Columns = ()
    y_columns: Columns = ()

    @property
    def alike(self) -> bool:
        """Whether all ratings are equal, so that which pairs there are is all that they say: implicit feedback."""
        return len(self.values) > 1 and not np.ptp(self.values)

    @property
    def table(self) -> tuple[int, int]:
        """The numbers (n1, n2) of users and items."""
        return len(self.user_names), len(self.item_names)


def read_ratings(
    path: str | PathLike[str],
    users: FeatureFile = None,
    items: FeatureFile = None,
    limit_bytes: int = LIMIT_BYTES,
    duplicates: str = "",
) -> Ratings:
    """Read ratings and the features of users and items, where there are any; these may have been read before.

    duplicates: what becomes of several ratings of an item by a user: their last, their mean, or InputError ("").
    """
    if duplicates not in DUPLICATES:
        raise InputError("duplicates", "last or mean", duplicates, "take last, or leave it out to refuse them")
    sides = [
        side if side is None or isinstance(side, Features) else read_features(side, what, limit_bytes)
        for side, what in ((users, "user"), (items, "item"))
    ]
    source = Source(Path(path), "ratings CSV")
    source.check_size(limit_bytes)
    known = [dict(side.members) if side else {} for side in sides]
    places, values, lines, bare = (array("q"), array("q")), array("d"), array("q"), False
    for position, (line, row) in enumerate(csv_rows(source, limit_bytes)):
        if position == 0 and _is_heading(row):
            continue
        bare = len(row) == 2 if not lines else bare
        if len(row) < 3 - bare:
            raise source.refuse(line, "user, item, rating", ",".join(row), "give each row three fields")
        if bare:
            require_width(source, line, row, 2)
        # Of a pair without a rating it is known that it is there.
        values.append(1.0 if bare else coded(source, line, row[2:3], RATING)[0])
        if abs(values[-1]) > LARGEST:
            need = f"a rating of a size up to {LARGEST:g}"
            raise source.refuse(line, need, row[2], "correct it, or rescale all ratings")
        for side, (name, store) in enumerate(zip(row, places, strict=False)):
            store.append(_place(source, line, name.strip(), known[side], sides[side] is None))
        lines.append(line)
    if not values:
        raise source.refuse(1, "at least one rating", "none", "add rows user, item, rating")
    rows, columns = (np.array(store, dtype=np.intp) for store in places)
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    rated = np.array(values)[order]
    again = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if again.any() and (duplicates or bare):
        # The sorting is stable: ratings of a pair are in the order of the file.
        firsts = np.flatnonzero(np.append(True, ~again))
        lasts = np.append(firsts[1:], len(rated)) - 1
        means = np.add.reduceat(rated, firsts) / (lasts - firsts + 1)
        rows, columns, rated = rows[firsts], columns[firsts], means if duplicates == "mean" else rated[lasts]
    elif again.any():
        twice = np.flatnonzero(again)
        earlier, later = (lines[place] for place in order[twice[0] : twice[0] + 2])
        need = f"a user and an item other than those of line {earlier}"
        raise source.refuse(later, need, "the same again", "keep one, or their last or mean by duplicates")
    X, Y = (side.values if side else None for side in sides)
    x, y = (side.columns if side else () for side in sides)
    return Ratings(rows, columns, rated, X, Y, tuple(known[0]), tuple(known[1]), x, y)


def read_pairs(path: str | PathLike[str], limit_bytes: int = LIMIT_BYTES) -> list[tuple[str, str]]:
    """Read pairs of a user and an item whose rating is to be predicted: the first two columns of a CSV.

    A first row is a heading where its third field is a word, or, of two fields, the first is called user.
    """
    source = Source(Path(path), "pairs CSV")
    source.check_size(limit_bytes)
    pairs = []
    for position, (line, row) in enumerate(csv_rows(source, limit_bytes)):
        if len(row) < 2:
            raise source.refuse(line, "user, item", ",".join(row), "give each row a user and an item")
        if position == 0 and _is_heading(row):
            continue
        pairs.append((row[0].strip(), row[1].strip()))
    if not pairs:
        raise source.refuse(1, "at least one pair", "none", "add rows user, item")
    return pairs


def _is_heading(row: list[str]) -> bool:
    if len(row) == 2:
        return row[0].strip().lower().replace("_", "").replace(" ", "") in ("user", "users", "userid", "username")
    return len(row) > 2 and bool(row[2].strip()) and number(row[2]) is None


def _place(source: Source, line: int, name: str, known: dict[str, int], open_ended: bool) -> int:
    """Return the place of a user or item; one that is not in the table of features is refused."""
    if name not in known:
        if not open_ended:
            remedy = nearest(name, tuple(known)[:HINTS]) or "add its features, or remove the rating"
            raise source.refuse(line, "a name that the table of features has", name, remedy)
        known[name] = len(known)
    return known[name]
