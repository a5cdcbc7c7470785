"""Starts of maximum likelihood for one-bit phase retrieval, and the widths at which descents from them begin."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solvers.single_index.gamp import gamp
from lrlab.solvers.single_index.phase_losses import WIDEST, likelihood
from lrlab.solvers.single_index.spectral_optimal import spectral_optimal

STARTS, GAMP_STEPS, GAMP_RESTS = 6, 60, 0.01


def starts(problem: SingleIndexData, rng: Generator) -> Iterator[Array]:
    """Yield the spectral estimate, the posterior mean by `gamp`, and random directions, each (p,) of unit length."""
    yield next(spectral_optimal(problem, weights="link", rng=rng)).estimate
    yield posterior_mean(problem, rng)
    for _ in range(STARTS - 2):
        yield unit(rng.standard_normal(problem.shape[1]))


def posterior_mean(problem: SingleIndexData, rng: Generator) -> Array:
    """Return the direction (p,) near which `gamp` comes to rest; the last one that is finite where it diverges."""
    estimate = np.zeros(problem.shape[1])
    with np.errstate(all="ignore"):
        for at in islice(gamp(problem, rng=rng), GAMP_STEPS):
            if not np.isfinite(at.estimate).all():
                break
            estimate = at.estimate
            if at.residual is not None and at.residual < GAMP_RESTS:
                break
    return estimate


def likeliest_width(problem: SingleIndexData, b: Array, narrowest: float) -> float:
    """Return the width, of those that the descent takes, at which b is likeliest: about the error of its indices."""
    widths, z = [narrowest], problem.X @ b
    while widths[-1] < WIDEST:
        widths.append(min(2.0 * widths[-1], WIDEST))
    return min(widths, key=lambda w: float(likelihood(z, problem.y, problem.link, w).loss.sum()))
