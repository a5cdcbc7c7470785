"""What solvers of compressed sensing share."""

from functools import partial
from typing import Any

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.solver_entry import solver

SparseData = Any
"""The data of `models.compressed_sensing.SparseProblem`: A (n, p), y (n,), and what a solver declares to know."""
sparse_solver = partial(solver, family="compressed-sensing")


def moved(x: Array, following: Array) -> float:
    """Return how far an estimate moves, relative to its length."""
    return float(np.linalg.norm(following - x)) / (float(np.linalg.norm(following)) or 1.0)


def least_squares(A: Array, y: Array, support: Indices) -> Array:
    """Return the x with this support (indices) that minimizes ||y - A x||."""
    x = np.zeros(A.shape[1])
    x[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return x
