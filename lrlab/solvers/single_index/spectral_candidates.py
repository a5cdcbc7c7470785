"""Starts for even links, one for each way in which two answers can change the variance of <x, b>."""

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.solvers.methods.sphere import normalised
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.theory.spectral import Weights, link_free_weights

KRYLOV = 20
DENSE = 50
RESTARTS = 2
ACCURACY = 0.01
# An answer that leaves <x, b> a variance 1 - 0.93 = 0.07 of what it was.
NARROW = 0.93


def candidate_weights(share_pos: float, ratio: float) -> dict[str, Weights]:
    """Return weights of (1/p) sum T(y_i) x_i x_i^T by name; `share_pos` of the answers are +1, ratio = n/p.

    For either answer that may narrow <x, b>: weights for a change just large enough to be seen at this n/p (see
    `theory.spectral.link_free_weights`), and for the largest change, after which the eigenvector is nearly that of the
    smallest eigenvalue of that answer's covariance.
    """
    weights = {}
    for sign, answer in ((1, "no"), (-1, "yes")):
        T = link_free_weights(share_pos, ratio, sign)
        if T is not None:
            weights[f"{answer} narrows"] = T
        odds = share_pos / (1.0 - share_pos)
        widened = NARROW / odds if sign > 0 else NARROW * odds
        wide, narrow = widened / (1.0 + widened), -NARROW / (1.0 - NARROW)
        weights[f"{answer} narrows much"] = Weights(wide, narrow) if sign > 0 else Weights(narrow, wide)
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
        return B * np.where((B * B[:, -1:]).sum(axis=0) < 0, -1.0, 1.0)
    scale = np.where(data.answers > 0, weights.pos, weights.neg)
    B = np.repeat(normalised(rng.standard_normal((p, 1))), columns, axis=1)
    for _ in range(RESTARTS):
        B, residual = _lanczos(data, scale, B, min(KRYLOV, p))
        if residual <= ACCURACY:
            break
    # An eigenvector has no sign: all columns take that of the last.
    return B * np.where((B * B[:, -1:]).sum(axis=0) < 0, -1.0, 1.0)


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
