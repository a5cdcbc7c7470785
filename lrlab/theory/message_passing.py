"""Iterations of generalised approximate message passing in a single-index model, damped where they oscillate."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from lrlab.arrays import Array
from lrlab.protocol import Checkpoint
from lrlab.theory import priors
from lrlab.theory.channels import TINY, Answer, answer
from lrlab.theory.predicted_overlap import is_symmetric, spectral_start
from lrlab.theory.spectral import known_link_weights

# Variances cannot fall to 0: answers without noise would then be events of probability 0.
LEAST_VARIANCE = 1e-12
LEAST_PRECISION = 1e-30
# Indices that only a path without bounds has; the squares of larger ones, over a variance, overflow.
FARTHEST = 1e3
ROWS, SQUARED_ROWS = 2**14, 2**10
PATIENCE, TURNS = 10, 4
LEAST_STEP = 0.3


class Answered(Protocol):
    """Answers y (n,) in +-1 to measurements X (n, p) of a single-index model whose link is known."""

    shape: tuple[int, int]
    link: Any
    checkpoint: Checkpoint

    @property
    def X(self) -> Array: ...  # noqa: D102
    @property
    def y(self) -> Array: ...  # noqa: D102


class State(NamedTuple):
    """Posterior means b (p,) with the summed variance V of its entries, and the means w (n,) of the indices X b.

    score: g (n,) of the update that led here, None at the start. variances: of the entries (p,) where each has its own,
    None where all have V / p, as in the limit of large p.
    """

    b: Array
    V: float
    w: Array
    score: Array | None
    variances: Array | None = None

    def spread(self, X: Array) -> Array | float:
        """Return the variances of the indices X b, one for all or (n,)."""
        return self.V if self.variances is None else squared_product(X, self.variances)

    def entry_noise(self, X: Array, score: Array, curvature: Array) -> Array | float:
        """Return S, the variances with which all answers g, h (n,) tell the entries, one for all or (p,)."""
        precision = self._sums(X, curvature)
        if np.min(precision) <= 0.0:
            # E h = E g^2 under the model; the sum of squares cannot be negative where chance makes the other so.
            precision = np.where(precision > 0.0, precision, self._sums(X, np.square(score)))
        return 1.0 / np.maximum(precision, LEAST_PRECISION)

    def _sums(self, X: Array, h: Array) -> Array | float:
        return float(h.sum()) if self.variances is None else squared_product(X, h, left=True)


class Point(NamedTuple):
    """A state, the likelihood of the answers there, the size of the change that follows, and the step of that."""

    state: State
    answers: Answer
    change: float
    step: float


def path(problem: Answered, now: State, rate: float) -> Iterator[Point]:
    """Yield `now` and the states that follow, without end; steps are damped where they oscillate."""
    step, changes, cosines, before = 1.0, list[float](), list[float](), now.b * 0.0
    while True:
        at = answers(problem, now)
        following = updated(problem, now, rate, step, at)
        move = following.b - now.b
        size = float(np.linalg.norm(move))
        changes.append(max(size, abs(following.V - now.V)) / step)
        cosines.append(cosine(move, before))
        yield Point(now, at, changes[-1], step)
        if oscillates(changes, cosines):
            step, changes, cosines = max(LEAST_STEP, step / 1.5), [], []
        now, before = following, move


def cosine(a: Array, b: Array) -> float:
    """Return the cosine of the angle between two vectors, 0 where one of them is 0."""
    return float(a @ b) / max(float(np.linalg.norm(a)) * float(np.linalg.norm(b)), TINY)


def oscillates(changes: list[float], cosines: list[float]) -> bool:
    """Return whether changes, one an iteration, reverse four times, or stay as they are for ten.

    cosines: of the angles between each change of b and the one before. A change may well grow for some iterations:
    while a sparse truth takes shape, damping would only disturb.
    """
    reverses = len(cosines) >= TURNS and max(cosines[-TURNS:]) < -0.5 and changes[-1] > 0.7 * changes[-TURNS]
    return reverses or (
        len(changes) >= 2 * PATIENCE and min(changes[-PATIENCE:]) > 0.9 * min(changes[-2 * PATIENCE : -PATIENCE])
    )


def updated(problem: Answered, now: State, rate: float, step: float, at: Answer | None = None) -> State:
    """Return the state after one update, of which g, b and log V move by the share `step`; at: the answers' likelihood.

    It is evaluated where it is not given.
    """
    X, p, at = problem.X, len(now.b), at or answers(problem, now)
    score = at.score if now.score is None else step * at.score + (1.0 - step) * now.score
    S = now.entry_noise(X, score, at.curvature)
    # In units of 1 / sqrt(p), in which an entry has variance 1.
    posterior = priors.posterior(math.sqrt(p) * (now.b + S * (score @ X)), p * S, rate)
    b, V = posterior.mean / math.sqrt(p), posterior.variance
    V = min(max(V, LEAST_VARIANCE), 1.0) ** step * now.V ** (1.0 - step)
    # 1 = ||b_true||^2 = ||b||^2 + V. Left free, the two drift against each other for hundreds of iterations where V is
    # small; made equal where little is known of b, they oscillate.
    b = b * ((1.0 - V) / max(float(b @ b), TINY)) ** ((1.0 - V) / 2.0)
    b = step * b + (1.0 - step) * now.b
    following = State(b, V, X @ b, score)
    if now.variances is not None:
        own = np.maximum(posterior.variances, LEAST_VARIANCE) / p
        following = following._replace(variances=own**step * now.variances ** (1.0 - step))
    return following._replace(w=following.w - following.spread(X) * score)


def answers(problem: Answered, now: State) -> Answer:
    """Return the likelihood of the answers, by blocks of rows: a link's quadrature takes some hundred numbers a row."""
    n, spread, parts = len(now.w), now.spread(problem.X), list[Answer]()
    for start in range(0, n, ROWS):
        problem.checkpoint(start / n)
        rows = slice(start, start + ROWS)
        own = spread if isinstance(spread, float) else np.maximum(spread[rows], LEAST_VARIANCE)
        parts.append(answer(problem.link, np.clip(now.w[rows], -FARTHEST, FARTHEST), own, problem.y[rows]))
    return parts[0] if len(parts) == 1 else Answer(*map(np.concatenate, zip(*parts, strict=True)))


