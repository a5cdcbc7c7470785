"""The randomness of fits in tests."""

import numpy as np

from lrlab.models.own_rows import OwnRows


def solver_stream(seed: int) -> np.random.Generator:
    """Return the randomness that a solver gets with a seed, wherever it runs."""
    return np.random.default_rng(OwnRows(seed=seed).streams().solver)
