"""Predicted overlaps of single-index models: the best one, the iterates of `gamp`, and closed forms."""

from itertools import islice
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.theory import spectral
from lrlab.theory.links import Link, Moments
from lrlab.theory.state_evolution import Overlaps, Ratios, evolution, overlaps, ratios

LEAST_ENTRIES = 32
"""Smallest number of unknown entries with a posterior-mean overlap within about .02 of its limit, on average. The limit
assumes independent entries; a model scales s of them to length 1, which reveals their size. GAMP at s = 4, 8, 16, 32
and 64 exceeded its limit by at most .075, .056, .036, .036 and .018 (standard errors .01 to .025). At s = 1 only index
and sign are unknown: at n = 60, p = 100 and noise 1 the overlap is .99, and the limit .85."""


def rate(spec: Any) -> float:
    """Return the rate of non-zero entries of the truth, 1 for a dense one."""
    return spec.sparsity / spec.p if spec.sparsity else 1.0


def entries(spec: Any) -> int:
    """Return the number of unknown entries: the non-zero ones of a sparse signal, else all."""
    return spec.sparsity or spec.p


def limit_applies(spec: Any) -> bool:
    """Return whether a signal has enough entries for the limits at large p to hold within about .02.

    The overlap of a random guess, 1/p, adds to them: near a limit of 0, quotients by the limit are meaningless.
    """
    return entries(spec) >= LEAST_ENTRIES


def best_overlap(spec: Any) -> Overlaps | None:
    """Return the limits of the squared overlap for methods that know link, noise and rate; None if unknown.

    The prior covers neither images (a method that knew them would need no data) nor equal entries, and the theory
    covers Gaussian designs only.
    """
    return overlaps(spec.link_function, spec.n / spec.p, rate(spec)) if _known(spec) else None


def best_ratios(spec: Any, level: float) -> Ratios | None:
    """Return the n/p above which the limits exceed an overlap `level` in [0, 1); None if unknown."""
    return ratios(spec.link_function, level, rate(spec)) if _known(spec) else None


def _known(spec: Any) -> bool:
    return spec.truth == "random" and spec.entries == "gaussian" and spec.theory_holds


def is_symmetric(link: Link) -> bool:
    """Return whether mu_1 = 0, so that b = 0 is a fixed point and the sign of b is lost."""
    return abs(link.moments.mu1) < 1e-9


def spectral_start(link: Link, ratio: float) -> spectral.Spike:
    """Return the limits of the optimal spectral estimate, the initialization of `gamp` for symmetric links."""
    return spectral.spike(link.moments, ratio, spectral.known_link_weights(link.moments))


def predicted_iterations(spec: Any, iterations: int) -> Array:
    """Return the overlaps (iterations,) that state evolution predicts for the iterates of `gamp`."""
    link, ratio = spec.link_function, spec.n / spec.p
    first = [spectral_start(link, ratio).overlap] if is_symmetric(link) else []
    following = evolution(link, ratio, rate(spec), *first)
    return np.array([*first, *islice(following, iterations - len(first))])


def marginal_mean_overlap(moments: Moments, ratio: float) -> float:
    """Return the limit of <b, b-hat>^2 for b-hat along mean(y x) at n/p = `ratio`.

    Off the truth, each of the p - 1 coordinates of mean(y x) has variance 1/n since y^2 = 1, so the squared cosine is
    mu_1^2 / (mu_1^2 + p/n).
    """
    return moments.mu1**2 / (moments.mu1**2 + 1.0 / ratio) if moments.mu1 else 0.0


def least_squares_overlap(moments: Moments, ratio: float) -> float:
    """Return the limit of <b, b-hat>^2 for least squares of y on x and an intercept (two-slice SIR) at n/p = `ratio`.

    Let W be the p - 1 coordinates off the truth; they are independent of z = <x, b> and y. The coefficient along b,
    from z with W regressed out, tends to mu_1. Those off it are (W^T Q W)^{-1} W^T Q y with Q the projection off z and
    the intercept; |Q y|^2 / n -> v = 1 - mu_0^2 - mu_1^2, so their squared norm tends to v times the trace of an
    inverse Wishart matrix, v (p/n) / (1 - p/n). Hence mu_1^2 / (mu_1^2 + v / (n/p - 1)).
    """
    if ratio <= 1.0 or not moments.mu1:
        return 0.0
    rest = 1.0 - moments.mu0**2 - moments.mu1**2
    return moments.mu1**2 / (moments.mu1**2 + rest / (ratio - 1.0))
