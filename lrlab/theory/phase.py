r"""The spectral initialization of phase retrieval at finite m/p, exactly in the limit of large m and p.

The start is the leading eigenvector of D = (1/m) sum T(s_i) a_i a_i^*, with s_i = |<a_i, x>|^2 over its mean. With
G = |<a, x>|, E G^2 = 1, delta = m/p, Z = T(s) and lambda above all values of Z,

    psi(lambda) = lambda (1/delta + E[Z / (lambda - Z)]),    phi(lambda) = lambda E[Z G^2 / (lambda - Z)],

the top eigenvalue leaves the bulk when phi > psi at the minimum lambda_0 of psi. It is then psi(lambda_1) with
phi(lambda_1) = psi(lambda_1) and lambda_1 > lambda_0, and the overlap |<x, x-hat>|^2 is psi' / (psi' - phi') there.
Real and complex a differ only in the law of G: |N(0, 1)|, or the root of an exponential number.

References: Lu & Li (2017), "Phase transitions of spectral initialization for high-dimensional nonconvex estimation",
Theorem 1; Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase retrieval"
(no start has an overlap below delta = 1 for complex a, 1/2 for real a); Luo, Alghamdi & Lu
(2019), "Optimal spectral initialization for signal recovery with applications to phase retrieval" (T = 1 - 1/s).
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory import root
from lrlab.theory.smoothing import panels

STARTS = ("optimal", "threshold", "correlation", "orthogonality", "truncated", "random")

# The share of smallest answers that a start leaves out: |I| = 3m/13 and m/6 answers remain.
LEFT_OUT = {"correlation": 10.0 / 13.0, "orthogonality": 5.0 / 6.0}
# Chen & Candes keep answers up to nine times the mean; the others are bounded so that the limits above hold.
LARGEST = 9.0
LOWEST = -10.0
SUPREMA = {"truncated": LARGEST, "correlation": LARGEST**0.25}
"""Least upper bounds of the weights of an initialization, if they are not 1."""


def weigh(start: str, s: Array, cut: float, soft: float = 1.0) -> Array:
    """Return the weights T(s) of measurements s >= 0 with mean 1; `cut` is their quantile LEFT_OUT[start].

    optimal: 1 - 1/s, not below -10 (Luo, Alghamdi & Lu 2019). threshold: (s - 1) / (s - 1 + soft), not below -10, for
    soft of `softening` (Mondelli & Montanari 2018, eqs. 10 and 12). truncated: s up to 9, else 0 (Chen & Candes 2015).
    orthogonality: 1 above the cut (Wang, Giannakis & Eldar 2018). correlation: the fourth root of s above the cut,
    constant from 9 on (Wang, Giannakis, Saad & Chen 2018).
    """
    if start == "optimal":
        return 1.0 - 1.0 / np.maximum(s, 1.0 / (1.0 - LOWEST))
    if start == "threshold":
        return 1.0 - soft / np.maximum(s - 1.0 + soft, soft / (1.0 - LOWEST))
    if start == "truncated":
        return np.where(s <= LARGEST, s, 0.0)
    return (s > cut) * (np.minimum(s, LARGEST) ** 0.25 if start == "correlation" else 1.0)


def softening(field: str, ratio: float) -> float:
    """Return sqrt(delta / delta_weak) at m/p = `ratio`, 1 below the weak-recovery threshold, 1/2 real or 1 complex."""
    return math.sqrt(max(1.0, ratio / (1.0 if field == "complex" else 0.5)))


class Law(NamedTuple):
    """The law of s = measurement over its mean, as nodes: s, their probabilities, and their part of E G^2."""

    s: Array
    weight: Array
    energy: Array

    def quantile(self, share: float) -> float:
        """Return the value that s exceeds with probability 1 - `share`."""
        return float(np.interp(share, np.cumsum(self.weight), self.s))


def start_overlap(ratio: float, field: str, start: str, *, noise: float = 0.0, data: str = "magnitude") -> float:
    """Return the limit of |<x, x-hat>|^2 / (||x||^2 ||x-hat||^2) for one of `STARTS` at m/p = `ratio`.

    field: "real" or "complex". noise: standard deviation, added to `data`, "magnitude" or "intensity", with negative
    measurements set to 0. Accurate to about 0.005, and 0 below the weak-recovery threshold.
    """
    return 0.0 if start == "random" else spike(field, start, noise, data, ratio).overlap(ratio)


class StartLimits(NamedTuple):
    """The functions psi and phi of one law of Z: values Z of the weights T(s), their probabilities and energies.

    Both live on lambda above `top`, the least upper bound of Z.
    """

    Z: Array
    weight: Array
    energy: Array
    top: float

    def mean(self, power: int, lam: float, measure: Array) -> float:
        """Return E[(Z / (lambda - Z))^power] under a measure."""
        return float(((self.Z / (lam - self.Z)) ** power) @ measure)

    def excess(self, lam: float, rest: float) -> float:
        """Return (phi - psi) / lambda at 1/delta = `rest`."""
        return self.mean(1, lam, self.energy - self.weight) - rest

    def ends(self, rest: float) -> tuple[float, float | None]:
        """Return lambda_0 and lambda_1 at 1/delta = `rest`, None if no eigenvalue leaves the bulk."""
        low = self._root(lambda lam: self.mean(2, lam, self.weight) - rest)
        return low, self._root(lambda lam: self.excess(lam, rest), low) if self.excess(low, rest) > 0.0 else None

    def overlap(self, ratio: float) -> float:
        """Return the overlap at m/p = `ratio`."""
        rest = 1.0 / ratio
        if (lam := self.ends(rest)[1]) is None:
            return 0.0
        rise, fall = rest - self.mean(2, lam, self.weight), self.mean(2, lam, self.energy)
        return rise / (rise + fall)

    def eigenvalues(self, ratio: float) -> tuple[float, float]:
        """Return the limits of the two largest eigenvalues of (1/m) sum Z a a^* at m/p = `ratio`, values of psi.

        Without overlap, both are the end of the bulk, the minimum of psi (Lu & Li 2017, Theorem 1).
        """
        rest = 1.0 / ratio
        low, lam = self.ends(rest)
        edge = low * (rest + self.mean(1, low, self.weight))
        return edge if lam is None else lam * (rest + self.mean(1, lam, self.weight)), edge

    def _root(self, function: Callable[[float], float], low: float = -math.inf) -> float:
        """Return the zero above `low` of a function that is positive at first; else the lower end."""

        def at(x: float) -> float:
            return function(self.top + math.exp(x))

        first = math.log(max(low - self.top, 1e-9))
        last = first + 1.0
        if at(first) <= 0.0:
            return self.top + math.exp(first)
        while at(last) > 0.0:
            last += 2.0
        return self.top + math.exp(root(at, first, last))


def spike(field: str, start: str, noise: float, data: str, ratio: float = 1.0) -> StartLimits:
    """Return the law of Z for an initialization at m/p = `ratio`."""
    return _spike(field, start, noise, data, softening(field, ratio) if start == "threshold" else 1.0)


@lru_cache(maxsize=64)
def _spike(field: str, start: str, noise: float, data: str, soft: float) -> StartLimits:
    # Less noise moves the overlap by less than 0.005, and is narrower than the nodes of its law resolve.
    if noise < 0.04:
        rough = clean_law(field, ())
        cut = rough.quantile(LEFT_OUT.get(start, 0.0))
        # There `threshold` reaches LOWEST.
        kink = math.sqrt(max(0.0, 1.0 + soft * LOWEST / (1.0 - LOWEST)))
        law = clean_law(field, (math.sqrt(cut), 3.0, math.sqrt(1.0 / (1.0 - LOWEST)), kink))
    else:
        law = noisy_law(field, noise, 1 if data == "magnitude" else 2)
        cut = law.quantile(LEFT_OUT.get(start, 0.0))
    return StartLimits(weigh(start, law.s, cut, soft), law.weight, law.energy, SUPREMA.get(start, 1.0))


def density(field: str, r: Array, variance: Array | float = 1.0) -> Array:
    """Return the density of |<a, x>| at r >= 0, E |<a, x>|^2 = `variance`."""
    if field == "complex":
        return 2.0 * r / variance * np.exp(-np.square(r) / variance)
    return math.sqrt(2.0 / math.pi) / np.sqrt(variance) * np.exp(-np.square(r) / (2.0 * variance))


def clean_law(field: str, breaks: tuple[float, ...]) -> Law:
    """Return the law of s = G^2, with panels that end at the jumps and kinks of T."""
    r, w = panels(np.union1d([0.0, 0.5, 1.0, 2.0, 2.9, 2.99, 3.0, 4.0, 6.0, 9.0], breaks), 60)
    weight = w * density(field, r)
    return Law(r**2, weight, weight * r**2)


def noisy_law(field: str, noise: float, power: int) -> Law:
    """Return the law of the intensity of (G^power + noise e)_+ over its mean, with an atom at 0."""
    from scipy.special import ndtr

    r, w = panels(np.array([0.0, 1.0, 3.0, 7.0]), 266)
    mass = w * density(field, r)
    clean = r**power
    y, step = panels(np.array([0.0, 0.3, 1.0, 2.0, 3.0, 4.0, 7.0**power + 8.0 * noise]), 60)
    bell = np.exp(-(((y[:, None] - clean) / noise) ** 2) / 2.0) * (step / noise / math.sqrt(2.0 * math.pi))[:, None]
    bell = np.vstack([ndtr(-clean / noise), bell])
    intensity = np.append(0.0, y) ** (2 // power)
    weight, energy = bell @ mass, bell @ (mass * r**2)
    return Law(intensity / (intensity @ weight), weight, energy)
