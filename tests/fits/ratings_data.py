"""Synthetic ratings with a known truth: biases and a low-rank part, of which a share comes from words."""

from typing import NamedTuple

import numpy as np

from lrlab.datasets import Ratings
from lrlab.datasets.ratings_features import Column
from lrlab.fits.ratings_model import members_of
from lrlab.models.ratings_problem import Cells, RatingTable


class Drawn(NamedTuple):
    """Ratings as read from files, the table with test ratings, and these without noise."""

    ratings: Ratings
    table: RatingTable
    clean: np.ndarray


def draw(seed, n=(150, 200), m=9000, rank=3, noise=0.5, signal=0.6, bias=0.5, share=0.5, words=True):
    """Draw ratings 3.5 + a_i + c_j + u_i^T v_j + noise at places of unequal popularity; a fifth is for the test.

    signal, bias: standard deviations of u_i^T v_j and of a_i, c_j. share: of their variance that words say.
    """
    rng = np.random.default_rng(seed)
    chosen = [rng.integers(levels, size=size) for levels, size in zip((8, 10), n, strict=True)]
    sides = []
    for of, size in zip(chosen, n, strict=True):
        said, own = rng.standard_normal((of.max() + 1, 1 + rank))[of], rng.standard_normal((size, 1 + rank))
        sides.append(np.sqrt(share) * said + np.sqrt(1 - share) * own)
    popular = [np.exp(0.7 * rng.standard_normal(size)) for size in n]
    weights = np.outer(*popular).ravel()
    places = rng.choice(n[0] * n[1], size=m, replace=False, p=weights / weights.sum())
    rows, columns = np.divmod(np.sort(places), n[1])
    U, V = (side[of] for side, of in zip(sides, (rows, columns), strict=True))
    clean = 3.5 + bias * (U[:, 0] + V[:, 0]) + signal / np.sqrt(rank) * np.einsum("ij,ij->i", U[:, 1:], V[:, 1:])
    values = clean + noise * rng.standard_normal(m)
    held = rng.random(m) < 0.2
    X, Y = ((of[:, None] == np.arange(of.max() + 1)).astype(float) if words else None for of in chosen)
    names = [tuple(f"{letter}{i}" for i in range(size)) for letter, size in zip("ui", n, strict=True)]
    kinds = [tuple(Column("word", f"w{j}") for j in range(of.max() + 1)) if words else () for of in chosen]
    cells = Cells(rows, columns, values)
    given = cells.part(~held)
    ratings = Ratings(given.rows, given.columns, given.values, X, Y, *names, *kinds)
    tables = [
        np.ones((size, 1)) if values is None else members.scaling.applied(values)
        for size, values, members in zip(n, (X, Y), members_of(ratings), strict=True)
    ]
    return Drawn(ratings, RatingTable(given, cells.part(held), *tables), clean[held])
