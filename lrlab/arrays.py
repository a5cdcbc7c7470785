"""Names the types of arrays and of intervals that all of the package uses, and makes arrays read-only."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
"""Real numbers: in double precision, but for estimates that are only drawn."""
Vector = NDArray[Any]
"""Real or complex numbers, of any precision."""
Indices = NDArray[np.integer]
"""Positions in an array."""
Mask = NDArray[np.bool_]
"""True for chosen entries."""
Matrix = Any
"""A dense array, or a sparse one of scipy, which has no types: rows of features or of labels."""


def frozen(array: Vector) -> Vector:
    """Return the array, made read-only."""
    array.setflags(write=False)
    return array


class Intervals(NamedTuple):
    """Ends of 95% intervals of all entries (p,), nan for an entry without one, and a sentence on why it has none."""

    low: Array
    high: Array
    note: str = ""
