"""The parts of link-free refinement: smoothing, cross-fitting, Newton on the sphere, and the rounds they make."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import minimize
from scipy.special import expit

import lrlab
from lrlab.linalg import unit
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.solvers.single_index.index_links import (
    COEFFICIENTS,
    EDGE,
    SMOOTH,
    SPLINES,
    WIDTH,
    LogOdds,
    Rows,
    chosen,
    loss,
)
from lrlab.solvers.single_index.link_free import link_free_refinement, refinement
from lrlab.solvers.single_index.link_free_rounds import Data, Direction, Newton, nearer, products
from lrlab.solvers.single_index.link_free_start import held_out, posterior_start, starts
from lrlab.solvers.single_index.moment_posterior import STRENGTHS, Sums, hypotheses

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


def test_log_odds_are_the_spline_of_scipy_with_straight_ends():
    c = generator().standard_normal(COEFFICIENTS)
    link = LogOdds("a spline", np.eye(COEFFICIENTS), c)
    spline = BSpline(KNOTS, c, 3)
    z = np.linspace(-EDGE, EDGE - 1e-9, 200)
    eta, slope = link(z)
    assert eta == pytest.approx(spline(z)) and slope == pytest.approx(spline.derivative()(z))
    assert link.functions(z) @ c == pytest.approx(eta)
    ends, slopes = link(np.array([-EDGE, -EDGE - 2.0, EDGE, EDGE + 3.0]))
    assert slopes[0] == slopes[1] and slopes[2] == slopes[3]
    assert ends[1] == pytest.approx(ends[0] - 2.0 * slopes[0]) and ends[3] == pytest.approx(ends[2] + 3.0 * slopes[2])


def test_groups_hold_all_answers_and_are_narrow():
    z, y = answered(3000, lambda z: 4.0 * z)
    rows = Rows.of(z, y, even(3000))
    assert rows.number.sum() == 3000 and rows.ones.sum() == y.sum() and 100 < len(rows.z) <= 256
    assert np.diff(rows.z).max() < 0.6 and (np.diff(rows.z) > 0).all()
    for link in SMOOTH:
        link = link.fitted(rows)
        assert rows.loss(link) == pytest.approx(loss(link(z)[0], y).sum(), rel=0.01)


@pytest.mark.parametrize("kind", [PARABOLA, SPLINE], ids=lambda kind: kind.kind)
def test_a_fit_minimises_its_objective_computed_independently(kind):
    z, y = answered(240, lambda z: 3.0 * z + 0.5)
    dense = BSpline(KNOTS, kind.basis, 3)(np.clip(z, -EDGE, EDGE))
    prior = 0.01 / len(z)

    def objective(a):
        eta, c = dense @ a, kind.basis @ a
        penalty = kind.weight * np.square(np.diff(c, 3)).sum() / 2.0
        return np.logaddexp(0.0, eta).sum() - y @ eta + prior * (np.logaddexp(0.0, eta) - eta / 2.0).sum() + penalty

    result = fitted(z, y, kind)
    better = minimize(objective, result.a, method="BFGS", options={"maxiter": 40}).fun
    assert objective(result.a) <= better + 2e-3
    assert objective(result.a) <= objective(np.zeros(len(result.a)))
    assert 1.9 < result.parameters < len(result.a)


def test_parabolas_cost_nothing_and_wiggles_do():
    for kind in SMOOTH:
        assert (
            kind.penalty[:3, :3] == pytest.approx(0.0, abs=1e-6)
            and np.abs(kind.basis - SPLINES[:, : len(kind.a)]).max() < 1e-9
        )
        if len(kind.a) > 3:
            assert np.linalg.eigvalsh(kind.penalty)[-1] > kind.weight


def test_separated_answers_get_a_finite_link():
    z = generator().standard_normal(200)
    for kind in SMOOTH:
        link = fitted(z, (z > 0).astype(float), kind)
        assert 10 < link(np.zeros(1))[1][0] < 1e4 and np.isfinite(link(z)[0]).all()


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


@pytest.mark.parametrize("place", [0, 2, STRENGTHS, STRENGTHS + 2])
def test_indices_of_starts_without_an_answer_are_those_of_the_other_rows(place):
    built = problem(OneBitPhaseRetrieval, n=300, p=6, threshold=0.5)
    data = data_of(built)
    sums = Sums.of(data.X, data.answers)
    moment = hypotheses(sums)[place]
    b = moment.direction(sums)
    left = held_out(data.X, data.answers, sums, moment, b)
    changes = list[tuple[float, float]]()
    for row in range(0, 300, 15):
        rest = np.arange(300) != row
        other = moment.direction(Sums.of(data.X[rest], data.answers[rest]))
        other *= np.sign(other @ b)
        changes.append((left[row] - data.X[row] @ b, data.X[row] @ (other - b)))
    closed, exact = np.array(changes).T
    # The length of a first moment's direction is held, and the saddle point stays: to first order.
    assert np.linalg.norm(closed - exact) < 0.35 * np.linalg.norm(exact)


def test_the_first_start_is_the_moment_of_the_data():
    built = problem(n=3000, sparsity=3)
    for s in (10, 3):
        (start,) = starts(data_of(built, s), generator())
        scale = (built.y - built.y.mean()) / 2.0
        moment = built.X.T @ scale
        expected = np.where(np.abs(moment) >= np.sort(np.abs(moment))[-s], moment, 0.0)
        assert start.clear and start.at.b == pytest.approx(unit(expected))
        own, row = expected != 0, 7
        other = expected - own * built.X[row] * scale[row]
        assert start.at.held_out[row] == pytest.approx(built.X[row] @ other / np.linalg.norm(expected))


def test_a_start_of_some_entries_has_no_others():
    built = problem(OneBitPhaseRetrieval, n=900, sparsity=3)
    own = built.truth != 0
    start = posterior_start(data_of(built, 3), own, "")
    assert ((start.at.b != 0) == own).all() and np.linalg.norm(start.at.b) == pytest.approx(1.0)
    assert start.at.z == pytest.approx(products(built.X, own, start.at.b))


def test_a_step_never_increases_a_loss():
    built = problem()
    link = LogOdds("a line", SPLINES[:, :2], np.array([0.0, 50.0]))
    data, at, newton = at_truth(built, link, 0.5)
    for size in (0.01, 1.0, 100.0):
        step = generator(6).standard_normal(10)
        step = size * (step - (at.b @ step) * at.b)
        after, reached = newton._replace(step=step).moved(data, at, link)
        assert reached <= newton.loss * (1 + 1e-9)
        assert after.z == pytest.approx(data.X @ after.b) and np.linalg.norm(after.b) == pytest.approx(1.0)


def test_supports_change_by_at_most_so_many_entries():
    support, size = np.array([True, True, False, False]), np.array([0.1, 0.2, 0.4, 0.3])
    changed = [
        nearer(support, wanted, size, most) for wanted, most in ((~support, 1), (~support, 2), (support & False, 2))
    ]
    assert np.array(changed).astype(int).tolist() == [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]]


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


@pytest.mark.parametrize("model", [OneBitSensing, OneBitPhaseRetrieval])
def test_refinement_lowers_the_loss_on_data_it_never_had(model):
    n = 1500
    built, fresh = problem(model, n=n, noise=0.1), problem(model, n=3 * n, noise=0.1)
    assert (fresh.X[:n] == built.X).all(), "the first rows are the same for every n"
    states = [shown.round for shown in rounds(built, 8)]
    answers = (fresh.y[n:] + 1) / 2
    unseen = [loss(s.link(fresh.X[n:] @ s.at.b)[0], answers).mean() for s in states]
    # Measured from the loss at the truth: how much there is to gain depends on how good the start is, and that of the
    # second moment has the best weights.
    least = loss(states[-1].link(fresh.X[n:] @ fresh.truth)[0], answers).mean()
    assert unseen[-1] - least < (0.2 if model is OneBitSensing else 0.5) * (unseen[0] - least)
    assert states[-1].held_out(data_of(built)).mean() == pytest.approx(unseen[-1], rel=0.25), "leave-one-out is fair"


def test_the_same_generator_gives_the_same_rounds_and_data_is_unchanged():
    built = problem(sparsity=3)
    X, y, data = built.X.copy(), built.y.copy(), data_of(built, 3)
    first, second = ([shown.iterate(data) for shown in rounds(built, 5, 3, seed=7)] for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert (one.estimate == other.estimate).all() and one.objective == other.objective and one.note == other.note
    assert (built.X == X).all() and (built.y == y).all()


def test_the_number_of_entries_may_be_given():
    built = problem(sparsity=3)
    for kept, most in ((0, 3), (2, 2), (10, 10)):
        *_, last = itertools.islice(link_free_refinement(built, kept=kept, rng=generator()), 6)
        assert 1 <= np.count_nonzero(last.estimate) <= most
    assert np.count_nonzero(last.estimate) == 10


def test_the_note_gives_start_and_smoothness():
    notes = [
        lrlab.solve(lrlab.spec(model, n=2000, p=10), "link-free-refinement").note
        for model in ("flipped-logistic", "one-bit-phase-retrieval")
    ]
    assert notes[0].startswith("Start: the first moment, which stands out from the noise.")
    assert notes[1].startswith("Start: both moments, the one that carries b 1 likely to be the second.")
    assert all(any(f"Log-odds: {kind.kind}, " in note for kind in SMOOTH) for note in notes)
