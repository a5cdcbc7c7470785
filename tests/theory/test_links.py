"""Links, their channels and state evolution: formulas that people type, quadrature, published thresholds, runs."""

import itertools
import math
import os
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from lrlab.models.single_index import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.theory import formula_link as formula
from lrlab.theory import hermite, priors
from lrlab.theory.channels import answer
from lrlab.theory.formula_link import FormulaLink, checked
from lrlab.theory.links import LogisticLink, SignLink, ThresholdLink
from lrlab.theory.magnitudes import Magnitudes, thresholds
from lrlab.theory.predicted_overlap import best_overlap, limit_applies, predicted_iterations
from lrlab.theory.state_evolution import Overlaps, evolution, overlaps, ratios
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


LINKS = (
    SignLink(0.1),
    SignLink(1.0),
    ThresholdLink(0.0, 0.3),
    ThresholdLink(0.2, 1.0),
    LogisticLink(),
    LogisticLink(0.5, 0.1, 1.0),
    FormulaLink(0.3, "sin(2*z)"),
    FormulaLink(0.0, "erf(2*(z - 0.3))"),
)


@pytest.mark.parametrize("rate", [0.02, 0.3])
@pytest.mark.parametrize("precision", [0.01, 3.0, 300.0])
def test_the_prior_is_that_of_the_model_by_slow_quadrature(rate, precision):
    noise, slab = 1 / precision, 1 / rate

    def mean_square(R):
        inside = rate * norm.pdf(R, 0, np.sqrt(slab + noise))
        outside = (1 - rate) * norm.pdf(R, 0, np.sqrt(noise))
        mean = inside / (inside + outside) * slab / (slab + noise) * R
        return mean**2 * (inside + outside)

    ends = np.concatenate([[0.0], np.sqrt(noise) * np.geomspace(0.1, 20, 8), [12 * np.sqrt(slab + noise)]])
    ends = np.sort(ends)
    q = 2 * sum(quad(mean_square, a, b, epsabs=1e-13, limit=200)[0] for a, b in itertools.pairwise(ends))
    assert expit(priors.level(np.log([precision]), rate))[0] == pytest.approx(q, rel=1e-8)


@pytest.mark.parametrize(
    ("threshold", "ratio"), [(0.3, 3.44), (0.5, 1.91), (0.6745, 1.36), (1.0, 0.925), (1.5, 0.767), (2.0, 0.931)]
)
def test_weak_recovery_begins_where_the_fixed_point_leaves_zero(threshold, ratio):
    """Mondelli & Montanari (2018), Theorem 2: where mu_1 = 0, the fixed point 0 loses its stability there."""
    link = ThresholdLink(0.0, threshold)
    mu0, mu1, mu2 = link.moments[:3]
    exact = (1.0 - mu0**2) / (mu2 - mu0) ** 2
    assert mu1 == 0 and exact == pytest.approx(ratio, abs=6e-3)
    assert overlaps(link, 0.99 * exact).fast == 0.0 < overlaps(link, 1.01 * exact).fast
    assert overlaps(link, 0.99 * exact, rate=0.1).fast == 0.0 < overlaps(link, 1.01 * exact, rate=0.1).fast


@pytest.mark.parametrize(
    "link", [*LINKS[:-2], FormulaLink(0.0, "sin(2*z)"), FormulaLink(0.0, "cos(2*z)", flip=0.1)], ids=repr
)
@pytest.mark.parametrize("rate", [1.0, 0.03])
def test_limits_pass_a_level_at_the_ratio_that_is_known_without_iteration(link, rate):
    for level in (0.05, 0.5, 0.9):
        fast, best = ratios(link, level, rate)
        assert 0 < best <= fast < np.inf
        assert overlaps(link, 0.998 * fast, rate).fast <= level < overlaps(link, 1.002 * fast, rate).fast
        assert overlaps(link, 0.998 * best, rate).best <= level < overlaps(link, 1.002 * best, rate).best


