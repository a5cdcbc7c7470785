"""Proximal gradient steps with adaptive lengths (FASTA), and the proximal map of the nuclear norm."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.krylov import leading, random_block
from lrlab.operators.operator import Moment


class FastaState(NamedTuple):
    """One iterate: x, f = f(x), its gradient, and z, a subgradient of h at x: x is optimal if gradient + z = 0."""

    x: Any
    f: float
    gradient: Array
    z: Array


def fasta(
    value: Callable[[Any], tuple[float, Any]],
    gradient: Callable[[Any], Array],
    prox: Callable[[Array, float], Any],
    start: Any,
    step: float,
    memory: int = 10,
) -> Iterator[FastaState]:
    r"""Minimize f(x) + h(x), f smooth and convex, h convex with a proximal map, over arrays x or low-rank matrices.

    value(x): f(x), and what `gradient` reuses. gradient(that): f's gradient. prox(v, t): the x that minimizes h(x) +
    ||x - v||^2 / (2t). h may change between iterations, as along a path.

    update      x <- prox(x - t gradient, t)
    line search t is halved until f(x_next) <= max of the last `memory` f + <gradient, dx> + ||dx||^2 / (2t)
    step        t from the curvature along the last move (Barzilai & Borwein): t_s = <dx,dx>/<dx,dg>, t_m =
                <dx,dg>/<dg,dg>; t_m if 2 t_m > t_s, else t_s - t_m / 2
    converges   for every convex f with Lipschitz gradient

    z = (x_old - t gradient_old - x) / t is a subgradient of h at x by the definition of the proximal map, so that
    ||gradient + z|| bounds the distance from 0 to the subdifferential of f + h at x.
    Reference: Goldstein, Studer, Baraniuk (2014), "A field guide to forward-backward splitting with a FASTA
    implementation", sections 4.1-4.3.
    """
    dense = lambda x: x.dense() if isinstance(x, LowRank) else x  # noqa: E731
    x, X = start, dense(start)
    f, state = value(x)
    g = gradient(state)
    recent, t = deque([f], maxlen=memory), step
    while True:
        for _ in range(40):
            target = X - X.dtype.type(t) * g
            following = prox(target, t)
            moved = dense(following)
            f, state = value(following)
            dx = moved - X
            # Rounding errors of f must not halve the step at the minimum.
            slack = 8 * np.finfo(X.dtype).eps * max(recent)
            if f <= max(recent) + float(np.vdot(dx, g)) + float(np.vdot(dx, dx)) / (2 * t) + slack:
                break
            t /= 2
        z = (target - moved) / X.dtype.type(t)
        g_old, g = g, gradient(state)
        x, X = following, moved
        recent.append(f)
        yield FastaState(x, f, g, z)
        t = spectral_step(dx, g - g_old, t)


def spectral_step(dx: Array, dg: Array, t: float) -> float:
    """Return the adaptive step of Barzilai & Borwein, or t if the move shows no curvature."""
    xx, xg, gg = float(np.vdot(dx, dx)), float(np.vdot(dx, dg)), float(np.vdot(dg, dg))
    if xg <= 0 or gg == 0:
        return t
    steepest, minimal = xx / xg, xg / gg
    return minimal if 2 * minimal > steepest else steepest - minimal / 2


def lowered(V: LowRank, level: float) -> LowRank:
    """Return the W that minimizes level ||W||_* + ||W - V||_F^2 / 2: the sizes of s fall by `level`, or to 0.

    Rounding errors become 0.
    """
    sizes = np.abs(V.s)
    s = sizes - sizes.dtype.type(level)
    s = np.where(s > 16 * np.finfo(s.dtype).eps * sizes[0], s, s.dtype.type(0))
    return LowRank(V.U, np.copysign(s, V.s), V.V).truncated(max(int(np.count_nonzero(s)), 1))


def shrunk(M: Moment, W: LowRank, level: float, rng: Generator) -> LowRank:
    """Return M with singular values lowered by `level`, or to 0; W is near the leading part of M."""
    count, part = len(W.s) + 5, lowrank.zero(M.shape, 0)
    while len(part.s) < min(M.shape) and (part.s > level).all():
        # Whole decompositions are faster for more than a twentieth of the singular values.
        if 20 * count > min(M.shape):
            part = lowrank.from_dense(M.dense())
        else:
            start = random_block(M.shape[1], count, rng, M.dtype, W.V)
            part = leading(M.matmat, start, count, transposed=M.rmatmat, floor=level, settled=1e-13)[0]
        count *= 2
    return lowered(part, level)
