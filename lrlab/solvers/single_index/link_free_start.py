"""Initializations of link-free refinement: the first moment of the responses, and second moments of either sign."""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from lrlab.arrays import Array
from lrlab.linalg import hard_threshold
from lrlab.solvers.single_index.link_free_rounds import SMALLEST_REST, Data, Direction
from lrlab.theory.spectral import edge_scale, link_free_weights

CLEAR = 0.1
"""Fraction of noise in the squared length of the first moment below which no other start is tried."""
FIRST = 1.0
"""Lead of a second moment over the first, in standard deviations, that makes it win."""


class Start(NamedTuple):
    """A direction, its name, and by how many standard deviations of pure noise its moment stands out."""

    at: Direction
    name: str
    height: float = 0.0


def starts(data: Data) -> list[Start]:
    """Return the first moment if it is clear, else all moments, starting with the one that stands out most."""
    X, answers, s = data.X, data.answers, data.s
    n, p = X.shape
    scale = answers - answers.mean()
    b = hard_threshold(scale @ X / n, s)
    own = X[:, b != 0] if s < p else X
    at = Direction.of(data, b, data.times(b) - scale * np.einsum("ij,ij->i", own, own) / n)
    entry, entries = float(scale @ scale) / n**2, s * (1.0 + math.log(p / s))
    if entries * entry < CLEAR * float(b @ b):
        return [Start(at, "the first moment, which stands out from the noise")]
    height = (float(b @ b) / entry - entries) / math.sqrt(2.0 * entries)
    seconds = (second(data, sign, word) for sign, word in ((1, "larger"), (-1, "smaller")))
    found = [Start(at, "the first moment", height + FIRST), *(one for one in seconds if one)]
    return sorted(found, key=lambda one: -one.height)


def second(data: Data, sign: int, word: str) -> Start | None:
    """Return the leading eigenvector of sum T(y_i) x_i x_i^T / p; None if n/p is too small for a link of this sign.

    T: weights of `theory.spectral` without a link, which put the edge of noise at 1. Sparse: on the 4 s entries whose
    squares differ most, then truncated. Without row i the eigenvector shrinks by 1 + T_i l_i along x_i, l_i = x_i^T
    (lambda - M)^+ x_i.
    """
    X, answers, n = data.X, data.answers, len(data.X)
    k, rate = min(4 * data.s, X.shape[1]), float(answers.mean())
    T = link_free_weights(rate, n / k, sign)
    if T is None:
        return None
    weights: Array = np.where(answers > 0, T.pos, T.neg) / k
    own = np.sort(np.argsort(-(weights @ np.square(X)))[:k])
    values, vectors = eigh((X[:, own].T * weights) @ X[:, own])
    among = X[:, own] @ vectors
    b: Array = np.zeros(X.shape[1])
    b[own] = vectors[:, -1]
    leverages = np.square(among[:, :-1]) @ (1.0 / np.maximum(values[-1] - values[:-1], 1e-12))
    b = hard_threshold(b, data.s)
    at = Direction.of(data, b, data.times(b) / np.maximum(1.0 + weights * leverages, SMALLEST_REST))
    # The Tracy-Widom law has the mean -1.2 and the standard deviation 1.3.
    height = ((values[-1] - 1.0) / edge_scale(rate, n / k, k, sign) + 1.2) / 1.3
    return Start(at, f"the second moment, as if |<x, b>| is {word} if y = 1", height)
