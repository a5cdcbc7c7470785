"""The path W(eta) = (U + eta X) diag(s) (V + eta Y)^T: its measurements, and the point on it that fits them best."""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.operators.operator import Operator
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix

Pair = tuple[Array, Array]


class Path(NamedTuple):
    """A(W(eta)) = A(W) + eta first + eta^2 second, and the images P of X and Q of Y."""

    first: Array
    second: Array
    P: Array
    Q: Array

    @staticmethod
    def along(A: Operator, at: EvaluatedMatrix, step: Pair) -> "Path":
        """Return the path from W."""
        P, s = A.left(step[0]), at.W.s
        Q = P if A.symmetric else A.right(step[1])
        cross = A.pair(P * s, at.Q)
        first = 2 * cross if A.symmetric else cross + A.pair(at.P * s, Q)
        return Path(first, A.pair(P * s, Q), P, Q)


def least(rest: Array, path: Path) -> float:
    """Return the eta that minimises ||rest + eta first + eta^2 second||^2, a root of its cubic derivative."""
    first, second = path.first, path.second
    products = (second @ second / 2, first @ second, first @ first / 2 + rest @ second, rest @ first)
    quartic = np.array([*products, 0.0], dtype=np.float64)
    if not np.isfinite(quartic).all() or not quartic[:3].any():
        return 0.0
    roots = np.roots(np.polyder(quartic))
    real = roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)]
    return float(real[np.argmin(np.polyval(quartic, real))]) if len(real) else 0.0