def squared_product(X: Array, v: Array, left: bool = False) -> Array:
    """Return the product of the squared entries of X (n, p) with v: from the right (n,), or from the left (p,)."""
    blocks = [slice(start, start + SQUARED_ROWS) for start in range(0, len(X), SQUARED_ROWS)]
    if left:
        return np.sum([v[rows] @ np.square(X[rows]) for rows in blocks], axis=0)
    return np.concatenate([np.square(X[rows]) @ v for rows in blocks])


def from_spectral(problem: Answered, v: Array) -> State:
    """Return the optimal spectral estimate v (p,), scaled to be a posterior mean of its predicted overlap."""
    (n, p), weights = problem.shape, known_link_weights(problem.link.moments)
    limit = spectral_start(problem.link, n / p)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    q = max(q, 1.0 / math.sqrt(p))
    b = math.sqrt(q) * v
    return State(b, 1.0 - q, problem.X @ b * (1.0 - t * np.where(problem.y > 0, weights.pos, weights.neg)), None)


def uninformed(problem: Answered, rate: float) -> State:
    """Return b = 0 after one update, or for symmetric links, of which that is a fixed point, the spectral estimate."""
    n, p = problem.shape
    if not is_symmetric(problem.link):
        return updated(problem, State(np.zeros(p), 1.0, np.zeros(n), None), rate, step=1.0)
    weights = known_link_weights(problem.link.moments)
    T = np.where(problem.y > 0, weights.pos, weights.neg)
    return from_spectral(problem, np.linalg.eigh((problem.X.T * T) @ problem.X)[1][:, -1])


def evidence(problem: Answered, point: Point, rate: float) -> float:
    """Return the log-probability of all answers around a point less that of b = 0, in nats, by Bethe's approximation.

        log Z = sum_i log P(y_i; w_i, V) + sum_i (<x_i, b> - w_i)^2 / (2 V) - sum_j KL(b_j | prior)

    (Krzakala, Manoel, Tramel & Zdeborova 2014, "Variational free energies for compressed sensing", eqs. 20-27, with the
    answers' channel).
    """
    X, (state, at, *_), scale = problem.X, point, math.sqrt(len(point.state.b))
    spread, mean = state.spread(X), scale * state.b
    S = state.entry_noise(X, at.score, at.curvature)
    R, S = mean + scale * S * (at.score @ X), scale**2 * S
    v = priors.posterior(R, S, rate).variances
    apart = (np.log(2.0 * math.pi * S) + (np.square(R - mean) + v) / S) / 2.0
    divergence = -float((apart + priors.log_density(R, S, rate)).sum())
    energy = float((at.log_chance + np.square(X @ state.b - state.w) / (2.0 * spread)).sum())
    return energy - divergence - float(np.log((1.0 + problem.y * problem.link.moments.mu0) / 2.0).sum())
