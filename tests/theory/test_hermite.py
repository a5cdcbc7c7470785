"""Hermite coefficients, information exponents and the number of answers that they ask for."""

import math

import numpy as np
import pytest

from lrlab.theory import hermite
from lrlab.theory.formula_link import READY, FormulaLink
from lrlab.theory.links import LogisticLink, SignLink, ThresholdLink

CUBIC = "sign(z)*sign(abs(z) - 1.1774100225154747)"
QUARTIC = "sign((abs(z) - 0.5)*(abs(z) - 1.6083105988156614))"


@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("text", [*READY.values(), CUBIC])
def test_the_first_coefficients_are_the_moments(text, noise):
    link = FormulaLink(noise, text, flip=0.1)
    mu0, mu1, mu2 = link.moments
    found = hermite.hermite_coefficients(link)
    assert found[:3] == pytest.approx([mu0, mu1, (mu2 - mu0) / math.sqrt(2.0)], abs=1e-9)
    assert np.square(found).sum() <= 1.0


def test_exponents_and_constants():
    exponents = {"sign(z)": 1, "cos(2*z)": 2, CUBIC: 3, QUARTIC: 4, "tanh(z^3 - 3*z)": 1, "sin(50*z)": None, "1": None}
    for text, k in exponents.items():
        assert hermite.information_exponent(FormulaLink(text=text)) == k
        assert hermite.is_constant(FormulaLink(text=text)) == (text == "1")
    assert hermite.is_constant(ThresholdLink(threshold=0.0)) and hermite.is_constant(LogisticLink(flip=0.5))
    assert hermite.is_constant(SignLink(flip=0.5)) and not hermite.is_constant(SignLink(10.0, flip=0.49))
    # Noise shrinks c_k by tau^-k and does not change which is the first.
    assert hermite.information_exponent(FormulaLink(2.0, CUBIC.replace("1.177", "1.177"))) in (1, 3)


def test_the_order_of_answers_is_weak_recovery_at_k_2_and_grows_as_said():
    link = FormulaLink(text=QUARTIC)
    assert hermite.answers_needed(link, 40) == pytest.approx(4.0 * hermite.answers_needed(link, 20))
    cubic = FormulaLink(text=CUBIC)
    assert hermite.answers_needed(cubic, 80) == pytest.approx(8.0 * hermite.answers_needed(cubic, 20))
    assert hermite.answers_needed(SignLink(), 20) is None and hermite.answers_needed(FormulaLink(text="1"), 20) is None


def test_coefficients_of_tiny_links_are_zero_to_rounding():
    found = hermite.hermite_coefficients(FormulaLink(text="sin(50*z)"))
    assert np.abs(found).max() < 1e-14 and len(found) == hermite.HIGHEST + 1
