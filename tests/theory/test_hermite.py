"""Hermite coefficients, information exponents, and the partial trace of Hermite tensors against its definition."""

import itertools
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
    # At n_k the trace leaves its bulk, or has an overlap of 1 / sqrt(p), far above that of a guess.
    needed = hermite.answers_needed(link, 4000)
    assert hermite.trace_overlap(link, 4, needed, 4000) == 0.0 < hermite.trace_overlap(link, 4, 1.01 * needed, 4000)
    needed = hermite.answers_needed(cubic, 4000)
    assert hermite.trace_overlap(cubic, 3, needed, 4000) == pytest.approx(4000**-0.5, rel=0.05)


def tensor(k, x):
    """Return the Hermite tensor of order k at x (p,): x x .. x less all pairs, by its recursion."""
    if k == 0:
        return np.array(1.0)
    result, before = np.multiply.outer(x, tensor(k - 1, x)), tensor(k - 2, x) if k > 1 else None
    for place in range(1, k):
        pair = np.multiply.outer(np.eye(len(x)), before)
        result = result - np.moveaxis(pair, 1, place)
    return result


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_partial_traces_are_those_of_the_hermite_tensor(k):
    p, x, j = 3, np.array([0.7, -1.3, 2.1]), (k - 1) // 2
    traced = tensor(k, x)
    for _ in range(j):
        traced = np.trace(traced, axis1=0, axis2=1)
    square = np.array(x @ x)
    factor = hermite.trace_factor(square, p, j)
    if k % 2:
        assert factor * x == pytest.approx(traced)
    else:
        assert hermite.trace_factor(square, p, j, 1) * np.outer(x, x) - factor * np.eye(p) == pytest.approx(traced)


def test_the_mean_of_a_traced_tensor_is_the_direction_times_the_coefficient():
    rng, p, n = np.random.default_rng(5), 3, 400_000
    X, b = rng.standard_normal((n, p)), np.array([0.6, 0.8, 0.0])
    for text, k in ((CUBIC, 3), (QUARTIC, 4)):
        link = FormulaLink(text=text)
        y, square = link(X @ b), np.square(X).sum(axis=1)
        c = hermite.coefficient(link, k)
        if k % 2:
            mean = (y * hermite.trace_factor(square, p, 1)) @ X / n
            assert mean == pytest.approx(c * b, abs=0.05)
        else:
            mean = (X.T * (y * hermite.trace_factor(square, p, 1, 1))) @ X / n
            mean -= np.mean(y * hermite.trace_factor(square, p, 1)) * np.eye(p)
            assert mean == pytest.approx(c * np.outer(b, b), abs=0.15)


def test_coefficients_of_tiny_links_are_zero_to_rounding():
    found = hermite.hermite_coefficients(FormulaLink(text="sin(50*z)"))
    assert np.abs(found).max() < 1e-14 and len(list(itertools.chain(found))) == hermite.HIGHEST + 1
