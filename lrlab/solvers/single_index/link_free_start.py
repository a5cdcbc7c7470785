"""Initial directions without the link: cross-fitted moments, between which held-out data choose, and spline fits."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import hard_threshold
from lrlab.solvers.methods.sphere import normalised
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.solvers.single_index.link_fit import ROUGH, Fit, chosen, fit, fit_all
from lrlab.solvers.single_index.link_free_moves import Moved, descended, largest, sharpened
from lrlab.solvers.single_index.link_smoothing import COEFFICIENTS, SMOOTHNESS, LogOdds
from lrlab.theory.spectral import Weights, link_free_weights

POWER_STEPS, RESTRICTED = 30, 10
POWER_TOLERANCE = 0.01
EDGE, BIN = 4.0, 0.25
# Nats between starts above which no link need be smoothed to compare them.
DECIDED = 10.0
# Share of noise in the squared length of the first moment below which no other start is tried.
CLEAR = 0.1
KRYLOV = 20
DENSE = 50
RESTARTS = 2
ACCURACY = 0.01
# An answer that leaves <x, b> a variance 1 - 0.93 = 0.07 of what it was.
NARROW = 0.93
ROUNDS = 8
STIFF = SMOOTHNESS[2]


class Start(NamedTuple):
    """Directions B (p, K + 1), X B, the fits of every smoothness and which was chosen, and a sentence on the choice."""

    B: Array
    Z: Array
    fits: list[Fit]
    choice: int
    note: str

    @property
    def held_out(self) -> float:
        """The mean loss of the chosen fit on unseen answers."""
        return self.fits[self.choice].mean_held_out


def best_start(data: CrossFit, s: int, rng: Generator) -> Start:
    """Return the moment direction whose smoothed link predicts unseen answers better.

    Links are smoothed only where the shares of answers in bins of the index do not decide.
    """
    candidates = {name: (B, data.indices(B)) for name, B in directions(data, s, rng)}
    binned = {name: binned_loss(data.held_out(Z), data.answers) for name, (_, Z) in candidates.items()}
    close = [name for name in candidates if binned[name] <= min(binned.values()) + DECIDED]
    fits = {name: fit_all(data.sample(candidates[name][1])) for name in close}
    choices = {name: chosen(own) for name, own in fits.items()}
    held_out = {name: value / len(data.answers) for name, value in binned.items()}
    held_out |= {name: own[choices[name]].mean_held_out for name, own in fits.items()}
    best = min(close, key=lambda name: held_out[name])
    others = [f"{held_out[name]:.3g}" for name in candidates if name != best]
    losses = f"{held_out[best]:.3g}" + (f", of other starts {', '.join(others)}" if others else "")
    note = f"Start: {best} (loss on held-out answers {losses})."
    return Start(*candidates[best], fits[best], choices[best], note)


def binned_loss(z: Array, answers: Array) -> float:
    """Return the summed loss of each answer under the share of the others in its bin of indices z (n,)."""
    cell = np.clip((z + EDGE) / BIN, 0.0, 2.0 * EDGE / BIN - 1.0).astype(np.intp)
    count, ones = np.bincount(cell), np.bincount(cell, weights=answers)
    parts = (part * -np.log(np.maximum(part - 0.5, 0.5) / count.clip(1)) for part in (ones, count - ones))
    return float(sum(part.sum() for part in parts))


def directions(data: CrossFit, s: int, rng: Generator) -> Iterator[tuple[str, Array]]:
    """Yield names and directions (p, K + 1): of the first moment, and of second moments that see different links.

    Where noise is only a small part of the first moment, its direction is as good a start as any.
    """
    yield "first moment", first_moment(data, s)
    n, p = data.X.shape
    scale = data.answers - data.answers.mean()
    noise = min(s, p) * (1.0 + np.log(p / min(s, p))) * float(scale @ scale) / n**2
    if noise < CLEAR * float(np.square(hard_threshold(scale @ data.X / n, s)).sum()):
        return
    if s < p:
        yield "second moment", second_moment(data, s, rng)
        return
    for name, weights in candidate_weights(float(data.answers.mean()), n / p).items():
        yield f"second moment, for {name}", leading_columns(data, weights, rng)


def first_moment(data: CrossFit, s: int) -> Array:
    """Return the s largest entries of mean (y_i - mean y) x_i as unit columns (p, K + 1); E = mu_1 b."""
    return normalised(largest(data.moment(data.answers - data.answers.mean()), s))


def second_moment(data: CrossFit, s: int, rng: Generator) -> Array:
    r"""Return eigenvectors of M = mean (y_i - mean y) x_i x_i^T, largest in size, s entries each (p, K + 1).

    E[M] = (mu_2 - mu_0) b b^T. Truncated power iteration (Yuan & Zhang 2013) from one random vector for all columns,
    first on the s, and then on the 4 s largest entries of the diagonal alone; each column takes what is larger in size.
    The last one may take any other's: on all data a support that a column missed may have the larger eigenvalue.
    """
    scale, p = data.answers - data.answers.mean(), data.X.shape[1]
    random: Array = np.repeat(rng.standard_normal((p, 1)), data.folds + 1, axis=1)
    if s >= p:
        return aligned(truncated_power(data, scale, random, s)[0])
    diagonal = data.squares(scale)
    ends = [
        truncated_power(data, scale, random * (largest(diagonal, k) != 0), s, RESTRICTED) for k in (s, min(4 * s, p))
    ]
    sizes, B = np.array([size for _, size in ends]), np.array([end for end, _ in ends])
    B = np.take_along_axis(B, sizes.argmax(axis=0)[None, None], axis=0)[0]
    on_all = np.abs(np.einsum("ij,ij->j", data.X @ B, (data.X @ B) * scale[:, None]))
    last = np.repeat(B[:, [on_all.argmax()]], data.folds + 1, axis=1)
    B[:, -1] = truncated_power(data, scale, last, s)[0][:, -1]
    return aligned(B)


def truncated_power(data: CrossFit, scale: Array, B: Array, s: int, restricted: int = 0) -> tuple[Array, Array]:
    """Return truncated power iterates (p, K + 1) from B, and the sizes of their eigenvalues (K + 1,).

    The first `restricted` steps stay within the entries of B instead of keeping the s largest of all.
    """
    own, B = B != 0, normalised(B)
    for step in range(POWER_STEPS):
        image = data.moment(scale, B)
        following = normalised(image * own if step < restricted else largest(image, s))
        following *= np.where((following * B).sum(axis=0) < 0, -1.0, 1.0)
        change, B = np.abs(following - B).max(), following
        if change < POWER_TOLERANCE and step >= restricted:
            break
    return B, np.abs((B * data.moment(scale, B)).sum(axis=0))


def aligned(B: Array) -> Array:
    """Return the columns, as an eigenvector has no sign, with that of the last."""
    return B * np.where((B * B[:, -1:]).sum(axis=0) < 0, -1.0, 1.0)


def candidate_weights(share_pos: float, ratio: float) -> dict[str, Weights]:
    """Return weights of (1/p) sum T(y_i) x_i x_i^T by name; `share_pos` of the answers are +1, ratio = n/p.

    For either answer that may narrow <x, b>: weights for a change just large enough to be seen at this n/p (see
    `theory.spectral.link_free_weights`), and for the largest change, after which the eigenvector is nearly that of the
    smallest eigenvalue of that answer's covariance.
    """
    weights = {}
    for sign, answer in ((1, "-1"), (-1, "1")):
        T = link_free_weights(share_pos, ratio, sign)
        if T is not None:
            weights[f"|<x, b>| smaller where y = {answer}"] = T
        odds = share_pos / (1.0 - share_pos)
        widened = NARROW / odds if sign > 0 else NARROW * odds
        wide, narrow = widened / (1.0 + widened), -NARROW / (1.0 - NARROW)
        weights[f"|<x, b>| much smaller where y = {answer}"] = (
            Weights(wide, narrow) if sign > 0 else Weights(narrow, wide)
        )
    return weights


def leading_columns(data: CrossFit, weights: Weights, rng: Generator) -> Array:
    """Return leading eigenvectors of sum T(y_i) x_i x_i^T over the rows that each column sees (p, K + 1).

    Lanczos for all columns side by side, restarted from the best vectors until these are within 1%; LAPACK for few
    entries.
    """
    p, columns = data.X.shape[1], data.folds + 1
    if p <= DENSE:
        no, yes = data.second_moments
        B = np.linalg.eigh(weights.neg * no + weights.pos * yes)[1][:, :, -1].T
        return aligned(B)
    scale = np.where(data.answers > 0, weights.pos, weights.neg)
    B = np.repeat(normalised(rng.standard_normal((p, 1))), columns, axis=1)
    for _ in range(RESTARTS):
        B, residual = _lanczos(data, scale, B, min(KRYLOV, p))
        if residual <= ACCURACY:
            break
    return aligned(B)


def _lanczos(data: CrossFit, scale: Array, B: Array, steps: int) -> tuple[Array, float]:
    """Return the Ritz vectors (p, k) of the largest Ritz values, and the largest residual relative to their spread."""
    p, k = B.shape
    Q, diagonal, off = np.zeros((steps, p, k)), np.zeros((steps, k)), np.zeros((steps, k))
    V = B
    for step in range(steps):
        Q[step] = V
        W = data.moment(scale, V)
        diagonal[step] = (V * W).sum(axis=0)
        for _ in range(2):
            W = W - np.einsum("spk,sk->pk", Q[: step + 1], np.einsum("spk,pk->sk", Q[: step + 1], W))
        off[step] = np.linalg.norm(W, axis=0)
        V = W / np.where(off[step] > 0, off[step], 1.0)
    ritz, residual = np.empty_like(B), 0.0
    for column, (a, b) in enumerate(zip(diagonal.T, off.T, strict=True)):
        values, vectors = np.linalg.eigh(np.diag(a) + np.diag(b[:-1], 1) + np.diag(b[:-1], -1))
        ritz[:, column] = vectors[:, -1] @ Q[:, :, column]
        spread = float(values[-1] - values[0])
        residual = max(residual, float(b[-1] * abs(vectors[-1, -1])) / spread if spread > 0 else 0.0)
    return normalised(ritz), residual


def doubtful(data: CrossFit, settled: Fit) -> bool:
    """Return whether the answers' uncertainty has not even been halved, in nats."""
    share = data.answers.mean()
    entropy = -(share * np.log(share) + (1.0 - share) * np.log(1.0 - share))
    return bool(settled.mean_held_out > entropy / 2.0)


