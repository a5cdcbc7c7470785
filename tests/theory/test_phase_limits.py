"""Limits of phase retrieval: channels against slow quadrature, thresholds against published ones, information."""

import numpy as np
import pytest

from lrlab.theory.information import log_information
from lrlab.theory.magnitudes import Magnitudes, answer, thresholds
from lrlab.theory.state_evolution import evolution, overlaps, ratios

CHANNELS = [
    Magnitudes(field, noise, data)
    for field in ("real", "complex")
    for noise in (0.0, 0.2)
    for data in ("magnitude", "intensity")
]


@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_the_score_is_the_slope_of_the_likelihood_and_the_curvature_its_own(channel):
    w, y, V, h = np.array([0.05, 0.6, 1.4, 2.0]), np.array([0.7, 0.5, 1.5, 2.5]), 0.3, 1e-5
    at, up, down = (answer(channel, w + d, V, y) for d in (0.0, h, -h))
    # Of a circular law d/dw is half the slope along the real axis.
    half = 0.5 if channel.field == "complex" else 1.0
    assert at.score == pytest.approx(half * (up.log_chance - down.log_chance) / (2 * h), abs=1e-5)
    if channel.field == "real":
        assert at.curvature == pytest.approx(-(up.score - down.score) / (2 * h), abs=1e-4)
    turned = answer(channel, w * (-1.0 if channel.field == "real" else 1j), V, y)
    assert turned.score == pytest.approx(at.score * (-1.0 if channel.field == "real" else 1j))
    assert turned.curvature == pytest.approx(at.curvature)


def test_thresholds_are_the_published_ones():
    """Mondelli & Montanari (2018); Luo, Alghamdi & Lu (2019); Barbier et al. (2019); Maillard et al. (2020)."""
    assert thresholds("real") == pytest.approx((0.5, 1.128, 1.0), abs=1e-3)
    assert thresholds("complex") == pytest.approx((1.0, 2.027, 2.0), abs=1e-3)


@pytest.mark.parametrize(("field", "weak", "fast", "information"), [("real", 0.5, 1.13, 1), ("complex", 1, 2.03, 2)])
def test_overlaps_jump_at_the_thresholds(field, weak, fast, information):
    channel = Magnitudes(field)
    assert overlaps(channel, 0.98 * weak) == (0.0, 0.0, 0.0) < overlaps(channel, 1.02 * weak)
    below, hard, above = (overlaps(channel, r) for r in (0.99 * information, (information + fast) / 2, fast))
    assert below.best == below.fast < 1.0 and hard.fast < hard.best == 1.0 and above == (1.0, 1.0, 1.0)
    assert ratios(channel, 0.9999) == pytest.approx((fast, information), abs=5e-3)
    q = next(q for k, q in enumerate(evolution(channel, 0.98 * information, start=0.01)) if k > 300)
    assert q == pytest.approx(overlaps(channel, 0.98 * information).fast, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_information_against_simulation(channel):
    rng, q, n = np.random.default_rng(1), 0.7, 40_000
    draw = (lambda: rng.standard_normal(n)) if channel.field == "real" else (
        lambda: (rng.standard_normal((n, 2)) @ [1, 1j]) / 2**0.5)  # fmt: skip
    w = np.sqrt(q) * draw()
    y = np.abs(w + np.sqrt(1 - q) * draw()) ** channel.power + channel.noise * rng.standard_normal(n)
    g = answer(channel, w, 1 - q, np.maximum(y, 0.0)).score
    square = np.abs(g) ** 2
    level = np.log(q / (1 - q))
    exact = np.exp(log_information(channel, np.array([level])))[0]
    assert square.mean() == pytest.approx(exact, abs=5 * square.std() / np.sqrt(n))
