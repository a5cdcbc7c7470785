"""Names the types of arrays and of intervals that all of the package uses."""

from collections.abc import Callable
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
Scores = Array | Callable[[slice], Array]
"""Scores of labels (n, L), or a function that returns those of a slice of rows: the table may outgrow memory."""
Matrix = Any
"""A dense array, or a sparse one of scipy, which has no types: rows of features or of labels."""


class Intervals(NamedTuple):
    """Ends of 95% intervals of all entries (p,), nan for an entry without one, and a sentence on why it has none."""

    low: Array
    high: Array
    note: str = ""
