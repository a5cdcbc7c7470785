"""Pictures of matrices: grey levels of low rank, hidden units, a map of labels, a table of films."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.model_hooks import View
from lrlab.models.pictures import digit, picture
from lrlab.parameters import InputError
from lrlab.ranking import rows_of

NAMED = 12
"""Rows and columns of a table that are drawn with their names."""
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
    "The Grey Clerk",
    "Orbit Zero",
    "Hotel Laughter",
    "No Witness",
)
"""Invented, as the persons are."""
CELLS, REACH, COLOURS = 48, 2.0, 8
"""Of a map of labels: cells along a side, deviations from its middle to its edge, and different colours."""
LABEL_MAP = "A map of labels: the one with the highest score at each point of a plane of features, and its colour."
LARGEST_MAP = 2000
"""Most features of a map of labels: beyond, its points take long."""


@lru_cache(maxsize=4)
def factors_of(spec: Any) -> LowRank:
    """Return the truth of a spec; it is drawn once, and not with each figure of a run."""
    truth: LowRank = spec.factors()
    return truth


def grey_matrix(name: str, size: tuple[int, int], rank: int) -> LowRank:
    """Return the matrix of a rank that is nearest to a picture, of Frobenius norm 1; InputError where it has less."""
    rows, columns = size
    if rows != columns or rows < 4:
        raise InputError("d2", f"d1 = {rows}, 4 or more, where the truth is a picture", columns, "take d1 = d2")
    W = lowrank.from_dense(picture(name, rows), rank)
    if W.s[-1] < 1e-6 * W.s[0]:
        raise InputError("rank", "at most that of the picture", rank, "lower the rank, or take another picture")
    return W._replace(s=W.s / np.linalg.norm(W.s))


def grey_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return a matrix as grey levels, black at 0 and white at the largest entry of the truth."""
    largest, shown = float((truth.left @ truth.V.T).max()), truth if estimate is None else estimate
    return View(np.clip(shown.left @ shown.V.T / largest, 0.0, 1.0), "grey")


def digits(p: int, r: int) -> Array:
    """Return r orthonormal columns (p, r), those nearest to the first r digits less their mean."""
    side = math.isqrt(p)
    if side * side != p or not 4 <= side <= 64 or r > 10:
        expected = "the square of a side in 4..64, and r at most 10, where the weights are digits"
        raise InputError("p", expected, f"{p}, and r = {r}", "take p = 64 and r = 5")
    units = np.stack([digit(k, side).ravel() for k in range(r)], axis=1)
    U, _, Vt = np.linalg.svd(units - units.mean(axis=0), full_matrices=False)
    return U @ Vt


def units_view(truth: LowRank, estimate: LowRank | None) -> View:
    """Return what a symmetric matrix makes of the true hidden units, L w / alpha, side by side: of the truth, w."""
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
    """Return the first rows and columns of a table with names."""
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

    constant: whether the first feature is 1. None where there are not two directions, or very many features.
    """
    if spec.rank < 2 or spec.size[0] > LARGEST_MAP:
        return None
    W, X = _plane(spec, constant)
    scores = rows_of((W if estimate is None else estimate).scores(X), slice(None))
    return View((scores.argmax(axis=1) % COLOURS).reshape(CELLS, CELLS).astype(float), "kinds")
