"""Limits that are laid over low-rank simulations, against simulation and against known cases."""

import numpy as np
import pytest

from lrlab.theory import spiked
from lrlab.theory.bulk import nuclear_norm


@pytest.mark.parametrize(("d1", "d2", "rank"), [(30, 30, 3), (20, 50, 2), (50, 20, 5)])
def test_statistical_dimension_is_the_mean_distance_to_the_scaled_subdifferential(d1, d2, rank):
    rng = np.random.default_rng(0)
    taus = np.linspace(0, np.sqrt(d1) + np.sqrt(d2), 200)
    inner = [np.linalg.svd(rng.standard_normal((d1 - rank, d2 - rank)), compute_uv=False) for _ in range(60)]
    beyond = np.mean([(np.maximum(s[:, None] - taus, 0) ** 2).sum(axis=0) for s in inner], axis=0)
    simulated = (rank * (d1 + d2 - rank + taus**2) + beyond).min()
    assert nuclear_norm(d1, d2, rank) == pytest.approx(simulated, rel=0.02)


@pytest.mark.parametrize("factors", [(1.0, 1.0), (3.0, 1.5), (1.0, 0.0)])
@pytest.mark.parametrize("size", [0.3, 1.2, 3.0])
def test_spikes_of_rectangular_noise(size, factors):
    """Sides of 4 to 1, so that the left vector is not taken for the right one; the noise of their own may differ."""
    rng, d1, d2, v = np.random.default_rng(1), 800, 200, 1 / 1000
    noise = spiked.BlockNoise(v, np.array([factors[0] * v]), np.array([factors[1] * v]))
    drawn = []
    for _ in range(12):
        M = np.sqrt(v) * rng.standard_normal((d1, d2))
        M[1:, 0] *= np.sqrt(factors[0])
        M[0, 1:] *= np.sqrt(factors[1])
        M[0, 0] = size
        U, s, Vt = np.linalg.svd(M, full_matrices=False)
        drawn.append((s[0], U[0, 0] ** 2, Vt[0, 0] ** 2))
    limit = spiked.spike(size, noise, 0, d1, d2)
    value, left, right = np.mean(drawn, axis=0)
    assert value == pytest.approx(limit.value, rel=0.02)
    assert (left, right) == pytest.approx(limit[1:], abs=0.02)


@pytest.mark.parametrize("size", [0.5, 1.5, 3.0])
def test_spikes_of_symmetric_noise(size):
    rng, p = np.random.default_rng(2), 500
    G = rng.standard_normal((p, p)) / np.sqrt(p)
    M = (G + G.T) / np.sqrt(2)
    M[0, 0] += size
    values, vectors = np.linalg.eigh(M)
    limit = spiked.symmetric_spike(size, spiked.BlockNoise(1 / p, np.full(1, 1 / p), np.full(1, 1 / p)), 0, p)
    assert values[-1] == pytest.approx(limit.value, rel=0.03)
    assert vectors[0, -1] ** 2 == pytest.approx(limit.left, abs=0.06)
