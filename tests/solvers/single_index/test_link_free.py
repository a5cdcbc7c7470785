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
from lrlab.solvers.methods.sphere import newton_directions, normalised, tangent
from lrlab.solvers.single_index.cross_fitting import FOLDS, CrossFit
from lrlab.solvers.single_index.link_fit import chosen, fit, fit_all
from lrlab.solvers.single_index.link_free import link_free_refinement, refinement
from lrlab.solvers.single_index.link_free_evidence import Moments, Sums, likeliest
from lrlab.solvers.single_index.link_free_moves import Moved, descended, nearer, sharpened
from lrlab.solvers.single_index.link_free_start import columns, first_moment, total_sums
from lrlab.solvers.single_index.link_smoothing import (
    COEFFICIENTS,
    EDGE,
    SMOOTHNESS,
    WIDTH,
    IndexedAnswers,
    LogOdds,
    loss,
)

LINE, PARABOLA, *SPLINES = SMOOTHNESS


def generator(seed=0):
    return np.random.default_rng(seed)


def answered(n, log_odds, seed=0):
    """Return normal indices and answers in {0, 1} with these log-odds."""
    rng = generator(seed)
    z = rng.standard_normal(n)
    return z, (rng.random(n) < expit(log_odds(z))).astype(float)


def problem(model=OneBitSensing, **parameters):
    return model(**{"n": 800, "p": 10, **parameters}).build()


def split(built, seed=0):
    return CrossFit.split(built.X, built.y, generator(seed))


def rounds(built, number, s=None, seed=0):
    p = built.shape[1]
    return list(itertools.islice(refinement(built.X, built.y, s or p, generator(seed)), number))


def slope_of_remainder(value, gradient, direction):
    """Return the order at which value(t) - value(0) - t <gradient, direction> vanishes."""
    steps = np.array([1e-2, 1e-3])
    gaps = [abs(value(t * direction) - value(0.0 * direction) - t * (gradient @ direction)) for t in steps]
    return np.log10(gaps[0] / gaps[1])


def test_log_odds_are_the_spline_of_scipy_with_straight_ends():
    c = generator().standard_normal(COEFFICIENTS)
    knots = -EDGE + WIDTH * np.arange(-3, COEFFICIENTS + 1)
    spline = BSpline(knots, c, 3)
    z = np.linspace(-EDGE, EDGE - 1e-9, 200)
    eta, slope = LogOdds(c)(z)
    assert eta == pytest.approx(spline(z)) and slope == pytest.approx(spline.derivative()(z))
    ends, slopes = LogOdds(c)(np.array([-EDGE, -EDGE - 2.0, EDGE, EDGE + 3.0]))
    assert slopes[0] == slopes[1] and slopes[2] == slopes[3]
    assert ends[1] == pytest.approx(ends[0] - 2.0 * slopes[0]) and ends[3] == pytest.approx(ends[2] + 3.0 * slopes[2])


def test_sorted_rows_have_the_splines_of_the_dense_design():
    z, y = answered(300, lambda z: 4.0 * z)
    z[:3] = [-5.0, 4.0, 6.0]
    rows = IndexedAnswers.of(z, y)
    dense = np.stack([LogOdds(e)(z)[0] for e in np.eye(COEFFICIENTS)], axis=1)[rows.order]
    assert rows.splines == pytest.approx(dense, abs=1e-12)
    assert (rows.answers == y[rows.order]).all()


@pytest.mark.parametrize("smoothness", [LINE, SPLINES[1]], ids=lambda smoothness: smoothness.name)
def test_a_fit_minimises_its_objective_computed_independently(smoothness):
    z, y = answered(400, lambda z: 3.0 * z + 0.5)
    dense = np.stack([LogOdds(e)(z)[0] for e in np.eye(COEFFICIENTS)], axis=1)
    free = dense @ smoothness.free

    def objective(c):
        eta = dense @ c
        weight = expit(eta) * expit(-eta)
        return (
            np.logaddexp(0.0, eta).sum()
            - y @ eta
            + c @ smoothness.penalty @ c / 2.0
            - np.linalg.slogdet(free.T @ (weight[:, None] * free))[1] / 2.0
        )

    result = fit(IndexedAnswers.of(z, y), smoothness, np.zeros(COEFFICIENTS)).log_odds.coefficients
    better = minimize(objective, result, method="BFGS", options={"maxiter": 40}).fun
    # Newton's Hessian leaves out that of the determinant, a share of order 1/n.
    assert objective(result) <= better + 1e-3
    assert objective(result) <= objective(np.zeros(COEFFICIENTS))


