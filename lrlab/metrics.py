"""Error measures for directions known up to sign, which one-bit measurements determine."""

import math

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import length, unit


def align(estimate: Array, truth: Array) -> Array:
    """Return the unit vector along `estimate`, with the sign that is nearer to `truth` (p,)."""
    b = unit(estimate)
    return -b if b @ truth < 0 else b


def aligned_scores(b: Array, truth: Array) -> dict[str, float]:
    """Return `error`, the distance ||b - b*|| of unit vectors in 0..sqrt(2), and `overlap` of what `align` returns.

    An estimate that is zero names no direction and scores sqrt(2), the worst: its distance from the truth, 1, is less
    than most guesses have.
    """
    return {
        "error": length(b - truth) if b.any() else math.sqrt(2.0),
        "overlap": float(b @ truth) ** 2,
    }


def overlap(estimate: Array, truth: Array) -> float:
    """Return the squared cosine <b, b*>^2 / ||b||^2, in 0..1."""
    return float(align(estimate, truth) @ truth) ** 2


def error_of(overlap: float) -> float:
    """Return the distance of unit vectors with a squared overlap."""
    return float(errors_of(np.asarray(overlap)))


def errors_of(overlaps: Array) -> Array:
    """Return the distances of unit vectors with these squared overlaps."""
    return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * np.sqrt(overlaps)))


def interval_scores(estimate: Array, low: Array, high: Array, truth: Array) -> dict[str, float]:
    """Return `coverage`, the share of entries whose 95% interval holds the truth, and `width`, the mean width.

    Intervals belong to the entries of the unit vector along the estimate; the truth gets the nearer sign. Entries
    without an interval (nan) do not count; without any interval there are no scores.
    """
    known = np.isfinite(low)
    if not known.any():
        return {}
    near = (truth if estimate @ truth >= 0 else -truth)[known]
    inside = (low[known] <= near) & (near <= high[known])
    return {"coverage": float(inside.mean()), "width": float((high - low)[known].mean())}


def support_recall(estimate: Array, truth: Array) -> float:
    """Return the share of the true support among as many largest entries of the estimate that are not 0, in 0..1."""
    support = np.flatnonzero(truth)
    largest = np.argpartition(-np.abs(estimate), len(support) - 1)[: len(support)]
    return len(np.intersect1d(support, largest[np.asarray(estimate)[largest] != 0])) / len(support)
