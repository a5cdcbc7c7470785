r"""Chooses between M, of pairs with different answers, and M', of pairs with equal ones, by all answers.

phi = mu_1^2 - mu_0 (mu_2 - mu_0) lifts the signal's eigenvalue in M if it is positive, in M' if it is negative. With
few unknowns the largest eigenvalues of M and M' themselves do not tell: the matrix that lacks the signal is the smaller
along b and has its largest eigenvalue elsewhere, by chance. Instead

    G = r r^T - m C,    r = mean (y_i - m) x_i,    C = mean (y_i - m) x_i x_i^T,    m = mean y_i

estimates phi b b^T from all n(n-1)/2 pairs. If responses do not depend on x, r ~ N(0, (1 - m^2) / n I) and C is a
weighted covariance, so that the largest and smallest eigenvalues have known means and deviations at each p
(`theory.bulk`). The method chooses M if the largest one exceeds its mean by more deviations than minus the smallest
does.
"""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs
from lrlab.solvers.single_index.moment_methods import ClassMoments
from lrlab.theory.bulk import Chance, largest_by_chance

SMALL = 64
"""Largest number of rows for computing all eigenvalues at once."""
CLEAR = 2.0
"""Standard deviations between both matrices that make a wrong choice rare."""


def format_size(deviations: float) -> str:
    """Return a number of deviations with two digits, without an exponent."""
    return f"{deviations:,.0f}" if deviations >= 10.0 else f"{deviations:.2g}"


class Choice(NamedTuple):
    """The choice of M or M', and by how many standard deviations of the noise each stands out."""

    moment: str
    differ: float
    agree: float

    @classmethod
    def of(cls, differ: float, agree: float) -> "Choice":
        """Return the choice of the one that stands out more."""
        return cls("M" if differ >= agree else "M'", differ, agree)

    @property
    def note(self) -> str:
        """The choice as a sentence for the person who looks."""
        one, other = ("M", "M'") if self.moment == "M" else ("M'", "M")
        most, least = sorted((max(self.differ, 0.0), max(self.agree, 0.0)), reverse=True)
        sizes = f"{format_size(most)} standard deviations above pure noise, in {other} {format_size(least)}"
        words = f"{one} chosen: its largest eigenvalue stands out more, {sizes}."
        return words if most - least >= CLEAR else f"{words} The choice is uncertain: more responses would settle it."


def choose(moments: ClassMoments) -> Choice:
    """Return which matrix to take; the moments are used up."""
    G, m = contrast(moments)
    p = len(G)
    if p <= SMALL:
        least, most = np.linalg.eigvalsh(G)[[0, -1]]
    else:
        most, least = float(top_eigenpairs(G, 1)[0][0]), -float(top_eigenpairs(-G, 1)[0][0])
    by_chance = chances(moments.n_pos, moments.n_neg, p, m)
    return Choice.of(by_chance[0].height(float(most)), by_chance[1].height(-float(least)))


def contrast(moments: ClassMoments) -> tuple[Array, float]:
    """Return G (p, p) and the mean answer; the moments are used up."""
    n = moments.n_pos + moments.n_neg
    m = (moments.n_pos - moments.n_neg) / n
    r = ((1.0 - m) * moments.s_pos - (1.0 + m) * moments.s_neg) / n
    G, S_neg = moments.S_pos, moments.S_neg
    G *= -m * (1.0 - m) / n
    S_neg *= m * (1.0 + m) / n
    G += S_neg
    G += np.outer(r, r)
    return G, m


def chances(n_pos: int, n_neg: int, p: int, m: float) -> tuple[Chance, Chance]:
    """Return the law of the largest eigenvalues of G and -G if responses do not depend on x."""
    n = n_pos + n_neg
    weights, counts = (m * (1.0 - m) / n, -m * (1.0 + m) / n), (n_pos, n_neg)
    return (
        largest_by_chance([-w for w in weights], counts, p, size=p / n * (1.0 - m * m)),
        largest_by_chance(weights, counts, p),
    )
