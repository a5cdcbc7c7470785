"""Distributions of the rows of a design: independent Gaussian entries, and others for which theory makes no claim."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.parameters import Parameter

Design = Annotated[
    str,
    Parameter(
        meaning="distribution of the rows of X, all entries of variance 1: independent Gaussian, Gaussian with"
        " correlation^|j-k| between entries j and k, Student's t, or signs",
        choices=("gaussian", "correlated", "student", "rademacher"),
        added=True,
    ),
]
Correlation = Annotated[
    float, Parameter(meaning="between neighbouring entries of a correlated design", low=-0.99, high=0.99, added=True)
]
Freedom = Annotated[
    float, Parameter(meaning="degrees of freedom of a Student design", symbol="ν", low=2.5, high=100, added=True)
]


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
