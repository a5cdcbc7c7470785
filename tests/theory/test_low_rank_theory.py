"""Limits that are laid over low-rank simulations, against simulation and against known cases."""

import numpy as np
import pytest

from lrlab.theory import spiked
from lrlab.theory.bulk import marchenko_pastur, nuclear_norm


def test_quadrature_has_the_moments_of_the_law():
    for ratio in (0.05, 0.4, 1.0):
        s, weights = marchenko_pastur(ratio)
        assert weights.sum() == pytest.approx(1) and weights @ s**2 == pytest.approx(1, abs=1e-4)
        assert weights @ s**4 == pytest.approx(1 + ratio, abs=1e-3)


@pytest.mark.parametrize(("d1", "d2", "rank"), [(30, 30, 3), (20, 50, 2), (50, 20, 5)])
def test_statistical_dimension_is_the_mean_distance_to_the_scaled_subdifferential(d1, d2, rank):
    rng = np.random.default_rng(0)
    taus = np.linspace(0, np.sqrt(d1) + np.sqrt(d2), 200)
    inner = [np.linalg.svd(rng.standard_normal((d1 - rank, d2 - rank)), compute_uv=False) for _ in range(60)]
    beyond = np.mean([(np.maximum(s[:, None] - taus, 0) ** 2).sum(axis=0) for s in inner], axis=0)
    simulated = (rank * (d1 + d2 - rank + taus**2) + beyond).min()
    assert nuclear_norm(d1, d2, rank) == pytest.approx(simulated, rel=0.02)


def test_statistical_dimension_at_its_ends():
    assert nuclear_norm(30, 20, 20) == 600
    assert nuclear_norm(40, 40, 1) > 1 * (80 - 1)
    values = [nuclear_norm(40, 40, k) for k in range(1, 40)]
    assert all(a < b for a, b in zip(values, values[1:], strict=False)) and values[-1] <= 1600


@pytest.mark.parametrize("size", [0.5, 1.2, 3.0])
def test_spikes_of_rectangular_noise(size):
    rng, d1, d2, v = np.random.default_rng(1), 300, 500, 1 / 400
    u, w = (np.eye(d)[0] for d in (d1, d2))
    M = size * np.outer(u, w) + np.sqrt(v) * rng.standard_normal((d1, d2))
    U, s, Vt = np.linalg.svd(M)
    limit = spiked.spike(size, v, d1, d2)
    assert s[0] == pytest.approx(limit.value, rel=0.03)
    assert (U[:, 0] @ u) ** 2 == pytest.approx(limit.left, abs=0.06)
    assert (Vt[0] @ w) ** 2 == pytest.approx(limit.right, abs=0.06)


@pytest.mark.parametrize("size", [0.5, 1.5, 3.0])
def test_spikes_of_symmetric_noise(size):
    rng, p = np.random.default_rng(2), 500
    G = rng.standard_normal((p, p)) / np.sqrt(p)
    M = (G + G.T) / np.sqrt(2)
    M[0, 0] += size
    values, vectors = np.linalg.eigh(M)
    limit = spiked.symmetric_spike(size, 1 / p, p)
    assert values[-1] == pytest.approx(limit.value, rel=0.03)
    assert vectors[0, -1] ** 2 == pytest.approx(limit.left, abs=0.06)
