"""Initial directions without the link: cross-fitted first and second moments; held-out data choose the better."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import hard_threshold
from lrlab.solvers.methods.sphere import normalised
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.solvers.single_index.link_fit import Fit, chosen, fit_all
from lrlab.solvers.single_index.spectral_candidates import candidate_weights, leading_columns

POWER_STEPS, RESTRICTED = 30, 10
POWER_TOLERANCE = 0.01
EDGE, BIN = 4.0, 0.25
# Nats between starts above which no link need be smoothed to compare them.
DECIDED = 10.0
# Share of noise in the squared length of the first moment below which no other start is tried.
CLEAR = 0.1


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
    losses = ", ".join(f"{held_out[name]:.3g} from the {name} moment" for name in candidates)
    note = f"Start: {best} moment (held-out loss {losses})."
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
    yield "first", first_moment(data, s)
    n, p = data.X.shape
    scale = data.answers - data.answers.mean()
    noise = min(s, p) * (1.0 + np.log(p / min(s, p))) * float(scale @ scale) / n**2
    if noise < CLEAR * float(np.square(hard_threshold(scale @ data.X / n, s)).sum()):
        return
    if s < p:
        yield "second", second_moment(data, s, rng)
        return
    for name, weights in candidate_weights(float(data.answers.mean()), n / p).items():
        yield f"second ({name})", leading_columns(data, weights, rng)


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


def largest(B: Array, s: int) -> Array:
    """Return B with all but the s largest entries of each column set to zero."""
    return B if s >= len(B) else np.stack([hard_threshold(b, s) for b in B.T], axis=1)
