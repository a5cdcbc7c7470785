"""Forward-backward splitting (FASTA) for any smooth f plus h, and the proximal maps of the nuclear norm."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank

MEMORY = 10
"""f may rise above its last value, but not above the largest of so many."""
BACKTRACKS = 40
ROUNDING = 16.0
"""Singular values are known to so many rounding errors of the largest."""


class Split(NamedTuple):
    """The parts of min f(x) + h(x) over arrays x.

    value(x): f(x), and what the gradient makes use of. gradient(that): f's gradient.
    prox(v, t): the x that minimises h(x) + ||x - v||^2 / (2t). h may change between iterations, as along a path.
    x is whatever `dense` turns into an array, so that low-rank x can stay factors.
    """

    value: Callable[[Any], tuple[float, Any]]
    gradient: Callable[[Any], Array]
    prox: Callable[[Array, float], Any]
    dense: Callable[[Any], Array]


class FastaState(NamedTuple):
    """One iterate: x, f = f(x), its gradient, and z, a subgradient of h at x: x is optimal where gradient + z = 0."""

    x: Any
    f: float
    gradient: Array
    z: Array


def fasta(split: Split, start: Any, step: float) -> Iterator[FastaState]:
    r"""Minimise f(x) + h(x), f smooth and convex, h convex with a proximal map.

    update      x <- prox(x - t gradient, t)
    line search t is halved until f(x_next) <= max of the last 10 f + <gradient, dx> + ||dx||^2 / (2t)
    step        t from the curvature along the last move (Barzilai & Borwein): t_s = <dx,dx>/<dx,dg>, t_m =
                <dx,dg>/<dg,dg>; t_m where 2 t_m > t_s, t_s - t_m / 2 otherwise
    converges   for every convex f with Lipschitz gradient

    z = (x_old - t gradient_old - x) / t is a subgradient of h at x by the definition of the proximal map, so that
    ||gradient + z|| bounds the distance from 0 to the subdifferential of f + h at x.
    Reference: Goldstein, Studer, Baraniuk (2014), "A field guide to forward-backward splitting with a FASTA
    implementation", sections 4.1-4.3.
    """
    x, X = start, split.dense(start)
    f, state = split.value(x)
    g = split.gradient(state)
    recent, t = deque([f], maxlen=MEMORY), step
    while True:
        for _ in range(BACKTRACKS):
            target = X - X.dtype.type(t) * g
            following = split.prox(target, t)
            moved = split.dense(following)
            f, state = split.value(following)
            dx = moved - X
            # Rounding of f itself must not halve the step where nothing is left to gain.
            slack = 8 * np.finfo(X.dtype).eps * max(recent)
            if f <= max(recent) + float(np.vdot(dx, g)) + float(np.vdot(dx, dx)) / (2 * t) + slack:
                break
            t /= 2
        z = (target - moved) / X.dtype.type(t)
        g_old, g = g, split.gradient(state)
        x, X = following, moved
        recent.append(f)
        yield FastaState(x, f, g, z)
        t = spectral_step(dx, g - g_old, t)


def spectral_step(dx: Array, dg: Array, t: float) -> float:
    """Return the adaptive step of Barzilai & Borwein, or t where the move shows no curvature."""
    xx, xg, gg = float(np.vdot(dx, dx)), float(np.vdot(dx, dg)), float(np.vdot(dg, dg))
    if xg <= 0 or gg == 0:
        return t
    steepest, minimal = xx / xg, xg / gg
    return minimal if 2 * minimal > steepest else steepest - minimal / 2


def shrink_singular_values(V: Array, level: float) -> LowRank:
    """Return the W that minimises level ||W||_* + ||W - V||_F^2 / 2: singular values soft-thresholded."""
    U, s, Vt = np.linalg.svd(V, full_matrices=False)
    lowered = soft_threshold(s, level)
    rank = max(int(np.count_nonzero(lowered)), 1)
    return LowRank(U[:, :rank], lowered[:rank], Vt[:rank].T)


def shrink_eigenvalues(V: Array, level: float) -> LowRank:
    """Return the same for a symmetric V, as U diag(s) U^T with s of either sign: eigenvalues soft-thresholded."""
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    lowered = soft_threshold(np.abs(values[order]), level)
    rank = max(int(np.count_nonzero(lowered)), 1)
    U = vectors[:, order[:rank]]
    return LowRank(U, np.sign(values[order[:rank]]) * lowered[:rank], U)


def soft_threshold(sizes: Array, level: float) -> Array:
    """Return sizes, of which the first is the largest, lowered to 0 at the least; what rounding leaves over is 0."""
    lowered = sizes - sizes.dtype.type(level)
    return np.where(lowered > ROUNDING * np.finfo(sizes.dtype).eps * sizes[0], lowered, sizes.dtype.type(0))
