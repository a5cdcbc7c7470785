"""Links: moments against their definition, formulas that people type, steep slopes, information exponents."""

import math
import os
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrlab.parameters import InputError
from lrlab.theory import formula_link as formula
from lrlab.theory import hermite
from lrlab.theory.formula_link import FormulaLink, checked
from lrlab.theory.links import LogisticLink, SignLink, ThresholdLink
from lrlab.theory.state_evolution import overlaps
from tests.thorough import a_third

Z = np.array([-3.7, -1.0, -0.25, 0.0, 0.5, 1.0, 2.25])
EXAMPLES = int(os.environ.get("LRLAB_FUZZ", "0")) or 500
"""Texts that are drawn."""
SOUP = st.lists(
    st.sampled_from([*formula.FUNCTIONS, *"z0129.+-*/^(),<>=! eé_&²−·", "min", "max", "**", "__import__", "lambda"]),
    max_size=60,
).map("".join)


@pytest.mark.slow
@settings(max_examples=EXAMPLES)
@given(st.one_of(SOUP, st.text(max_size=220)))
def test_any_text_is_a_formula_or_one_sentence(text):
    try:
        assert formula.parse(text)(Z).shape == Z.shape
    except InputError as refusal:
        assert str(refusal).startswith("link must be ") and "\n" not in str(refusal)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "got none: write operators"),
        ("z 2", "write operators between its parts"),
        ("1/2z", r"write \* or brackets"),
        ("1/2(z + 1)", r"write \* or brackets"),
        ("sin 2*z", "write brackets about what sin is applied to"),
        ("sin z (z + 1)/200", "write brackets"),
        ("sin sin z", "close all brackets"),
        ("min z", "close all brackets"),
        ("2zz", 'use z, numbers, .* instead of "zz"'),
        ("sin(2*z", "close all brackets"),
        ("1 + foo(z)", 'use z, numbers, .* instead of "foo"'),
        ("max(z)", "min and max two or more"),
        ("0 < z < 1", "compare two numbers at a time"),
        ("sin(*z)", "give a function one argument"),
        ("__import__('os')", 'instead of "__import__"'),
        ("z # 2", 'instead of "#"'),
        ("1e999", "write a smaller number"),
        ("z" * 201, "at most 200 characters, got 201"),
        ("exp(z^2)", "within -1..1 for |z| <= 100, got 1.000001 at z = -0.001"),
        ("sin(z) + 0.5", "within -1..1 for |z| <= 100, got 1.0.* at z = 0.52"),
        ("1/z", "got inf at z = 0"),
        ("z^0.5/100", "got nan at z = -0.001"),
    ],
)  # fmt: skip
def test_what_is_no_link_is_refused_with_what_is_wrong(text, sentence):
    with pytest.raises(InputError, match=sentence.replace("|z|", r"\|z\|")):
        checked(text)


@pytest.mark.parametrize(
    ("text", "written_out"),
    [
        ("cos(2z)", "cos(2*z)"), ("cos(2 z)", "cos(2*z)"), ("cos 2z", "cos(2*z)"), ("sin 3z", "sin(3*z)"),
        ("sin 3z/4 ", None), ("sin(3z)/4", "sin(3*z)/4"), ("sin z^2", "sin(z^2)"), ("tanh 2z²", "tanh(2*z^2)"),
        ("2exp(-z^2) - 1", "2*exp(-z^2) - 1"), ("(z - 1)(z + 1)exp(-z²)", "(z - 1)*(z + 1)*exp(-z^2)"),
        ("2z exp(-z^2)/3", "2*z*exp(-z^2)/3"), ("sin 2z cos z", "sin(2*z)*cos(z)"), ("2\u00b7z/300", "2*z/300"),
        ("2^3z/1000", "(2^3)*z/1000"), ("-2z/300", "-(2*z)/300"), ("2 \u2212 1 - z³/1e6", "2 - 1 - z^3/1e6"),
        ("sin 2z + cos 3z", "sin(2*z) + cos(3*z)"), ("1e-2z", "0.01*z"), ("sin 2", "sin(2)"),
    ],
)  # fmt: skip
def test_formulas_as_people_write_them(text, written_out):
    if written_out is None:
        with pytest.raises(InputError, match="brackets"):
            formula.parse(text)
        return
    np.testing.assert_allclose(formula.parse(text)(Z), formula.parse(written_out)(Z), rtol=1e-14)


@pytest.mark.parametrize("noise", [0.0, 0.4, 2.0])
@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("sign(z)", SignLink), ("(z > 0) - (z < 0)", SignLink), ("tanh(z/2)", LogisticLink),
        ("tanh((z + 1.5)/2)", partial(LogisticLink, intercept=1.5)),
        ("sign(abs(z) - 1)", ThresholdLink), ("2*(abs(z) > 1) - 1", ThresholdLink),
        ("2*max(z > 1, z < -1) - 1", ThresholdLink),
    ],
)  # fmt: skip
def test_typed_links_are_those_that_are_known(text, known, noise):
    typed, exact = FormulaLink(noise, text, flip=0.1), known(noise, flip=0.1)
    assert typed.moments == pytest.approx(exact.moments, abs=1e-9)
    points = np.linspace(-4, 4, 801) + 1e-4
    np.testing.assert_allclose(typed(points), exact(points), atol=1e-6)


def test_moments_of_links_with_a_closed_form():
    assert FormulaLink(text="sin 2z").moments == pytest.approx((0, 2 * math.exp(-2), 0), abs=1e-12)
    assert FormulaLink(text="cos 2z").moments == pytest.approx((math.exp(-2), 0, -3 * math.exp(-2)), abs=1e-12)
    noisy = math.exp(-2.5)
    assert FormulaLink(0.5, "cos 2z").moments == pytest.approx((noisy, 0, -3 * noisy), abs=1e-12)
    assert FormulaLink(0.5, "sin(z)").moments.mu1 == pytest.approx(math.exp(-1.25 / 2), abs=1e-12)
    narrow = 2e-4 / math.sqrt(2 * math.pi)
    assert FormulaLink(text="abs(z) < 0.0001").moments.mu0 == pytest.approx(narrow, rel=1e-6)
    shifted = FormulaLink(text="2*(abs(z - 0.30037) < 0.00005) - 1").moments.mu0
    assert shifted == pytest.approx(2e-4 * math.exp(-(0.30037**2) / 2) / math.sqrt(2 * math.pi) - 1, abs=1e-9)


SLOPES = ("1", "100", "2e3", "1e4", "1e8")
STEEP = {
    "tanh({k}*z)": SignLink(),
    "erf({k}*z)": SignLink(),
    "tanh({k}*(abs(z) - 1))": ThresholdLink(threshold=1.0),
    "tanh({k}*(z - 0.3))": FormulaLink(text="sign(z - 0.3)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", a_third([*STEEP]))
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
