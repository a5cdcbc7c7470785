"""Counts, sums and Gram matrices of the measurements by answer: all that moment methods need, in one pass."""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import Gram
from lrlab.models.protocols import SingleIndexData


class ClassMoments(NamedTuple):
    """For the answers +1 and -1: counts, sums of x (p,), and sums of x x^T (p, p)."""

    n_pos: int
    n_neg: int
    s_pos: Array
    s_neg: Array
    S_pos: Array
    S_neg: Array


def class_moments(problem: SingleIndexData) -> ClassMoments:
    """Return the class moments of a single-index problem; one pass by blocks, memory 2 p^2 and a block."""
    p = problem.shape[1]
    grams = {1.0: Gram(p), -1.0: Gram(p)}
    sums = {1.0: np.zeros(p), -1.0: np.zeros(p)}
    counts = {1.0: 0, -1.0: 0}
    for X, y in problem.blocks():
        for answer in (1.0, -1.0):
            chosen = X[y == answer]
            grams[answer].add(chosen)
            sums[answer] += chosen.sum(axis=0)
            counts[answer] += len(chosen)
    return ClassMoments(counts[1.0], counts[-1.0], sums[1.0], sums[-1.0], grams[1.0].matrix(), grams[-1.0].matrix())
