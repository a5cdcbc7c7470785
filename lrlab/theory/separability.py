r"""Separable one-bit responses: logistic and probit likelihoods have no maximum.

On x ~ N(0, I_p), for large p and with an intercept, there is a maximum if

    p / n < min over a, t of  E[max(0, y (a + t z) - g)^2],    z = <x, b>, g ~ N(0, 1),

and none if p / n is larger: some direction and intercept separate the responses.
Reference: Candes & Sur (2020), "The phase transition for the existence of the maximum likelihood estimate in
high-dimensional logistic regression", Theorem 2.1, whose proof needs nothing of the link.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from lrlab.arrays import Array
from lrlab.theory.cells import inside
from lrlab.theory.links import Link, normal_density
from lrlab.theory.smoothing import base_cells

REACH = 8.0
LARGEST_RATIO = 300.0
"""n/p above which responses that are still separable count as always separable."""


@lru_cache(maxsize=1024)
def existence_ratio(link: Link) -> float:
    """Return the n/p above which the likelihood has a maximum; inf above LARGEST_RATIO."""
    from scipy.optimize import minimize

    z, weights = index_nodes(link)
    f = link(z)
    chances = {y: weights * normal_density(z) * (1.0 + y * f) / 2.0 for y in (1.0, -1.0)}

    def share(at: Array) -> tuple[float, Array]:
        value, slope = 0.0, np.zeros(2)
        for y, chance in chances.items():
            h = y * (at[0] + at[1] * z)
            cdf, density = ndtr(h), normal_density(h)
            value += float(chance @ ((h * h + 1.0) * cdf + h * density))
            pull = 2.0 * y * chance * (h * cdf + density)
            slope += [float(pull.sum()), float(pull @ z)]
        return value, slope

    largest = float(minimize(share, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9}).fun)
    return 1.0 / largest if largest > 1.0 / LARGEST_RATIO else math.inf


def index_nodes(link: Link) -> tuple[Array, Array]:
    """Return nodes and weights of a quadrature over z that resolves the link."""
    edges = np.linspace(-REACH, REACH, 321)
    if link.noise == 0:
        edges = np.union1d(edges, np.clip(base_cells(link).edges, -REACH, REACH))
    z, weights = inside(edges[:-1], edges[1:])
    return z.ravel(), weights.ravel()
