"""Proximal gradient methods: FASTA for any smooth f plus h; accelerated, for losses of images plus a nuclear norm."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank

FIRST_GROWTH, GROWTH, SHRINK = 2.0, 1.15, 0.6
"""Each step is longer than the last, by far until curvature has been met, and shorter if that is too large."""


class Split(NamedTuple):
    """The parts of min f(x) + h(x) over arrays x.

    value(x): f(x), and what `gradient` reuses. gradient(that): f's gradient. prox(v, t): the x that minimizes h(x) +
    ||x - v||^2 / (2t). h may change between iterations, as along a path. x is whatever `dense` turns into an array, so
    that low-rank x can stay factors.
    """

    value: Callable[[Any], tuple[float, Any]]
    gradient: Callable[[Any], Array]
    prox: Callable[[Array, float], Any]
    dense: Callable[[Any], Array]


class FastaState(NamedTuple):
    """One iterate: x, f = f(x), its gradient, and z, a subgradient of h at x: x is optimal if gradient + z = 0."""

    x: Any
    f: float
    gradient: Array
    z: Array


def fasta(split: Split, start: Any, step: float) -> Iterator[FastaState]:
    r"""Minimize f(x) + h(x), f smooth and convex, h convex with a proximal map.

    update      x <- prox(x - t gradient, t)
    line search t is halved until f(x_next) <= max of the last 10 f + <gradient, dx> + ||dx||^2 / (2t)
    step        t from the curvature along the last move (Barzilai & Borwein): t_s = <dx,dx>/<dx,dg>, t_m =
                <dx,dg>/<dg,dg>; t_m if 2 t_m > t_s, else t_s - t_m / 2
    converges   for every convex f with Lipschitz gradient

    z = (x_old - t gradient_old - x) / t is a subgradient of h at x by the definition of the proximal map, so that
    ||gradient + z|| bounds the distance from 0 to the subdifferential of f + h at x.
    Reference: Goldstein, Studer, Baraniuk (2014), "A field guide to forward-backward splitting with a FASTA
    implementation", sections 4.1-4.3.
    """
    x, X = start, split.dense(start)
    f, state = split.value(x)
    g = split.gradient(state)
    recent, t = deque([f], maxlen=10), step
    while True:
        for _ in range(40):
            target = X - X.dtype.type(t) * g
            following = split.prox(target, t)
            moved = split.dense(following)
            f, state = split.value(following)
            dx = moved - X
            # Rounding errors of f must not halve the step at the minimum.
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
    """Return the adaptive step of Barzilai & Borwein, or t if the move shows no curvature."""
    xx, xg, gg = float(np.vdot(dx, dx)), float(np.vdot(dx, dg)), float(np.vdot(dg, dg))
    if xg <= 0 or gg == 0:
        return t
    steepest, minimal = xx / xg, xg / gg
    return minimal if 2 * minimal > steepest else steepest - minimal / 2


def shrink_singular_values(V: Array, level: float) -> LowRank:
    """Return the W that minimizes level ||W||_* + ||W - V||_F^2 / 2: singular values soft-thresholded."""
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
    """Return sizes, the largest first, lowered to 0 at the least; rounding errors become 0."""
    lowered = sizes - sizes.dtype.type(level)
    return np.where(lowered > 16 * np.finfo(sizes.dtype).eps * sizes[0], lowered, sizes.dtype.type(0))


class Risk(Protocol):
    """A smooth convex f of a matrix W (d, L) that is known through the images A = X U of its factors W = U H^T.

    quadratic: whether its gradient is affine in W.
    """

    quadratic: bool

    def images(self, U: Array) -> Array:
        """Return A (n, k) of a factor U (d, k)."""

    def both(self, A: Array, H: Array) -> tuple[float, Array]:
        """Return f and its gradient (d, L) at U H^T."""


class Place(NamedTuple):
    """A matrix W: its factors and images A of U diag(s), its entries, f and the gradient of f there."""

    estimate: LowRank
    A: Array
    W: Array
    f: float
    gradient: Array


def accelerated(risk: Risk, start: Place, weight: float, step: float) -> Iterator[tuple[Place, Array]]:
    r"""Minimize F(W) = f(W) + lambda ||W||_* over W (d, L), f convex with Lipschitz gradient.

    update      Y = W + beta (W - W_before), W <- S(Y - t f'(Y), t lambda): S lowers all singular values, to 0 at least
    momentum    beta = (theta_before - 1) / theta, theta = (1 + sqrt(1 + 4 theta_before^2 t_before / t)) / 2
    line search t grows at each iteration, and is shortened (and Y moved) until f(W) <= f(Y) + <f'(Y), W - Y> +
                ||W - Y||^2 / (2t), so that t follows the curvature that is met
    restart     momentum is dropped if it points uphill, <Y - W, W - W_before> > 0; a W of larger F is not taken
    converges   F - min F = O(1 / iterations^2) between restarts, and F never rises

    Yields each iterate, and a subgradient of the penalty there: it is optimal if f' plus that is 0. Images of Y follow
    from the images of W and W_before, so that products with X cost the rank of W; a quadratic f is known at Y without
    any. Y and gradients are formed.
    References: Beck & Teboulle (2009), FISTA; the line search: Scheinberg, Goldfarb, Bai (2014), "Fast first-order
    methods for composite convex optimization with backtracking", Algorithm 3; restarts: O'Donoghue & Candes (2015).
    """
    at = before = start
    theta, t, t_before, growth = 1.0, step, step, FIRST_GROWTH
    while True:
        for _ in range(60):
            grown = (1 + math.sqrt(1 + 4 * theta**2 * t_before / t)) / 2
            Y, f, gradient = extrapolated(risk, at, before, (theta - 1) / grown)
            target = Y - t * gradient
            following = place(risk, shrink(target, t * weight))
            move = following.W - Y
            bound = f + float(np.vdot(move, gradient)) + float(np.vdot(move, move)) / (2 * t)
            # Rounding errors of f must not shorten the step at the minimum.
            if following.f <= bound + rounding(f):
                break
            t, growth = SHRINK * t, GROWTH
        if before is not at and higher(following, at, weight):
            before, theta = at, 1.0
            continue
        uphill = float(np.vdot(move, following.W - at.W)) < 0
        yield following, (target - following.W) / t
        before, at = (following if uphill else at), following
        theta, t_before, t = (1.0 if uphill else grown), t, min(growth * t, 1e12 * step)


def place(risk: Risk, W: LowRank) -> Place:
    """Return a matrix with all that is known of it."""
    A = risk.images(W.left)
    return Place(W, A, W.dense(), *risk.both(A, W.V))


def extrapolated(risk: Risk, at: Place, before: Place, beta: float) -> tuple[Array, float, Array]:
    """Return Y = W + beta (W - W_before), f and its gradient there."""
    if beta == 0 or before is at:
        return at.W, at.f, at.gradient
    step = at.W - before.W
    if risk.quadratic:
        curved = at.gradient - before.gradient
        f = at.f + beta * float(np.vdot(at.gradient, step)) + beta**2 / 2 * float(np.vdot(curved, step))
        return at.W + beta * step, f, at.gradient + beta * curved
    images = np.hstack([(1 + beta) * at.A, -beta * before.A])
    f, gradient = risk.both(images, np.hstack([at.estimate.V, before.estimate.V]))
    return at.W + beta * step, f, gradient


def higher(one: Place, other: Place, weight: float) -> bool:
    """Return whether F is larger at one place than at the other, by more than rounding."""
    value, least = (p.f + weight * float(p.estimate.s.sum()) for p in (one, other))
    return value > least + rounding(least)


def rounding(f: float) -> float:
    """Return what f may be wrong by."""
    return 64 * float(np.finfo(float).eps) * abs(f)


def shrink(V: Array, level: float) -> LowRank:
    """Return the W that minimizes level ||W||_* + ||W - V||_F^2 / 2, with the smaller Gram matrix if W is narrow."""
    if V.shape[0] < V.shape[1]:
        W = shrink(V.T, level)
        return LowRank(W.V, W.s, W.U)
    squares, P = np.linalg.eigh(V.T @ V)
    sizes = np.sqrt(np.maximum(squares, 0.0))
    retained = sizes > level
    # Small singular values of a Gram matrix are inaccurate, and many are not worth the detour.
    if level <= 1e-6 * sizes[-1] or retained.sum() > len(retained) / 2:
        return shrink_singular_values(V, level)
    if not retained.any():
        return lowrank.zero(V.shape, 1)
    # The Gram matrix decides which vectors are retained; small singular values come with full accuracy from V itself.
    U, s, Q = np.linalg.svd(V @ P[:, retained], full_matrices=False)
    return LowRank(U, np.maximum(s - level, 0.0), P[:, retained] @ Q.T)
