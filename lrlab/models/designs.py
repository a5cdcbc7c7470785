"""Distributions of the rows of a design; theory covers independent Gaussian entries."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.parameters import choice, number

Design = Annotated[
    str, choice("gaussian", "correlated", "student", "rademacher", help="distribution of the rows of X", added=True)
]
Correlation = Annotated[
    float, number(-0.99, 0.99, "correlation of neighboring entries, if design=correlated", added=True)
]
Freedom = Annotated[float, number(2.5, 100, "degrees of freedom, if design=student", symbol="ν", added=True)]


def draw(design: str, rng: Generator, out: Array, correlation: float, freedom: float) -> None:
    """Draw rows (n, p) of a design into `out`."""
    if design in ("gaussian", "correlated"):
        rng.standard_normal(out=out)
    if design == "correlated":
        # Imported here: scipy.signal would slow the start of the lab.
        from scipy.signal import lfilter

        share = math.sqrt(1.0 - correlation**2)
        out[:, 0] /= share
        out[:] = lfilter([share], [1.0, -correlation], out, axis=1)
    if design == "student":
        out[:] = rng.standard_t(freedom, size=out.shape) * math.sqrt(1.0 - 2.0 / freedom)
    if design == "rademacher":
        out[:] = np.where(rng.random(out.shape) < 0.5, -1.0, 1.0)


def inverse_trace(p: int, correlation: float) -> float:
    """Return the trace of the inverse covariance of a correlated design."""
    return ((p - 2) * (1.0 + correlation**2) + 2.0) / (1.0 - correlation**2)
