"""The likelihood of one-bit responses with noise and flips, fitted to margins and signs."""

import math

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.channels import answer
from lrlab.theory.links import SignLink

NARROWEST, WIDEST = 1e-5, 10.0
"""Range of the noise."""
FIRST = SignLink(noise=0.3, flip=0.01)
"""Starting point of the first fit."""


def information(link: SignLink, z: Array) -> float:
    """Return the mean Fisher information of a sign about its margin z."""
    both = [answer(link, z, 0.0, y) for y in (1.0, -1.0)]
    return float(sum(np.mean(np.exp(at.log_chance) * at.score**2) for at in both))


def fitted(z: Array, y: Array, start: SignLink, narrowest: float) -> SignLink:
    """Return the link of greatest likelihood for signs y at margins z, with a noise of at least `narrowest`."""
    from scipy.optimize import minimize

    def loss(parameters: Array) -> tuple[float, Array]:
        link = SignLink(noise=math.exp(parameters[0]), flip=parameters[1])
        at = answer(link, z, 0.0, y)
        by_flip = np.mean(2.0 - np.exp(-at.log_chance)) / (1.0 - 2.0 * link.flip)
        return -float(at.log_chance.mean()), np.array([np.mean(z * at.score), by_flip])

    # Without flips a single sign far on the wrong side would decide the noise, and the slope, so that the search would
    # not leave this bound.
    bounds = [(math.log(narrowest), math.log(WIDEST)), (1e-7, 0.45)]
    begin = [math.log(max(start.noise, narrowest)), max(start.flip, FIRST.flip / 10)]
    optimum = minimize(loss, begin, jac=True, bounds=bounds, method="L-BFGS-B")
    return SignLink(noise=math.exp(optimum.x[0]), flip=float(optimum.x[1]))
