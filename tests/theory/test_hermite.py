"""Hermite coefficients, information exponents and the number of answers that they ask for."""

import pytest

from lrlab.theory import hermite
from lrlab.theory.formula_link import FormulaLink
from lrlab.theory.links import LogisticLink, SignLink, ThresholdLink

CUBIC = "sign(z)*sign(abs(z) - 1.1774100225154747)"
QUARTIC = "sign((abs(z) - 0.5)*(abs(z) - 1.6083105988156614))"


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
