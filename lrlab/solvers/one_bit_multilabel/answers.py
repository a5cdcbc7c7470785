"""The likelihood of one-bit answers with noise and flips, fitted to margins and signs."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from lrlab.arrays import Array

NARROWEST, WIDEST = 1e-5, 10.0
"""Range of the width."""
DENSITY = 1 / math.sqrt(2 * math.pi)
"""Density of a standard normal margin at 0."""


class Answers(NamedTuple):
    """How signs depend on margins z of an estimate: P(y = 1 | z) = flip + (1 - 2 flip) Phi(z / width)."""

    width: float
    flip: float

    def probability(self, z: Array) -> Array:
        """Return P(y = 1 | z)."""
        return self.flip + (1 - 2 * self.flip) * ndtr(z / self.width)

    def density(self, z: Array) -> Array:
        """Return the derivative of P(y = 1 | z)."""
        return (1 - 2 * self.flip) * DENSITY / self.width * np.exp(-np.square(z / self.width) / 2)

    def score(self, z: Array, y: Array) -> Array:
        """Return the derivative of log P(y | z) in z."""
        return y * self.density(z) / self.probability(y * z)

    def information(self, z: Array) -> float:
        """Return the mean Fisher information of a sign about its margin."""
        return float(np.mean(self.density(z) ** 2 / (self.probability(z) * self.probability(-z))))


FIRST = Answers(0.3, 0.01)
"""Starting point of the first fit."""


def fitted(z: Array, y: Array, start: Answers, narrowest: float) -> Answers:
    """Return the answers of greatest likelihood, with a width of at least `narrowest`."""
    from scipy.optimize import minimize

    u = y * z

    def loss(parameters: Array) -> tuple[float, Array]:
        answers = Answers(math.exp(parameters[0]), parameters[1])
        P = answers.probability(u)
        gradient = [np.mean(u * answers.density(u) / P), np.mean((2 * ndtr(u / answers.width) - 1) / P)]
        return -float(np.log(P).mean()), np.array(gradient)

    # Without flips a single sign far on the wrong side would decide the width, and the slope, so that the search would
    # not leave this bound.
    bounds = [(math.log(narrowest), math.log(WIDEST)), (1e-7, 0.45)]
    begin = [math.log(max(start.width, narrowest)), max(start.flip, FIRST.flip / 10)]
    optimum = minimize(loss, begin, jac=True, bounds=bounds, method="L-BFGS-B")
    return Answers(math.exp(optimum.x[0]), float(optimum.x[1]))
