"""Weighted covariances of two responses: the best weights, edges and fluctuations of noise."""

import numpy as np
import pytest

from lrlab.theory import bulk
from lrlab.theory.links import ThresholdLink
from lrlab.theory.spectral import Weights, known_link_weights, link_free_weights, spike


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
