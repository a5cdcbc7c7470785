"""Phase retrieval and coded diffraction: the data, the score, the bound, and that solvers recover images."""

import math

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.model_entry import Outcome
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.models.phase_retrieval import PhaseRetrieval, align_phase
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs import theory
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


SOLVERS = [entry.name for entry in catalog.solvers_for("coded-diffraction")]


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("code", ["phase", "octanary"])
def test_images_are_recovered_from_exact_patterns(name, code):
    spec = CodedDiffraction(side=24, truth="digit-2", code=code, seed=1)
    trace = lrlab.solve(spec, name, max_iter=400)
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-5
    assert trace.rows[0]["error"] < 0.5, "a spectral start is near"


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
    assert exact.startswith("The image is recovered by 0 of 1 solvers")
    assert np.sort(shown.panels[0].values.ravel()) == pytest.approx(np.sort(spec.build().y[:256]))
    assert CodedDiffraction(masks=1).remark.startswith("Only 4,096 measurements for 8,191 real degrees of freedom")
    assert not CodedDiffraction(masks=1, oversampling=2).remark and family.best(CodedDiffraction()) == {}
    for values, sentence in (({"side": 4}, "side must be"), ({"truth": "upload"}, "truth must be one of phantom")):
        with pytest.raises(InputError, match=sentence):
            CodedDiffraction(**values)
