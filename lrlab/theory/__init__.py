"""Exact curves to lay over the dots: moments of links, spiked-matrix predictions, rates."""

from collections.abc import Callable


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return the point at which a function changes its sign."""
    # Imported here: it is not needed to start the lab.
    from scipy.optimize import brentq

    return float(brentq(f, low, high, xtol=1e-300, rtol=1e-15))
