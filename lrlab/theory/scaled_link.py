"""A link of an index of another variance: E[y | z] for the index c z, z of variance 1."""

from dataclasses import dataclass, field

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link, SignLink
from lrlab.theory.smoothing import base_moments, smoothed


@dataclass(frozen=True)
class ScaledLink(Link):
    """f0(v) = g(factor v) for the base link g of another link; see `scaled` for the noise and the flips."""

    of: Link = field(default_factory=SignLink)
    factor: float = 1.0

    def sharp(self, index: Array) -> Array:  # noqa: D102
        return self.of.sharp(self.factor * np.asarray(index))

    def smooth(self, index: Array) -> Array:  # noqa: D102
        if self.noise == 0:
            return self.sharp(index)
        return smoothed(ScaledLink(of=self.of, factor=self.factor), index, self.noise)[0]

    def breakpoints(self) -> tuple[float, ...]:  # noqa: D102
        return tuple(place / self.factor for place in self.of.breakpoints())

    def sharp_moments(self) -> tuple[float, float, float]:  # noqa: D102
        m0, m1, m2 = base_moments(self, (np.ones_like, lambda z: z, np.square))
        return m0, m1, m2


def scaled(link: Link, factor: float) -> Link:
    """Return z -> link(factor z): noise of the index shrinks by the factor."""
    return ScaledLink(link.noise / factor, of=link, factor=factor, flip=link.flip)
