"""Names the types of arrays that all of the package uses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Real numbers in double precision."""

Vector = NDArray[Any]
"""Real or complex numbers, of any precision."""

Indices = NDArray[np.integer]
"""Positions in an array."""

Mask = NDArray[np.bool_]
"""True where an entry is chosen."""
