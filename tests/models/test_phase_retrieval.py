"""Compressed sensing, 1-bit completion, phase retrieval, coded diffraction: data, scores, bounds, second solvers."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit, ndtr
from sklearn.linear_model import Lasso, OrthogonalMatchingPursuit

import lrlab
from lrlab import catalog
from lrlab.lowrank import from_dense
from lrlab.model_entry import Outcome
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.models.one_bit_completion import OneBitCompletion
from lrlab.models.phase_retrieval import PhaseRetrieval, align_phase
from lrlab.parameters import InputError
from lrlab.runs import theory
from lrlab.theory import sparse_limits
from lrlab.theory.channels import answer
from lrlab.theory.cramer_rao import least_image_error
from tests.thorough import a_third

KINDS = [(field, data) for field in ("real", "complex") for data in ("magnitude", "intensity")]


@pytest.mark.parametrize(("field", "data"), KINDS)
def test_more_measurements_extend_the_data(field, data):
    spec = PhaseRetrieval(m=3000, p=500, field=field, data=data, noise=0.1)
    more, fewer = spec.build(), spec.replace(m=1000).build()
    more.block_rows = fewer.block_rows = 700
    assert (fewer.A == more.A[:1000]).all() and (fewer.y[:700] == more.y[:700]).all()
    assert more.A.nbytes + more.y.nbytes == spec.data_bytes
    assert not more.magnitude.flags.writeable and not more.intensity.flags.writeable


@pytest.mark.parametrize(("field", "data"), KINDS)
def test_answers_are_magnitudes_of_gaussian_projections(field, data):
    problem = PhaseRetrieval(m=40_000, p=6, field=field, data=data).build()
    A, y = problem.A, problem.y
    assert np.linalg.norm(problem.truth) == pytest.approx(1.0)
    assert np.abs(A.conj().T @ A / len(A) - np.eye(6)).max() < 0.03
    assert np.abs(A.T @ A / len(A) - (np.eye(6) if field == "real" else 0.0)).max() < 0.03
    size = np.abs(A @ problem.truth)
    assert y == pytest.approx(size if data == "magnitude" else size**2)
    assert problem.magnitude == pytest.approx(size) and problem.intensity == pytest.approx(size**2)
    noisy = problem.spec.replace(noise=0.5).build()
    added = (noisy.y - y)[noisy.y > 0]
    assert noisy.y.min() == 0.0 and (noisy.A == A).all()
    assert np.std((noisy.y - y)[y > 2.0]) == pytest.approx(0.5, abs=0.05) and np.abs(added).max() < 3.0


@pytest.mark.parametrize("field", ["real", "complex"])
def test_scores_are_invariant_to_a_global_phase_only(field):
    problem = PhaseRetrieval(m=200, p=20, field=field, noise=0.1).build()
    x = problem.truth + 0.1 * np.random.default_rng(0).standard_normal(20)
    scores = problem.score(x)
    for turn in (-1.0, *(np.exp(1j * np.arange(1, 4)) if field == "complex" else ())):
        assert problem.score(turn * x) == pytest.approx(scores)
        assert align_phase(turn * x, problem.truth) == pytest.approx(align_phase(x, problem.truth))
    phases = np.exp(2j * np.pi * np.arange(20_000) / 20_000) if field == "complex" else np.array([1.0, -1.0])
    nearest = np.linalg.norm(phases[:, None] * x - problem.truth, axis=1).min()
    assert scores["error"] == pytest.approx(nearest, rel=1e-6)
    fit = np.abs(problem.A @ x)
    assert scores["misfit"] == pytest.approx(np.linalg.norm(fit - problem.y) / np.linalg.norm(problem.y))
    assert scores["overlap"] == pytest.approx(abs(np.vdot(problem.truth, x)) ** 2 / np.linalg.norm(x) ** 2)
    assert problem.score(2.0 * problem.truth)["error"] == pytest.approx(1.0), "the scale counts"
    assert problem.score(0.0 * x) == pytest.approx({"error": 1.0, "overlap": 0.0, "misfit": 1.0})


SMALL = CodedDiffraction(side=8, masks=3, oversampling=2)


def dense(operator):
    """Return the operator as a matrix, by its definition: transforms of masked, padded images."""
    masks, (wide, _) = operator.masks, operator.detector
    side = masks.shape[1]
    F = np.exp(-2j * np.pi * np.outer(np.arange(wide), np.arange(side)) / wide)
    return np.concatenate([np.kron(F, F) * mask.ravel() for mask in masks])


@pytest.mark.parametrize("code", ["phase", "octanary"])
@pytest.mark.parametrize("oversampling", [1, 2])
def test_the_operator_is_the_matrix_that_is_never_formed(code, oversampling):
    A = SMALL.replace(code=code, oversampling=oversampling).build().A
    matrix, rng = dense(A), np.random.default_rng(0)
    z, u = (rng.standard_normal(2 * n).view(complex) for n in A.shape[::-1])
    assert A @ z == pytest.approx(matrix @ z) and A.rmatvec(u) == pytest.approx(matrix.conj().T @ u)
    assert (u.conj() @ A).conj() == pytest.approx(matrix.conj().T @ u)
    assert np.diag(A.gram) == pytest.approx(matrix.conj().T @ matrix, abs=1e-8)


def test_masks_have_unit_power_and_a_pattern_does_not_depend_on_the_others():
    for code in ("phase", "octanary"):
        drawn = CodedDiffraction(side=64, code=code).build().A.masks
        assert np.mean(np.abs(drawn) ** 2) == pytest.approx(1.0, abs=0.02) and abs(drawn.mean()) < 0.02
    noisy = SMALL.replace(photons=50.0, seed=4)
    fewer, more = noisy.replace(masks=1).build(), noisy.build()
    assert (fewer.y == more.y[: len(fewer.y)]).all() and not more.y.flags.writeable
    assert not (noisy.replace(seed=5).build().A.masks == more.A.masks).all()


def test_counts_are_those_of_a_poisson_law():
    spec = CodedDiffraction(side=32, photons=20.0)
    exact, problem = spec.replace(photons=0.0).build(), spec.build()
    counts, mean = 20.0 * problem.intensity, 20.0 * exact.intensity
    assert counts == pytest.approx(counts.round())
    assert exact.intensity.mean() == pytest.approx(1.0, abs=1e-9)
    bright = mean > 5
    assert np.mean((counts - mean)[bright] ** 2 / mean[bright]) == pytest.approx(1.0, abs=0.05)
    large = CodedDiffraction(side=32, photons=1e4)
    error = large.build().magnitude - large.replace(photons=0.0).build().magnitude
    assert error.std() == pytest.approx(large.noise, rel=0.05)


def test_the_bound_is_the_trace_of_the_inverse_information():
    spec = SMALL.replace(photons=30.0)
    problem = spec.build()
    A, x = dense(problem.A), problem.truth
    rates = lambda parts: 30.0 * np.abs(A @ (parts[:64] + 1j * parts[64:])) ** 2  # noqa: E731
    at = np.concatenate([x, np.zeros(64)])
    # Derivatives of a quadratic function by central differences are exact.
    J = np.array([(rates(at + d) - rates(at - d)) / 2.0 for d in np.eye(128)])
    information = (J / rates(at)) @ J.T
    values = np.linalg.eigvalsh(information)
    assert values[0] < 1e-6 * values[1], "the global phase alone is not measured"
    exact = math.sqrt(np.sum(1.0 / values[1:]))
    assert least_image_error(problem.A, x, 30.0, np.random.default_rng(1)) == pytest.approx(exact, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("photons", a_third([1e3, 1e4, 1e6]))
def test_errors_come_near_the_bound_and_do_not_beat_it(photons):
    spec = CodedDiffraction(side=32, photons=photons)
    bound = theory.exact(spec)["bound_error"]
    shown = catalog.family(spec.model).solvers
    for name in (*shown, "wirtinger-flow", "truncated-amplitude-flow", "alternating-projections"):
        assert 0.95 < efficiency(spec, bound, name) < 1.1, (name, photons)
    assert efficiency(spec, bound, "wirtinger-flow", loss="squares") > 1.2, "squares weigh bright pixels too much"


def efficiency(spec, bound, name, **options):
    """Return the root mean square error of a solver over some draws, as a multiple of the bound."""
    errors = [lrlab.solve(spec.replace(seed=seed), name, **options).metrics["error"] for seed in range(3)]
    return np.sqrt(np.mean(np.square(errors))) / bound


def test_what_is_said_of_a_run():
    family, spec = catalog.family("coded-diffraction"), CodedDiffraction(side=16, photons=100.0)
    shown = family.measured(spec)
    assert "2,048 counts, 100 a pixel on average, for 511 real degrees of freedom" in shown.words
    theory.cache(spec, theory.exact(spec))
    trace = lrlab.solve(spec, "gauss-newton")
    known = theory.predictions(trace.job)
    outcome = Outcome("gauss-newton", "Gauss-Newton", trace.rows[-1], len(trace.rows), True, {}, known)
    bound = theory.cached(spec)["bound_error"]
    words = f"Error {trace.metrics['error']:.2g} after {len(trace.rows)} iterations (Gauss-Newton): 8 numbers per pixel"
    assert family.verdict(spec, [outcome]) == f"{words} of the image, whose photons allow {bound:.2g} without bias."
    exact = family.verdict(spec.replace(photons=0.0), [outcome])
    assert exact.startswith("The image is recovered by 0 of 1 solver,")
    [pattern] = shown.panels.values()
    assert np.sort(pattern.values.ravel()) == pytest.approx(np.sort(spec.build().y[:256]))
    assert CodedDiffraction(masks=1).remark.startswith("Only 4,096 measurements for 8,191 real degrees of freedom")
    assert not CodedDiffraction(masks=1, oversampling=2).remark and family.best(CodedDiffraction()) == {}
    for values, sentence in (({"side": 4}, "side must be"), ({"truth": "upload"}, "truth must be one of phantom")):
        with pytest.raises(InputError, match=sentence):
            CodedDiffraction(**values)


def sensing(**values):
    return lrlab.spec("compressed-sensing", **{"n": 150, "p": 300, "sparsity": 15, "seed": 3, **values})


@pytest.mark.parametrize("entries", ["gaussian", "signs", "nonnegative"])
def test_data_are_what_the_equation_says(entries):
    problem = sensing(entries=entries, noise=0.1, bits=3).build()
    x, A = problem.truth, problem.A
    assert np.count_nonzero(x) == 15 and x @ x == pytest.approx(15)
    assert entries != "nonnegative" or (x >= 0).all()
    assert np.square(A).sum(axis=0).mean() == pytest.approx(1.0, rel=0.02) and len(np.unique(problem.y)) == 8
    rest = problem.y - A @ x
    assert rest.std() == pytest.approx(problem.noise, rel=0.2) and abs(np.corrcoef(rest, A @ x)[0, 1]) < 0.25
    estimate = x + np.random.default_rng(0).standard_normal(300) * 0.1
    assert problem.score(estimate)["error"] == pytest.approx(np.linalg.norm(estimate - x) / np.sqrt(15))
    one = sensing(entries=entries, bits=1, noise=0.1)
    assert "length" in one.remark and len(np.unique(np.abs(one.build().y))) == 1
    assert one.build().score(7.0 * one.build().truth)["error"] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="at most p"):
        sensing(sparsity=301)


def test_quantizers_and_thresholds_are_the_published_ones():
    """Steps of Max (1960), table II; rho = s/n of Donoho & Tanner (2009), weak thresholds of the two polytopes."""
    for bits, step in ((2, 0.9957), (3, 0.5860), (4, 0.3352), (5, 0.1881)):
        assert np.diff(sparse_limits.quantizer(bits).edges)[0] == pytest.approx(step, abs=1e-4)
    for positive, ratio, rho in ((False, 0.1, 0.189), (False, 0.5, 0.386), (True, 0.1, 0.241), (True, 0.5, 0.558)):
        assert sparse_limits.l1_threshold(rho * ratio, positive) == pytest.approx(ratio, rel=2e-3)


@pytest.mark.parametrize("bits", [0, 1, 4])
def test_the_channel_has_the_slopes_of_its_likelihood(bits):
    channel, w, h = sparse_limits.Measured(0.2, bits), np.linspace(-2.0, 2.0, 9), 1e-4
    y = np.arange(9) % 2**bits if bits else np.linspace(-1.0, 1.0, 9)
    low, at, high = (answer(channel, w + d, 0.3, y) for d in (-h, 0.0, h))
    assert at.score == pytest.approx((high.log_chance - low.log_chance) / (2 * h), abs=1e-5)
    assert at.curvature == pytest.approx(-(high.score - low.score) / (2 * h), abs=1e-4)
    total = sum(np.exp(answer(channel, w, 0.3, np.full(9, cell)).log_chance) for cell in range(2**bits))
    assert bits == 0 or total == pytest.approx(1.0)


def test_the_lasso_is_that_of_scikit_learn_and_its_gap_is_a_bound():
    for positive, entries in ((False, "gaussian"), (True, "nonnegative")):
        trace = lrlab.solve(sensing(noise=0.1, entries=entries), "lasso", rule="given", strength=0.2, tol=1e-14)
        A, y = trace.problem.A, trace.problem.y
        other = Lasso(alpha=0.2 / 150, fit_intercept=False, positive=positive, tol=1e-12, max_iter=100_000).fit(A, y)
        assert trace.stop is lrlab.Stop.CONVERGED and trace.estimate == pytest.approx(other.coef_, abs=1e-6)
        gaps = trace.table["residual"] * (y @ y) / 2
        assert (gaps + 1e-9 >= trace.table["objective"] - trace.table["objective"].min()).all()
    assert lrlab.solve(sensing(n=4, p=8, sparsity=2), "lasso", rule="cross-validation").stop is lrlab.Stop.CONVERGED
    # The largest strength leaves nothing.
    assert lrlab.solve(sensing(), "lasso", rule="given", strength=1000.0).metrics["limit_error"] == pytest.approx(
        1.0, abs=1e-5
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_omp_is_that_of_scikit_learn(seed):
    trace = lrlab.solve(sensing(noise=0.2, seed=seed), "omp")
    peer = OrthogonalMatchingPursuit(n_nonzero_coefs=15, fit_intercept=False).fit(trace.problem.A, trace.problem.y)
    assert np.flatnonzero(trace.estimate).tolist() == np.flatnonzero(peer.coef_).tolist()
    assert trace.estimate == pytest.approx(peer.coef_, abs=1e-10)


def test_basis_pursuit_is_the_linear_program():
    trace = lrlab.solve(sensing(n=60, p=120, sparsity=20), "basis-pursuit")
    A, y = trace.problem.A, trace.problem.y
    program = linprog(np.ones(240), A_eq=np.hstack([A, -A]), b_eq=y)
    assert trace.table["objective"].iloc[-1] == pytest.approx(program.fun, rel=1e-5)
    with pytest.raises(InputError, match="take lasso"):
        lrlab.solve(sensing(noise=0.1), "basis-pursuit")


@pytest.mark.parametrize("solver", ["basis-pursuit", "amp", "gamp", "omp", "niht", "cosamp"])
def test_exact_data_give_the_signal_back(solver):
    trace = lrlab.solve(sensing(), solver)
    assert trace.table["error"].iloc[-1] < 1e-6 and trace.table["support"].iloc[-1] == 1.0
    few = lrlab.solve(sensing(n=4, p=4, sparsity=1, seed=0), solver)
    assert (few.stop is lrlab.Stop.DIVERGED) == (solver == "amp"), "the correction of AMP holds for many entries"


BITS = OneBitCompletion(n1=40, n2=30, rank=1, observed=0.5)


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_bits_follow_their_law(link):
    sensing = OneBitCompletion(n1=300, n2=300, rank=2, observed=1, link=link, noise=0.4)
    problem = sensing.build()
    M = problem.truth.dense()
    assert np.abs(M).max() == pytest.approx(1.0) and np.linalg.matrix_rank(M) == 2
    assert problem.trace_norm == pytest.approx(np.linalg.norm(M, "nuc"))
    chance = (ndtr if link == "probit" else expit)(M.ravel() / 0.4)
    for low in np.linspace(0.1, 0.8, 8):
        inside = (chance >= low) & (chance < low + 0.1)
        assert (problem.y[inside] > 0).mean() == pytest.approx(chance[inside].mean(), abs=0.02)
    assert problem.truth_loss == pytest.approx(-np.log(np.where(problem.y > 0, chance, 1 - chance)).mean())


def test_scores_are_recomputed():
    problem, rng = BITS.build(), np.random.default_rng(0)
    M, W = problem.truth.dense(), rng.standard_normal((40, 30)) / 3
    p, q = ndtr(M / 0.3), ndtr(W / 0.3)
    scores = problem.score(from_dense(W))
    assert scores["error"] == pytest.approx(np.linalg.norm(W - M) / np.linalg.norm(M))
    assert scores["squared_error"] == pytest.approx(scores["error"] ** 2)
    apart = (np.sqrt(p) - np.sqrt(q)) ** 2 + (np.sqrt(1 - p) - np.sqrt(1 - q)) ** 2
    assert scores["hellinger"] == pytest.approx(apart.mean())
    assert scores["hamming"] == np.mean((W > 0) != (M > 0))
    exact = problem.score(problem.truth)
    assert exact == pytest.approx({"error": 0, "squared_error": 0, "hellinger": 0, "hamming": 0}, abs=1e-12)


def test_the_bound_is_that_of_the_information_of_bits():
    sensing = OneBitCompletion(n1=12, n2=9, rank=1, observed=1, noise=0.6)
    squares = []
    for seed in range(3):
        problem = sensing.replace(seed=seed).build()
        U, V = problem.truth.U[:, 0], problem.truth.V[:, 0] * problem.truth.s[0]
        # Rows: the derivative of all entries by one entry of U or V.
        J = [np.outer(e, V).ravel() for e in np.eye(12)] + [np.outer(U, e).ravel() for e in np.eye(9)]
        z = np.outer(U, V).ravel() / 0.6
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / 0.6
        J = np.array(J)
        information = (J * density**2 / (ndtr(z) * ndtr(-z))) @ J.T
        squares.append(np.trace(J.T @ np.linalg.pinv(information, rcond=1e-10) @ J) / problem.truth.s[0] ** 2)
    assert theory.exact(sensing)["bound_error"] == pytest.approx(np.sqrt(np.mean(squares)))


def test_what_is_said_of_a_run_on_bits():
    family = catalog.family("one-bit-completion")
    shown = family.measured(BITS)
    assert shown.words.startswith("600 bits for 69 degrees of freedom, 8.7 bits for each")
    problem = BITS.build()
    [bits] = shown.panels.values()
    assert (bits.values[problem.operator.rows, problem.operator.columns] == problem.y).all()
    with pytest.raises(InputError, match=r"rank must be in 1\.\.min\(40, 30\) = 30, got 31"):
        BITS.replace(rank=31)
