"""The parts of link-free refinement: smoothing, cross-fitting, Newton on the sphere, and the rounds they make."""

import itertools

import numpy as np
import pytest
from scipy.special import expit

import lrlab
from lrlab.linalg import unit
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.protocol import Stop
from lrlab.solvers.single_index.index_links import (
    COEFFICIENTS,
    EDGE,
    SMOOTH,
    WIDTH,
    Rows,
    chosen,
    loss,
)
from lrlab.solvers.single_index.link_free import link_free_refinement, refinement
from lrlab.solvers.single_index.link_free_rounds import Data, Direction, Newton

PARABOLA, SPLINE, FLEXIBLE = SMOOTH
KNOTS = -EDGE + WIDTH * np.arange(-3, COEFFICIENTS + 1)


def generator(seed=0):
    return np.random.default_rng(seed)


def answered(n, log_odds, seed=0):
    """Return normal indices and answers in {0, 1} with these log-odds."""
    rng = generator(seed)
    z = rng.standard_normal(n)
    return z, (rng.random(n) < expit(log_odds(z))).astype(float)


def problem(model=OneBitSensing, **parameters):
    return model(**{"n": 800, "p": 10, **parameters}).build()


def data_of(built, s=None):
    return Data(built.X, (built.y + 1.0) / 2.0, s or built.shape[1])


def rounds(built, number, s=None, seed=0):
    return list(itertools.islice(refinement(data_of(built, s), generator(seed)), number))


def even(n):
    return np.zeros(n)


def fitted(z, y, kind):
    return kind.fitted(Rows.of(z, y, even(len(z))))


def slope_of_remainder(value, gradient, direction):
    """Return the order at which value(t) - value(0) - t <gradient, direction> vanishes."""
    steps = np.array([1e-2, 1e-3])
    gaps = [abs(value(t * direction) - value(0.0 * direction) - t * (gradient @ direction)) for t in steps]
    return np.log10(gaps[0] / gaps[1])


@pytest.mark.parametrize(
    ("log_odds", "allowed"),
    [
        (lambda z: z, {PARABOLA.kind}),
        (lambda z: 5.0 * (z**2 - 1.0), {PARABOLA.kind}),
        (lambda z: 4.0 * np.sin(3.0 * z), {SPLINE.kind, FLEXIBLE.kind}),
    ],
    ids=["line", "parabola", "wave"],
)
def test_the_kind_chosen_is_that_of_the_link(log_odds, allowed):
    y = answered(3000, log_odds)
    rows = Rows.of(*y, even(3000))
    link = chosen(rows, [kind.fitted(rows) for kind in SMOOTH])
    assert link.kind in allowed
    z = np.linspace(-1.5, 1.5, 30)
    assert expit(link(z)[0]) == pytest.approx(expit(log_odds(z)), abs=0.08)


def at_truth(built, link, noise=0.1):
    """Return data, a direction near the truth, and the Newton step there."""
    data = data_of(built)
    b = unit(built.truth + noise * generator(4).standard_normal(len(built.truth)))
    at = Direction.of(data.X, b, data.X @ b)
    return data, at, Newton.of(data, at, link, np.ones(len(b), dtype=bool))


@pytest.mark.parametrize("kind", SMOOTH, ids=lambda kind: kind.kind)
def test_descent_is_minus_the_gradient_of_the_loss(kind):
    built = problem()
    link = fitted(built.X @ built.truth + 0.3, (built.y + 1.0) / 2.0, kind)
    data, at, newton = at_truth(built, link, 0.5)
    direction = unit(generator(5).standard_normal(10)) / 50.0

    def value(step):
        return loss(link(data.X @ (at.b + step))[0], data.answers).sum()

    assert slope_of_remainder(value, -newton.descent, direction) == pytest.approx(2.0, abs=0.1)
    assert newton.loss == pytest.approx(value(np.zeros(10)))
    assert newton.step @ at.b == pytest.approx(0.0, abs=1e-9)


def test_steps_without_an_answer_are_those_of_the_other_rows():
    """In closed form, against the Newton system without a row, solved for it."""
    built = problem(n=120, p=6, noise=0.5)
    link = fitted(built.X @ built.truth, (built.y + 1.0) / 2.0, PARABOLA)
    data, at, newton = at_truth(built, link, 0.05)
    eta, slope = link(at.z)
    psi = slope * (data.answers - expit(eta))
    P = np.eye(6) - np.outer(at.b, at.b)
    multiplier = max(0.0, at.b @ newton.descent)
    for row in range(0, 120, 10):
        rest = np.arange(120) != row
        H = P @ ((data.X[rest].T * newton.weights[rest]) @ data.X[rest]) @ P + multiplier * P
        step = np.linalg.pinv(H, rcond=1e-9) @ (P @ (data.X[rest].T @ psi[rest]))
        assert newton.without[row] == pytest.approx(data.X[row] @ step, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("model", [OneBitSensing, OneBitPhaseRetrieval])
@pytest.mark.parametrize("s", [10, 4])
def test_every_round_belongs_to_one_estimate(model, s):
    built = problem(model, n=1500, sparsity=4)
    data = data_of(built, s)
    # Rounds in which jumps, or another support, are tried show the estimate so far, and are not solved.
    states = [shown for shown in rounds(built, 60, s) if not shown.trying]
    for shown in states[:8]:
        iterate = shown.iterate(data)
        index = built.X @ iterate.estimate
        eta, _ = shown.round.link(index)
        assert iterate.objective == pytest.approx(np.mean(np.logaddexp(0.0, -built.y * eta)))
        assert shown.round.at.z == pytest.approx(index) and np.linalg.norm(iterate.estimate) == pytest.approx(1.0)
        assert np.count_nonzero(iterate.estimate) <= s
        assert shown.round.newton.step @ iterate.estimate == pytest.approx(0.0, abs=1e-9)
    assert states[-1].iterate(data).residual < 1e-3 < states[0].iterate(data).residual


def test_the_number_of_entries_may_be_given():
    built = problem(sparsity=3)
    for kept, most in ((0, 3), (2, 2), (10, 10)):
        *_, last = itertools.islice(link_free_refinement(built, kept=kept, rng=generator()), 6)
        assert 1 <= np.count_nonzero(last.estimate) <= most
    assert np.count_nonzero(last.estimate) == 10


def test_a_loss_without_a_minimum_is_said_so():
    """Responses that a link along b separates: it said Converged."""
    trace = lrlab.solve(lrlab.spec("custom-link", link="tanh(3*z)", n=40, p=20, seed=2), "link-free-refinement")
    assert trace.stop is Stop.NO_MINIMUM and "separable along b" in trace.note
    index = trace.problem.X @ trace.estimate
    assert np.count_nonzero(np.diff(trace.problem.y[np.argsort(index)])) <= 2


def test_the_note_gives_start_and_smoothness():
    notes = [
        lrlab.solve(lrlab.spec(model, n=2000, p=10), "link-free-refinement").note
        for model in ("flipped-logistic", "one-bit-phase-retrieval")
    ]
    assert notes[0].startswith("Start: the first moment, which stands out from the noise.")
    assert notes[1].startswith("Start: both moments, the one that carries b 1 likely to be the second.")
    assert all(any(f"Log-odds: {kind.kind}, " in note for kind in SMOOTH) for note in notes)
