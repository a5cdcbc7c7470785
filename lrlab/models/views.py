"""Pictures of matrices: gray levels, hidden units, a map of labels, ratings of movies."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank, rows_of
from lrlab.models.pictures import digit, picture
from lrlab.parameters import InputError
from lrlab.protocol import View

NAMED = 12
"""Named rows and columns in the picture of a matrix."""
PERSONS = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gro", "Hugo", "Ines", "Jon", "Kim", "Lea")
FILMS = (
    "Moonbase",
    "Two Weddings",
    "Cold Harbour",
    "Star Freight",
    "The Wrong Aunt",
    "Nine Alibis",
    "Red Comet",
    "Late for Lunch",
    "The Gray Clerk",
    "Orbit Zero",
    "Hotel Laughter",
    "No Witness",
)
"""Invented, as the users are."""
CELLS, REACH, COLORS = 48, 2.0, 8
"""Map of labels: cells along a side, standard deviations from its middle to its edge, and number of colors."""
LABEL_MAP = "A map of labels: colors show the label with the highest score at each point of a plane of features."


@lru_cache(maxsize=4)
def factors_of(spec: Any) -> LowRank:
    """Return the truth of a spec, drawn once for all figures of a run."""
    truth: LowRank = spec.factors()
    return truth


def grey_matrix(name: str, size: tuple[int, int], rank: int) -> LowRank:
    """Return the rank-k matrix nearest to an image, of Frobenius norm 1; InputError if the image has a smaller rank."""
    rows, columns = size
    if rows != columns or rows < 4:
        raise InputError("d2", f"d1 = {rows}, 4 or more, if the signal is an image", columns, "take d1 = d2")
    W = lowrank.from_dense(picture(name, rows), rank)
    if W.s[-1] < 1e-6 * W.s[0]:
        raise InputError("rank", "at most the rank of the image", rank, "lower the rank, or choose another image")
    return W._replace(s=W.s / np.linalg.norm(W.s))


def grey_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return a matrix as gray levels, black at 0 and white at the largest entry of the truth."""
    largest, shown = float((truth.left @ truth.V.T).max()), truth if estimate is None else estimate
    return View(np.clip(shown.left @ shown.V.T / largest, 0.0, 1.0), "gray")


def digits(p: int, r: int) -> Array:
    """Return r orthonormal columns (p, r), the nearest ones to the first r centered digits."""
    side = math.isqrt(p)
    if side * side != p or not 4 <= side <= 64 or r > 10:
        expected = "the square of a side in 4..64, and r at most 10, if the weights are digits"
        raise InputError("p", expected, f"{p}, and r = {r}", "take p = 64 and r = 5")
    units = np.stack([digit(k, side).ravel() for k in range(r)], axis=1)
    U, _, Vt = np.linalg.svd(units - units.mean(axis=0), full_matrices=False)
    return U @ Vt


def units_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return L w / alpha for the true hidden units w of a symmetric matrix L, side by side; w for the truth."""
    shown = truth if estimate is None else estimate
    images = shown.left @ (shown.V.T @ truth.U) / truth.s
    side = math.isqrt(len(images))
    wide = math.ceil(math.sqrt(images.shape[1]))
    high = math.ceil(images.shape[1] / wide)
    board = np.full((high * (side + 1) - 1, wide * (side + 1) - 1), np.nan)
    for k, image in enumerate(images.T):
        row, column = k // wide * (side + 1), k % wide * (side + 1)
        board[row : row + side, column : column + side] = image.reshape(side, side)
    return View(board, "signed")


def table_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return the first rows and columns of a matrix with names."""
    shown = truth if estimate is None else estimate
    values = shown.left[:NAMED] @ shown.V[:NAMED].T
    return View(values, "signed", PERSONS[: len(values)], FILMS[: values.shape[1]])


@lru_cache(maxsize=16)
def _plane(spec: Any, constant: bool) -> tuple[LowRank, Array]:
    W, axis = spec.truth(), np.linspace(-REACH, REACH, CELLS)
    across, up = np.meshgrid(axis, axis[::-1])
    X = np.stack([across.ravel(), up.ravel()], axis=1) @ W.U[:, :2].T
    if constant:
        X[:, 0] = 1.0
    return W, X


def label_map(spec: Any, estimate: LowRank | None, *, constant: bool) -> View | None:
    """Return the label with the highest score at each point of the plane of the two strongest directions of features.

    constant: whether the first feature is 1. None without two directions, or with more than 2,000 features: it takes
    long.
    """
    if spec.rank < 2 or spec.size[0] > 2000:
        return None
    W, X = _plane(spec, constant)
    scores = rows_of((W if estimate is None else estimate).scores(X), slice(None))
    return View((scores.argmax(axis=1) % COLORS).reshape(CELLS, CELLS).astype(float), "kinds")