def test_free_polynomials_cost_nothing_and_others_do():
    for smoothness in SMOOTHNESS:
        assert smoothness.penalty @ smoothness.free == pytest.approx(0.0, abs=1e-6)
        wiggle = (-1.0) ** np.arange(COEFFICIENTS)
        assert wiggle @ smoothness.penalty @ wiggle > smoothness.weight


def test_held_out_losses_are_those_of_fits_that_leave_a_row_out():
    z, y = answered(120, lambda z: 3.0 * z)
    whole = fit(IndexedAnswers.of(z, y), SPLINES[0], np.zeros(COEFFICIENTS))
    for row in range(0, 120, 10):
        rest = np.arange(120) != row
        without = fit(IndexedAnswers.of(z[rest], y[rest]), SPLINES[0], whole.log_odds.coefficients)
        eta, _ = without.log_odds(z[row : row + 1])
        assert whole.held_out[row] == pytest.approx(loss(eta, y[row])[0], rel=0.15, abs=0.01)


def test_separated_answers_get_a_finite_link():
    z = generator().standard_normal(200)
    for smoothness in SMOOTHNESS:
        result = fit(IndexedAnswers.of(z, (z > 0).astype(float)), smoothness, np.zeros(COEFFICIENTS))
        assert 10 < result.log_odds(np.zeros(1))[1][0] < 1e4 and np.isfinite(result.held_out).all()


@pytest.mark.parametrize(
    ("log_odds", "allowed"),
    [
        (lambda z: z, {LINE}),
        (lambda z: 5.0 * (z**2 - 1.0), {PARABOLA}),
        (lambda z: 4.0 * np.sin(3.0 * z), set(SPLINES[1:])),
    ],
    ids=["line", "parabola", "wave"],
)
def test_the_smoothness_chosen_is_that_of_the_link(log_odds, allowed):
    fits = fit_all(IndexedAnswers.of(*answered(3000, log_odds)))
    assert fits[chosen(fits)].smoothness in allowed
    z = np.linspace(-1.5, 1.5, 30)
    assert expit(fits[chosen(fits)].log_odds(z)[0]) == pytest.approx(expit(log_odds(z)), abs=0.08)


def test_no_column_sees_its_own_fold():
    built = problem()
    data = split(built)
    turned = CrossFit(data.X, np.where(data.fold == 3, 1.0 - data.answers, data.answers), data.fold, data.folds)
    scale = generator(1).standard_normal(len(data.answers))
    elsewhere = np.where(data.fold == 3, -scale, scale)
    link = LogOdds(np.linspace(-9.0, 9.0, COEFFICIENTS))
    B = normalised(generator(2).standard_normal((10, FOLDS + 1)))
    pairs = [
        (data.moment(scale)[:, 3], data.moment(elsewhere)[:, 3]),
        (data.moment(scale, B)[:, 3], data.moment(elsewhere, B)[:, 3]),
        (data.squares(scale)[:, 3], data.squares(elsewhere)[:, 3]),
        (data.losses(data.X @ B, link)[3], turned.losses(data.X @ B, link)[3]),
        (data.derivatives(data.X @ B, link).descent[:, 3], turned.derivatives(data.X @ B, link).descent[:, 3]),
    ]
    assert all((one == other).all() for one, other in pairs)
    assert (data.moment(scale)[:, 2] != data.moment(elsewhere)[:, 2]).all()
    assert sorted(np.bincount(data.fold)) == [80] * FOLDS


