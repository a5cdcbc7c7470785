"""Spiked moments and spectral estimates: against simulation, known cases, and the best weights."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import lrlab
from lrlab.spectra import pairwise
from lrlab.theory import bulk, spiked
from lrlab.theory.bulk import nuclear_norm
from lrlab.theory.links import ThresholdLink
from lrlab.theory.spectral import Weights, known_link_weights, link_free_weights, spike
from lrlab.theory.spiked import finite_moment

SPECS = (
    lrlab.spec("one-bit-sensing", n=400, p=12, noise=0.5),
    lrlab.spec("one-bit-phase-retrieval", n=300, p=8, threshold=0.4),
    lrlab.spec("flipped-logistic", n=60, p=40, intercept=1.0),
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
def test_draws_have_the_law_of_simulated_measurements(spec):
    table = pairwise.spectrum(spec, "n", [spec.n], trials=150)
    for moment in ("M", "M'"):
        drawn, own = finite_moment(spec.link_function, spec.n, spec.p, moment, 600), table[table["moment"] == moment]
        simulated = own[own["rank"] == 1]["value"], own[own["rank"] == 2]["value"], own[own["rank"] == 1]["overlap"]
        for one, other in zip(drawn, simulated, strict=True):
            assert ks_2samp(one, other).pvalue > 1e-3


def test_the_edge_is_centred_on_the_largest_eigenvalue_of_noise():
    spec = lrlab.spec("flipped-logistic", flip=0.5)
    row = pairwise.predictions(spec, "flip", [0.5]).iloc[0]
    drawn = finite_moment(spec.link_function, spec.n, spec.p, "M", 1000)
    # The asymptotic edge is off by 3.5% at p = 20.
    assert row["top"] == pytest.approx(drawn.top.mean(), rel=0.015)
    assert row["second"] == pytest.approx(drawn.second.mean(), rel=0.015) and row["second"] < 0.97 * row["top"]


def test_bands_follow_the_informative_moment_and_end_where_theory_does():
    phase = lrlab.spec("one-bit-phase-retrieval", n=300, p=8)
    bands = pairwise.bands(phase, "threshold", [0.3, 1.2], draws=50)
    assert list(bands["moment"]) == ["M'", "M"] and (bands["low_top"] < bands["high_top"]).all()
    assert bands.equals(pairwise.bands(phase, "threshold", [0.3, 1.2], draws=50)), "the same draws every time"
    assert pairwise.bands(phase.replace(design="rademacher"), "threshold", [1.2]).empty
    assert pairwise.bands(phase, "p", [400]).empty


def test_the_known_link_gives_the_largest_overlap_and_the_eigenvalue_1():
    moments, ratio = ThresholdLink(0.2, 0.8).moments, 4.0
    best = spike(moments, ratio, known_link_weights(moments))
    assert best.value == pytest.approx(1.0)
    others = [spike(moments, ratio, Weights(np.cos(a), np.sin(a))).overlap for a in np.linspace(0, 2 * np.pi, 721)]
    assert max(others) <= best.overlap + 1e-12 and max(others) > best.overlap - 1e-2


@pytest.mark.parametrize(("positive", "sign"), [(0.3, 1), (0.3, -1), (0.5, 1)])
def test_noise_reaches_the_edge_with_tracy_widom_fluctuations(positive, sign):
    """The Tracy-Widom law (beta = 1) has mean -1.21 and standard deviation 1.27."""
    p, ratio, rng = 100, 6.0, np.random.default_rng(3)
    n = int(p * ratio)
    T, heights = link_free_weights(positive, ratio, sign), []
    edge = bulk.upper_edge(T, [positive * n, (1 - positive) * n], p)
    assert edge.value == pytest.approx(p, rel=1e-6)
    for _ in range(120):
        X, y = rng.standard_normal((n, p)), np.where(np.arange(n) < positive * n, 1.0, -1.0)
        value = np.linalg.eigvalsh((X * np.where(y > 0, T.pos, T.neg)[:, None]).T @ X / p)[-1]
        heights.append((p * value - edge.value) / edge.scale)
    assert np.mean(heights) == pytest.approx(-1.21, abs=0.5) and np.std(heights) == pytest.approx(1.27, abs=0.3)


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
