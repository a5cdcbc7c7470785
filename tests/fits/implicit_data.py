"""Synthetic pairs of users and items whose ranking has a low-rank part beside popularity."""

import numpy as np


def pairs_of(seed, n1=120, n2=90, each=12, rank=3, signal=2.0):
    """Return pairs of names: of each user the items that are drawn first by u_i^T v_j and by popularity."""
    rng = np.random.default_rng(seed)
    U, V = rng.standard_normal((n1, rank)), rng.standard_normal((n2, rank))
    scores = signal * U @ V.T / np.sqrt(rank) + rng.standard_normal(n2) + rng.gumbel(size=(n1, n2))
    order = np.argsort(-scores, axis=1)[:, :each]
    return [(f"u{i}", f"i{j}") for i in range(n1) for j in order[i]]