def test_products_by_blocks_are_those_of_whole_matrices(monkeypatch):
    monkeypatch.setattr("lrlab.solvers.single_index.cross_fitting.MOST_ROWS", 64)
    built = problem()
    data, X = split(built), built.X
    in_training = (data.fold[:, None] != np.arange(FOLDS + 1)).astype(float)
    rng = generator(3)
    scale, B = rng.standard_normal(800), rng.standard_normal((10, FOLDS + 1))
    assert data.moment(scale) == pytest.approx(X.T @ (scale[:, None] * in_training) / 800)
    assert data.moment(scale, B) == pytest.approx(X.T @ (scale[:, None] * in_training * (X @ B)) / 800)
    assert data.squares(scale) == pytest.approx((X**2).T @ (scale[:, None] * in_training) / 800)
    assert data.held_out(X @ B) == pytest.approx([X[i] @ B[:, data.fold[i]] for i in range(800)])


@pytest.mark.parametrize("smoothness", SMOOTHNESS, ids=lambda smoothness: smoothness.name)
def test_descent_is_minus_the_gradient_of_the_loss(smoothness):
    built = problem()
    data = split(built)
    link = fit(
        IndexedAnswers.of(built.X @ built.truth + 0.3, data.answers), smoothness, np.zeros(COEFFICIENTS)
    ).log_odds
    rng = generator(4)
    b, direction = unit(rng.standard_normal(10)), unit(rng.standard_normal(10)) / 50.0

    def value(step):
        return data.losses(data.X @ np.repeat((b + step)[:, None], FOLDS + 1, axis=1), link)[-1]

    at = data.derivatives(data.X @ np.repeat(b[:, None], FOLDS + 1, axis=1), link)
    assert slope_of_remainder(value, -at.descent[:, -1], direction) == pytest.approx(2.0, abs=0.1)
    assert at.loss[-1] == pytest.approx(value(np.zeros(10)))


def test_conjugate_gradients_solve_the_newton_system_on_the_tangent_space():
    rng = generator(5)
    X, weights = rng.standard_normal((200, 6)), rng.random((200, 2))
    B, descent = normalised(rng.standard_normal((6, 2))), rng.standard_normal((6, 2))
    free, damping = np.array([[1, 1, 1, 0, 1, 1], [1] * 6]).T, np.array([0.0, 5.0])
    D = newton_directions(lambda V: X.T @ (weights * (X @ V)), B, descent, free, damping)
    for k in range(2):
        inside = np.flatnonzero(free[:, k])
        b = unit(B[inside, k])
        P = np.eye(len(inside)) - np.outer(b, b)
        H = (X[:, inside] * weights[:, [k]]).T @ X[:, inside]
        expected = np.linalg.pinv(P @ H @ P + damping[k] * P, rcond=1e-8) @ (P @ descent[inside, k])
        assert D[inside, k] == pytest.approx(expected, rel=0.05, abs=0.02 * np.abs(expected).max())
        assert b @ D[inside, k] == pytest.approx(0.0, abs=1e-10) and not D[free[:, k] == 0, k].any()


def test_the_first_start_is_the_moment_of_the_data():
    built = problem(OneBitPhaseRetrieval, n=3000)
    data = split(built)
    scale = data.answers - data.answers.mean()
    assert first_moment(data, 10)[:, -1] == pytest.approx(unit(built.X.T @ scale))
    sparse = first_moment(data, 3)
    assert (np.count_nonzero(sparse, axis=0) == 3).all() and np.linalg.norm(sparse, axis=0) == pytest.approx(1.0)


def test_columns_of_a_moment_leave_a_fold_out():
    built = problem(OneBitPhaseRetrieval, n=600, p=20, threshold=0.5)
    data = split(built)
    moments = Moments.of(total_sums(data))
    for moment in (likeliest(moments.first), *moments.all_second):
        B = columns(data, moments, moment)
        for column in (0, data.folds):
            own = data.fold != column
            b = moment.direction(Sums.of(built.X[own], data.answers[own]))
            assert abs(b @ B[:, column]) == pytest.approx(1.0)
        assert ((B * B[:, -1:]).sum(axis=0) >= 0).all(), "the columns share one sign"


def test_a_steep_link_is_sharpened_and_a_flat_one_left():
    z = generator().standard_normal(3000)
    line = np.linspace(-1.0, 1.0, COEFFICIENTS)
    slopes = [sharpened(LogOdds(k * line), z, 20).coefficients[-1] / k for k in (1.0, 5.0, 5000.0)]
    assert slopes[0] < slopes[1] < slopes[2]
    assert slopes[0] == pytest.approx(1.0, abs=0.01)
    assert sharpened(LogOdds(5000.0 * line), z, 1).coefficients[-1] == pytest.approx(5000.0)


