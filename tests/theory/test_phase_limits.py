"""Limits of phase retrieval: channels against slow quadrature, thresholds against published ones, information."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.theory.magnitudes import Magnitudes, answer
from lrlab.theory.phase_limits import (
    channel_of,
    evolution,
    log_information,
    overlaps,
    predicted_iterations,
    ratios,
    thresholds,
    weak_recovery,
)

CHANNELS = [
    Magnitudes(field, noise, data)
    for field in ("real", "complex")
    for noise in (0.0, 0.2)
    for data in ("magnitude", "intensity")
]


def posterior(channel, w, V, y):
    """Return P(y) and the mean of z for real z ~ N(w, V) or the circular complex law, by quadrature over |z|."""
    sd, power = np.sqrt(V), channel.power

    def radius(r, turn):
        if channel.field == "real":
            return norm.pdf(r, w, sd) + (-1.0) ** turn * norm.pdf(r, -w, sd)
        inside = lambda t: np.cos(t) ** turn * np.exp(-(r * r + w * w - 2 * r * w * np.cos(t)) / V)  # noqa: E731
        return 2 * r / V * quad(inside, 0, np.pi, epsabs=1e-13)[0] / np.pi

    def density(r):
        low = norm.cdf(0.0, r**power, channel.noise)
        return norm.pdf(y, r**power, channel.noise) if y > 0 else low

    ends = sorted({0.0, w, w + 8 * sd, *(max(y + k * channel.noise, 0.0) ** (1 / power) for k in (-6, 0, 6))})
    pieces = list(itertools.pairwise(ends))
    moments = [
        sum(quad(lambda r, t=t: r**t * radius(r, t % 2) * density(r), a, b, epsabs=1e-12)[0] for a, b in pieces)
        for t in (0, 1)
    ]
    return moments[0], moments[1] / moments[0]


@pytest.mark.parametrize("channel", [c for c in CHANNELS if c.noise], ids=repr)
def test_noisy_channels_against_slow_quadrature(channel):
    for w, V, y in ((0.7, 0.4, 0.9), (1.2, 0.02, 1.1), (0.1, 0.8, 0.0)):
        at = answer(channel, np.array([w]), V, np.array([y]))
        chance, mean = posterior(channel, w, V, y)
        assert np.exp(at.log_chance[0]) == pytest.approx(chance, rel=2e-5)
        assert at.score[0] == pytest.approx((mean - w) / V, abs=2e-4)


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


def test_exact_answers_stay_accurate_where_the_variance_is_tiny():
    for field in ("real", "complex"):
        at = answer(Magnitudes(field), np.array([0.9, 1.0]), 1e-20, np.array([1.0, 1.0]))
        # A known sign leaves no variance; an almost known phase leaves the variance along the circle.
        assert at.curvature * 1e-20 == pytest.approx(1.0 if field == "real" else [1 - 0.5 / 0.9, 0.5], rel=1e-6)
    for channel in CHANNELS:
        for w, y in itertools.product((0.0, 1e-9, 30.0), (0.0, 1e-9, 40.0)):
            assert all(np.isfinite(part).all() for part in answer(channel, np.array([w]), 1e-6, np.array([y])))


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
    q = next(q for k, q in enumerate(evolution(channel, 0.98 * information, 0.01)) if k > 300)
    assert q == pytest.approx(overlaps(channel, 0.98 * information).fast, abs=1e-3)


@pytest.mark.parametrize("field", ["real", "complex"])
def test_weak_recovery_with_noise_is_where_answers_tell_of_the_size(field):
    # 1 / E (E[|z|^2 | y] - 1)^2, by simulation of regression on y.
    channel, rng = Magnitudes(field, 0.5), np.random.default_rng(0)
    z = rng.standard_normal(1_000_000) if field == "real" else rng.standard_normal((1_000_000, 2)) @ [1, 1j] / 2**0.5
    y = np.maximum(np.abs(z) + 0.5 * rng.standard_normal(len(z)), 0.0)
    bins = np.unique(np.quantile(y, np.linspace(0, 1, 200)), return_index=False)
    place = np.digitize(y, bins)
    count = np.bincount(place)
    mean = np.bincount(place, np.abs(z) ** 2 - 1.0) / np.maximum(count, 1)
    assert weak_recovery(channel) == pytest.approx(1.0 / (count @ mean**2 / len(z)), rel=0.02)


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


def test_noise_costs_overlap_and_a_little_changes_little():
    for field, data in itertools.product(("real", "complex"), ("magnitude", "intensity")):
        best = [overlaps(Magnitudes(field, s, data), 3.0).best for s in (0.0, 1e-4, 0.1, 0.5)]
        assert best[0] == 1.0 and best[1] == pytest.approx(1.0, abs=1e-6) and best[1] > best[2] > best[3]


def test_the_spec_says_what_is_measured():
    spec = PhaseRetrieval(field="real", noise=0.3, data="intensity")
    assert channel_of(spec) == Magnitudes("real", 0.3, "intensity")
    path = predicted_iterations(Magnitudes("real"), 2.0, 0.5, 4)
    assert len(path) == 4 and path[0] == 0.5 and (np.diff(path) > 0).all()
    assert path[1] == pytest.approx(expit(np.log(2.0) + log_information(Magnitudes("real"), np.array([0.0])))[0])
