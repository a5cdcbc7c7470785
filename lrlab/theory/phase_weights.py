"""The weights of answers in the spectral starts of phase retrieval: see `theory.phase` for their limits and sources."""

import math

import numpy as np

from lrlab.arrays import Array

STARTS = ("optimal", "threshold", "correlation", "orthogonality", "truncated", "random")

# The share of smallest answers that a start leaves out: |I| = 3m/13 and m/6 answers remain.
LEFT_OUT = {"correlation": 10.0 / 13.0, "orthogonality": 5.0 / 6.0}
# Chen & Candes keep answers up to nine times the mean; the others are bounded so that the limits above hold.
LARGEST = 9.0
LOWEST = -10.0
SUPREMA = {"truncated": LARGEST, "correlation": LARGEST**0.25}
"""Least upper bounds of the weights of a start, where they are not 1."""


def weigh(start: str, s: Array, cut: float, soft: float = 1.0) -> Array:
    """Return the weights T(s) of answers s >= 0 whose mean is 1; `cut` is their quantile LEFT_OUT[start].

    optimal: 1 - 1/s, not below -10 (Luo, Alghamdi & Lu 2019). threshold: (s - 1) / (s - 1 + soft), not below -10, for
    soft of `softening` (Mondelli & Montanari 2018, eqs. 10 and 12). truncated: s up to 9, else 0 (Chen & Candes 2015).
    orthogonality: 1 above the cut (Wang, Giannakis & Eldar 2018). correlation: the fourth root of s above the cut,
    constant from 9 on (Wang, Giannakis, Saad & Chen 2018).
    """
    if start == "optimal":
        return 1.0 - 1.0 / np.maximum(s, 1.0 / (1.0 - LOWEST))
    if start == "threshold":
        return 1.0 - soft / np.maximum(s - 1.0 + soft, soft / (1.0 - LOWEST))
    if start == "truncated":
        return np.where(s <= LARGEST, s, 0.0)
    return (s > cut) * (np.minimum(s, LARGEST) ** 0.25 if start == "correlation" else 1.0)


def softening(field: str, ratio: float) -> float:
    """Return sqrt(delta / delta_weak) at m/p = `ratio`, 1 below the weak-recovery threshold, 1/2 real or 1 complex."""
    return math.sqrt(max(1.0, ratio / (1.0 if field == "complex" else 0.5)))
