r"""What can be recovered in a single-index model whose measurements x ~ N(0, Sigma) are correlated: state evolution.

The indices are those of the whitened signal Sigma^{1/2} b with measurements N(0, I), whose prior N(0, Sigma / p) is
known. With lambda over the eigenvalues of Sigma, of mean 1, n = alpha p, and I(q) of `theory.information`,

    q_hat = alpha I(q)
    q = E[lambda^2 q_hat / (1 + lambda q_hat)]      explained variance of an index
    E[lambda q_hat / (1 + lambda q_hat)]            overlap of the posterior mean of b

For Sigma = I this is `theory.state_evolution`. The limit takes b^T Sigma b for 1, whose variance is 2 E[lambda^2] / p.
Reference: after Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing".
"""

import math
from typing import Any

import numpy as np
from scipy.special import expit, logit

from lrlab.arrays import Array
from lrlab.theory.information import log_information
from lrlab.theory.links import Link
from lrlab.theory.predicted_overlap import is_symmetric

FREQUENCIES, STEPS = 1024, 500
CLOSE = 1e-9
UNEVEN = 0.2
"""Standard deviation of b^T Sigma b up to which the limit is taken for the mean at finite p."""


def eigenvalues(correlation: float) -> Array:
    """Return eigenvalues, evenly drawn from their limit, of the matrix with entries correlation^|j-k|."""
    frequency = (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES * math.pi
    return (1.0 - correlation**2) / (1.0 - 2.0 * correlation * np.cos(frequency) + correlation**2)


def overlap(link: Link, ratio: float, spectrum: Array) -> float:
    """Return the overlap at n/p = `ratio` from a start with nearly none, for eigenvalues of mean 1."""
    level, reached = -15.0, 0.0
    for _ in range(STEPS):
        precision = ratio * math.exp(float(log_information(link, np.array([level]))[0]))
        shrink = spectrum * precision / (1.0 + spectrum * precision)
        before, reached = reached, float(shrink.mean())
        level = float(np.clip(logit(float((spectrum * shrink).mean())), -18.0, 30.0))
        if abs(reached - before) < CLOSE and (reached > CLOSE or expit(level) < CLOSE):
            break
    return reached


def predicted(spec: Any) -> float | None:
    """Return the overlap of a spec with a dense Gaussian truth, and a Gaussian design; None where that says nothing."""
    if spec.truth != "random" or spec.entries != "gaussian" or spec.sparsity not in (0, spec.p):
        return None
    if spec.design not in ("gaussian", "correlated"):
        return None
    spectrum = eigenvalues(spec.correlation if spec.design == "correlated" else 0.0)
    uneven = math.sqrt(2.0 * float(np.square(spectrum).mean()) / spec.p)
    # Near a threshold chance decides at any p.
    if uneven > UNEVEN or is_symmetric(spec.link_function):
        return None
    return overlap(spec.link_function, spec.n / spec.p, spectrum)