def spline_starts(data: CrossFit, below: float, rng: Generator) -> Iterator[Start]:
    """Yield each moment's direction after rounds with a stiff spline; nothing where the first moment is clear.

    For links with several turns. A direction with an error of .7 blurs such a link so much that a straight line
    predicts unseen answers as well as a spline, and a line leads nowhere. A stiff spline, used whether or not it pays
    at first, finds the turns within a few rounds: with 300 answers, 20 entries and the link sin 2z it leads to the best
    direction from nearly every moment. A direction is given up when half of its rounds have not brought the loss on
    unseen answers `below`.
    """
    p = data.X.shape[1]
    candidates = list(directions(data, p, rng))
    for name, B in candidates if len(candidates) > 1 else ():
        link, free = LogOdds(np.zeros(COEFFICIENTS)), np.ones_like(B, dtype=bool)
        now = Moved(B, data.indices(B), np.zeros(0))
        for round in range(ROUNDS):
            fitted = fit(data.rows(now.Z, link), STIFF, link.coefficients, ROUGH)
            if round == ROUNDS // 2 and fitted.mean_held_out > below:
                break
            link = fitted.log_odds
            sharp = sharpened(link, data.held_out(now.Z), p)
            at = data.derivatives(now.Z, sharp)
            now = descended(data, sharp, now._replace(loss=at.loss), data.newton(at, now.B, free))
        else:
            fits = fit_all(data.sample(now.Z, link))
            yield Start(now.B, now.Z, fits, chosen(fits), f"Start: {name}, {ROUNDS} rounds with a stiff spline.")
