"""Nodes and weights of Gaussian quadrature."""

from functools import lru_cache

import numpy as np

from lrlab.arrays import Array


@lru_cache(maxsize=16)
def legendre(order: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre on -1..1."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes, weights
