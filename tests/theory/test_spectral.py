"""Weighted covariances of two answers: spikes, edges and fluctuations against simulation and closed forms."""

import numpy as np
import pytest

from lrlab.models.index_family import OneBitPhaseRetrieval
from lrlab.theory import bulk
from lrlab.theory.links import ThresholdLink
from lrlab.theory.principal_hessian import identity_spike
from lrlab.theory.spectral import Weights, edge_scale, known_link_weights, link_free_weights, spike

P = 300


def top(T, X, y):
    p = X.shape[1]
    values, vectors = np.linalg.eigh((X * np.where(y > 0, T.pos, T.neg)[:, None]).T @ X / p)
    return values[-1], vectors[:, -1]


def share(moments):
    return (1 + moments.mu0) / 2


@pytest.mark.parametrize(("threshold", "ratio"), [(0.3, 10), (1.0, 5), (2.0, 10)])
def test_spikes_against_simulation(threshold, ratio):
    moments = ThresholdLink(0.0, threshold).moments
    for T in (known_link_weights(moments), link_free_weights(share(moments), ratio, 1)):
        limit = spike(moments, ratio, T)
        found = []
        for seed in range(4):
            problem = OneBitPhaseRetrieval(n=ratio * P, p=P, threshold=threshold, seed=seed).build()
            value, vector = top(T, problem.X, problem.y)
            found.append((value, (vector @ problem.truth) ** 2))
        value, overlap = np.mean(found, axis=0)
        assert overlap == pytest.approx(limit.overlap, abs=0.06)
        assert value == pytest.approx(limit.value, rel=0.15)


def test_the_known_link_gives_the_largest_overlap_and_the_eigenvalue_1():
    moments, ratio = ThresholdLink(0.2, 0.8).moments, 4.0
    best = spike(moments, ratio, known_link_weights(moments))
    assert best.value == pytest.approx(1.0)
    others = [spike(moments, ratio, Weights(np.cos(a), np.sin(a))).overlap for a in np.linspace(0, 2 * np.pi, 721)]
    assert max(others) <= best.overlap + 1e-12 and max(others) > best.overlap - 1e-2


def test_the_centred_answer_is_one_choice_of_weights():
    moments, ratio = ThresholdLink(0.0, 1.0).moments, 8.0
    T = Weights(1 - moments.mu0, -1 - moments.mu0)
    limit, (value, off) = spike(moments, ratio, T), identity_spike(moments, ratio)
    assert limit.overlap == pytest.approx(1 / (1 + off)) and limit.value == pytest.approx(ratio * value)


@pytest.mark.parametrize(("positive", "sign"), [(0.3, 1), (0.3, -1), (0.5, 1)])
def test_noise_reaches_the_edge_with_tracy_widom_fluctuations(positive, sign):
    """The Tracy-Widom law (beta = 1) has mean -1.21 and standard deviation 1.27."""
    p, ratio, rng = 100, 6.0, np.random.default_rng(3)
    n = int(p * ratio)
    T, heights, others = link_free_weights(positive, ratio, sign), [], []
    edge = bulk.upper_edge(T, [positive * n, (1 - positive) * n], p)
    assert edge.value == pytest.approx(p, rel=1e-6)
    assert edge.scale == pytest.approx(p * edge_scale(positive, ratio, p, sign), rel=1e-6)
    for _ in range(120):
        X, y = rng.standard_normal((n, p)), np.where(np.arange(n) < positive * n, 1.0, -1.0)
        value = top(T, X, y)[0]
        heights.append((value - 1) / edge_scale(positive, ratio, p, sign))
        others.append((p * value - edge.value) / edge.scale)
    assert heights == pytest.approx(others, abs=1e-3)
    assert np.mean(heights) == pytest.approx(-1.21, abs=0.5) and np.std(heights) == pytest.approx(1.27, abs=0.3)