def test_regions_are_hard_where_only_information_allows_more():
    link = ThresholdLink(0.0, 1.0)
    assert overlaps(link, 0.05, rate=0.05).best == 0.0 < overlaps(link, 1.0, rate=0.05).fast
    hard = overlaps(link, 0.5, rate=0.05)
    assert hard.fast == 0.0 and hard.best == hard.informed > 0.9
    assert hard.best < 0.95 and hard.by_name == {"limit_best_overlap": hard.best, "limit_best_fast_overlap": 0.0}
    assert Overlaps(0.3, 0.8, 0.3).by_name == {"limit_best_overlap": 0.3}


def test_specs_have_a_best_overlap_and_pictures_have_none():
    spec = OneBitSensing(n=2000, p=1000, noise=0.1)
    assert best_overlap(spec).best == pytest.approx(0.7207, abs=1e-4)
    assert best_overlap(spec.replace(sparsity=50)) == overlaps(SignLink(0.1), 2.0, 0.05)
    assert best_overlap(spec.replace(p=1024, truth="phantom")) is None
    steps = predicted_iterations(spec, 30)
    assert len(steps) == 30 and steps[-1] == pytest.approx(0.7207, abs=1e-4)
    even = predicted_iterations(OneBitPhaseRetrieval(n=5000, p=1000), 20)
    assert even[0] == pytest.approx(0.8269, abs=1e-3) and len(even) == 20
    assert (predicted_iterations(OneBitPhaseRetrieval(n=2000, p=1000, threshold=0.3), 5) < 1e-9).all()


CHANNELS = [
    Magnitudes(field, noise, data)
    for field in ("real", "complex")
    for noise in (0.0, 0.2)
    for data in ("magnitude", "intensity")
]


@pytest.mark.parametrize("channel", [*LINKS, *CHANNELS], ids=repr)
def test_the_score_is_the_slope_of_the_likelihood_and_the_curvature_its_own(channel):
    w, h, field = np.array([-1.3, 0.05, 0.6, 2.0]), 1e-5, getattr(channel, "field", "")
    y, V = (np.array([0.7, 0.5, 1.5, 2.5]), 0.3) if field else (np.array([[1.0], [-1.0]]), 0.05)
    at, up, down = (answer(channel, w + d, V, y) for d in (0.0, h, -h))
    # Of a circular law d/dw is half the slope along the real axis.
    half = 0.5 if field == "complex" else 1.0
    assert at.score == pytest.approx(half * (up.log_chance - down.log_chance) / (2 * h), abs=1e-5)
    if field != "complex":
        assert at.curvature == pytest.approx(-(up.score - down.score) / (2 * h), abs=1e-4)
    if not field:
        assert np.exp(at.log_chance).sum(axis=0) == pytest.approx(1.0)
        known = answer(channel, w, 1e-14, y).log_chance
        assert np.exp(known) == pytest.approx((1.0 + y * channel(w)) / 2.0, abs=1e-6)
    else:
        turned = answer(channel, w * (-1.0 if field == "real" else 1j), V, y)
        assert turned.score == pytest.approx(at.score * (-1.0 if field == "real" else 1j))
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


def ends(spec):
    """Return the overlaps of 40 runs."""
    job = make_job(spec, "gamp")
    return job.entry.sample(job.spec, dict(job.options), 40)


@pytest.mark.parametrize(
    "spec",
    [
        OneBitSensing(n=160, p=320, sparsity=32, noise=0.3),
        FlippedLogistic(n=320, p=64, sparsity=40),
        OneBitSensing(n=64, p=32, noise=1.0),
        OneBitPhaseRetrieval(n=300, p=60),
    ],
    ids=repr,
)
def test_with_many_entries_runs_are_near_their_limit(spec):
    assert limit_applies(spec)
    overlaps = ends(spec)
    assert abs(overlaps.mean() - best_overlap(spec).best) < 0.03 + 3.0 * overlaps.std() / np.sqrt(40)
