"""State evolution of specs of the single-index family: the best possible overlap, and what `gamp` does on the way."""

from itertools import islice
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.theory import spectral
from lrlab.theory.links import Link
from lrlab.theory.state_evolution import Overlaps, Ratios, evolution, overlaps, ratios

VANISHING = 1e-9


def rate(spec: Any) -> float:
    """Return the rate of non-zero entries of the truth, 1 for a dense one."""
    return spec.sparsity / spec.p if spec.sparsity else 1.0


def best_overlap(spec: Any) -> Overlaps | None:
    """Return the limits of the squared overlap for methods that know link, noise and rate; None where there are none.

    A picture is not drawn from a prior: a method that knew it would need no data. Neither are equal entries drawn from
    this one; and designs other than Gaussian have no such theory.
    """
    return overlaps(spec.link_function, spec.n / spec.p, rate(spec)) if _known(spec) else None


def best_ratios(spec: Any, level: float) -> Ratios | None:
    """Return the n/p above which the limits exceed an overlap `level` in [0, 1); None where there are none."""
    return ratios(spec.link_function, level, rate(spec)) if _known(spec) else None


def _known(spec: Any) -> bool:
    return spec.truth == "random" and spec.entries == "gaussian" and spec.theory_holds


def is_symmetric(link: Link) -> bool:
    """Return whether mu_1 = 0, so that b = 0 is a fixed point and the sign of b is lost."""
    return abs(link.moments.mu1) < VANISHING


def spectral_start(link: Link, ratio: float) -> spectral.Spike:
    """Return the limits of the optimal spectral estimate, with which `gamp` starts for symmetric links."""
    return spectral.spike(link.moments, ratio, spectral.known_link_weights(link.moments))


def predicted_iterations(spec: Any, iterations: int) -> Array:
    """Return the overlaps (iterations,) that state evolution predicts for the estimates which `gamp` yields."""
    link, ratio = spec.link_function, spec.n / spec.p
    first = [spectral_start(link, ratio).overlap] if is_symmetric(link) else []
    following = evolution(link, ratio, rate(spec), *first)
    return np.array([*first, *islice(following, iterations - len(first))])
