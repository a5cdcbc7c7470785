"""Steep smooth links: limits, moments and answers tend to those of the jump that they tend to, whatever the slope."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.special import erf, expit, xlogy

from lrlab.theory.formula_link import FormulaLink
from lrlab.theory.information import LEVELS, log_information
from lrlab.theory.links import SignLink, ThresholdLink
from lrlab.theory.smoothing import smoothed
from lrlab.theory.state_evolution import overlaps

SLOPES = ("1", "100", "2e3", "1e4", "1e8")
STEEP = {
    "tanh({k}*z)": SignLink(),
    "erf({k}*z)": SignLink(),
    "tanh({k}*(abs(z) - 1))": ThresholdLink(threshold=1.0),
    "tanh({k}*(z - 0.3))": FormulaLink(text="sign(z - 0.3)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", STEEP)
def test_limits_and_moments_of_steep_links_tend_to_those_of_jumps(text):
    sharp, best, moments = STEEP[text], [], []
    for k in SLOPES:
        link = FormulaLink(text=text.format(k=k))
        limits = overlaps(link, 5.0)
        assert limits.fast == limits.best == limits.informed, "no hard phase is there"
        best.append(limits.best)
        moments.append(link.moments)
    away = np.abs(np.array(best) - overlaps(sharp, 5.0).best)
    assert np.all(np.diff(away) < 1e-5) and away[-1] < 1e-5
    assert np.all(away[:4] * [float(k) for k in SLOPES[:4]] < 0.5)
    apart = np.abs(np.array(moments) - sharp.moments).max(axis=1)
    assert np.all(np.diff(apart) < 1e-9) and apart[-1] < 1e-9


@pytest.mark.parametrize(
    "text", ["tanh(3*z)", "tanh(1e4*z)", "sin(10*z)", "exp(-(300*(z - 0.5))^2)", "sign(z - 0.2)*0.7"]
)
def test_information_of_all_levels_is_what_an_answer_tells_of_its_index(text):
    """The area theorem: half the integral of I(q) over 0 < q < 1 is the mutual information of an answer and z."""
    link = FormulaLink(text=text)
    fine = np.linspace(LEVELS[0], LEVELS[-1], 1201)
    information = np.exp(CubicSpline(LEVELS, np.maximum(log_information(link, LEVELS), -300.0))(fine))
    area = np.trapezoid(information * expit(fine) * expit(-fine), fine) / 2.0

    def entropy(share):
        return -xlogy(share, share) - xlogy(1.0 - share, 1.0 - share)

    def left_open(z):
        return float(entropy((1.0 + link.base(np.array(z))) / 2.0)) * np.exp(-z * z / 2.0) / np.sqrt(2.0 * np.pi)

    places = [-9.0, *np.linspace(-4.0, 4.0, 81), -0.001, 0.001, 0.49, 0.51, 9.0]
    pieces = itertools.pairwise(sorted(places))
    known = entropy((1.0 + link.moments.mu0) / 2.0) - sum(quad(left_open, a, b, epsabs=1e-12)[0] for a, b in pieces)
    assert area == pytest.approx(known, rel=2e-3)


def test_nearly_known_indices_tell_fishers_information_of_a_steep_link():
    # f'^2 / (1 - f^2) = k^2 / cosh(k z)^2 has the integral 2 k, within 1 / k of 0.
    exact = np.log(2e4 / np.sqrt(2.0 * np.pi))
    levels = np.array([26.0, 27.0, 28.0])
    assert log_information(FormulaLink(text="tanh(1e4*z)"), levels) == pytest.approx(exact, abs=1e-3)


@pytest.mark.parametrize("S", [1.0, 0.03, 1e-3, 1e-5])
def test_a_steep_error_function_is_smoothed_to_another(S):
    # erf(k (w - c)) smoothed is erf at the slope 1 / sqrt(1 / k^2 + 2 S^2).
    slope = 1.0 / np.hypot(1.0 / 2e3, np.sqrt(2.0) * S)
    w = 0.3 + np.array([-2.0, -0.5, 0.0, 0.1, 1.0]) / slope
    x = slope * (w - 0.3)
    value, rise, bend = smoothed(FormulaLink(text="erf(2e3*(z - 0.3))"), w, S)
    density = 2.0 / np.sqrt(np.pi) * np.exp(-x * x) * slope
    assert value == pytest.approx(erf(x), abs=1e-9)
    assert rise == pytest.approx(density, abs=1e-8 * slope)
    assert bend == pytest.approx(-2.0 * x * slope * density, abs=1e-7 * slope**2)
