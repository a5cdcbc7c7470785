"""Phase retrieval: the data, the score, and what is refused."""

import numpy as np
import pytest

from lrlab.models.phase_retrieval import PhaseRetrieval, align_phase
from lrlab.parameters import InputError

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


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"truth": "phantom"}, r"p must be the square of a side in 4\.\.64 .*, got 128: take p = 121"),
        ({"truth": "upload", "p": 64}, "picture must be an uploaded PNG or JPEG, got none"),
    ],
)
def test_contradictions_are_refused(values, sentence):
    with pytest.raises(InputError, match=sentence):
        PhaseRetrieval(**values)