def test_a_step_never_increases_a_loss():
    built = problem()
    data, rng = split(built), generator(6)
    link = LogOdds(np.linspace(-50.0, 50.0, COEFFICIENTS))
    B = normalised(rng.standard_normal((10, FOLDS + 1)))
    now = Moved(B, data.X @ B, data.losses(data.X @ B, link))
    for size in (0.01, 1.0, 100.0):
        after = descended(data, link, now, size * tangent(B, rng.standard_normal(B.shape)))
        assert (after.loss <= now.loss * (1 + 1e-9)).all()
        assert after.Z == pytest.approx(data.X @ after.B) and np.linalg.norm(after.B, axis=0) == pytest.approx(1.0)


def test_supports_change_by_at_most_so_many_entries():
    support = np.array([[True, True, False, False]]).T @ np.ones((1, 3), dtype=bool)
    wanted = ~support
    wanted[:, 2] = False
    size = np.repeat(np.array([[0.1, 0.2, 0.4, 0.3]]).T, 3, axis=1)
    changed = nearer(support, wanted, size, np.array([1, 2, 2]))
    assert changed.T.astype(int).tolist() == [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]]


def shown(state, built):
    return state.iterate(built.X, (built.y + 1.0) / 2.0)


@pytest.mark.parametrize("model", [OneBitSensing, OneBitPhaseRetrieval])
@pytest.mark.parametrize("s", [10, 4])
def test_every_round_belongs_to_one_estimate(model, s):
    built = problem(model, n=1500, sparsity=4)
    # Rounds in which jumps are tried show the estimate so far, and are not solved.
    states = [state for state in rounds(built, 40, s) if not state.trying][:8]
    for state in states:
        iterate = shown(state, built)
        index = built.X @ iterate.estimate
        eta, _ = state.link(index)
        assert iterate.objective == pytest.approx(np.mean(np.logaddexp(0.0, -built.y * eta)))
        assert state.Z[:, -1] == pytest.approx(index) and np.linalg.norm(iterate.estimate) == pytest.approx(1.0)
        assert np.count_nonzero(iterate.estimate) <= s
        assert state.step[:, -1] @ iterate.estimate == pytest.approx(0.0, abs=1e-9)
    assert shown(states[-1], built).residual < 1e-3 < shown(states[0], built).residual


@pytest.mark.parametrize("model", [OneBitSensing, OneBitPhaseRetrieval])
def test_refinement_lowers_the_loss_on_data_it_never_had(model):
    n = 1500
    built, fresh = problem(model, n=n, noise=0.1), problem(model, n=3 * n, noise=0.1)
    assert (fresh.X[:n] == built.X).all(), "the first rows are the same for every n"
    states = rounds(built, 8)
    answers = (fresh.y[n:] + 1) / 2
    held_out = [loss(s.fit.log_odds(fresh.X[n:] @ s.b)[0], answers).mean() for s in states]
    # Measured from the loss at the truth: how much there is to gain depends on how good the start is, and that of the
    # second moment has the best weights.
    least = loss(states[-1].fit.log_odds(fresh.X[n:] @ fresh.truth)[0], answers).mean()
    assert held_out[-1] - least < (0.2 if model is OneBitSensing else 0.5) * (held_out[0] - least)
    assert states[-1].fit.mean_held_out == pytest.approx(held_out[-1], rel=0.25), "leave-one-out is fair"


def test_the_same_generator_gives_the_same_rounds_and_data_is_unchanged():
    built = problem(sparsity=3)
    X, y = built.X.copy(), built.y.copy()
    first, second = ([shown(s, built) for s in rounds(built, 5, 3, seed=7)] for _ in range(2))
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
    assert notes[1].startswith("Start: the second moment, more than 1,000 times as promising as the first.")
    names = [smoothness.name for smoothness in SMOOTHNESS]
    assert all(any(f"Log-odds: {name}, " in note for name in names) for note in notes)
