r"""Truths of single-index models in Gaussian noise: posterior mean and variance, and their averages.

An entry of sqrt(p) b has the law (1 - rate) delta_0 + rate N(0, 1/rate) of variance 1; rate = 1 is the
Gaussian prior. lrlab draws s = rate p non-zero entries and then scales b to length 1, which is the same for large s.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array

# log z over which z^2 pdf(z) has all its mass; the step resolves the onset of a non-zero entry, of width 1/40 or more.
LOG_Z = np.linspace(-12.0, 2.25, 700)
LOG_PRECISIONS, ONSET = np.arange(-26.0, 36.0, 0.4), np.arange(-4.0, 8.0, 0.1)
"""Log precisions of the table of overlaps; they are denser around the variance of a non-zero entry."""


def posterior(R: Array, noise_variance: float, rate: float) -> tuple[Array, float]:
    """Return the posterior means (p,) of entries of prior variance 1, and the average of their posterior variances.

    They are observed as R (p,), with N(0, noise_variance) added.
    """
    slab = 1.0 / rate
    shrink = slab / (slab + noise_variance)
    if rate >= 1.0:
        return shrink * R, shrink * noise_variance
    chance = expit(_log_odds(np.square(R), noise_variance, rate))
    mean = shrink * R
    # Var = chance (shrink noise) + chance (1 - chance) mean^2.
    variances = chance * (shrink * noise_variance + (1.0 - chance) * mean**2)
    return chance * mean, float(variances.mean())


def level(log_precision: Array, rate: float) -> Array:
    """Return log(q / (1 - q)), q the mean square of the posterior mean at noise of precision exp(log_precision)."""
    if rate >= 1.0:
        return np.array(log_precision, dtype=float)
    log_hat = np.atleast_1d(np.asarray(log_precision, dtype=float))
    known = np.isfinite(log_hat)
    levels = np.full(log_hat.shape, -np.inf)
    levels[known] = _sparse_level(log_hat[known], rate)
    return levels


def log_precision(levels: Array, rate: float) -> Array:
    """Return the logarithm of the precision that gives the posterior mean the mean square q = expit(levels)."""
    if rate >= 1.0:
        return np.array(levels, dtype=float)
    return _inverse(rate)(levels)


@lru_cache(maxsize=1024)
def _inverse(rate: float) -> Any:
    # Imported here: it is not needed to start the lab.
    from scipy.interpolate import CubicSpline

    onset = ONSET + np.log(rate)
    far = (LOG_PRECISIONS < onset[0] - 0.1) | (LOG_PRECISIONS > onset[-1] + 0.1)
    log_precisions = np.sort(np.concatenate([LOG_PRECISIONS[far], onset]))
    return CubicSpline(_sparse_level(log_precisions, rate), log_precisions)


def _sparse_level(log_hat: Array, rate: float) -> Array:
    slab = 1.0 / rate
    noise = np.exp(-np.clip(log_hat, -60.0, 60.0))
    # R given that the entry is not zero is sqrt(slab + noise) z; rate slab = 1 turns averages into E[. z^2].
    square, weights = _squares()
    log_odds = _log_odds((slab + noise)[:, None] * square, noise[:, None], rate)
    signal, rest = slab / (slab + noise), noise / (slab + noise)
    q = signal * (expit(log_odds) @ weights)
    lack = rest + signal * (expit(-log_odds) @ weights)
    return np.log(q) - np.log(lack)


def _log_odds(square: Array, noise: Array | float, rate: float) -> Array:
    """Return the log-odds of a non-zero entry given the square of R."""
    slab = 1.0 / rate
    log_shrink = np.log(noise) - np.log(slab + noise)
    return np.log(rate) - np.log1p(-rate) + log_shrink / 2.0 + square * slab / (2.0 * noise * (slab + noise))


@lru_cache(maxsize=1)
def _squares() -> tuple[Array, Array]:
    z = np.exp(LOG_Z)
    # dz = z dlog z, both signs of z.
    weights = np.sqrt(2.0 / np.pi) * np.exp(-np.square(z) / 2.0) * z**3 * (LOG_Z[1] - LOG_Z[0])
    return np.square(z), weights / weights.sum()
