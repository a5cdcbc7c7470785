"""Maximum likelihood for one-bit phase retrieval where one start does not do: small n/p, flipped answers."""

import numpy as np
import pytest

import lrlab
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.solvers.single_index import phase_likelihood as module
from lrlab.solvers.single_index import phase_losses
from lrlab.solvers.single_index.phase_losses import exact_loss, expected_loss, final_width, likelihood
from lrlab.theory.links import ThresholdLink

FEW = OneBitPhaseRetrieval(n=100, p=20, threshold=0.3)


def excess(trace, spec):
    """Return the summed loss of the estimate less that of the truth, at the last width."""
    problem = spec.build()
    X, y, width = problem.X, problem.y, final_width(problem.link, spec.n, spec.p)
    own, truth = (likelihood(X @ b, y, problem.link, width).loss.sum() for b in (trace.estimate, problem.truth))
    return own - truth


@pytest.mark.parametrize("link", [ThresholdLink(0.0, 1.0), ThresholdLink(0.3, 0.5), ThresholdLink(0.0, 0.3, flip=0.1)])
def test_the_loss_at_the_truth_is_the_expected_one(link):
    z, rng, width = 1.5 * np.random.default_rng(1000).standard_normal(200_000), np.random.default_rng(1), 0.31
    y = np.where(rng.random(len(z)) < (1.0 + link(z)) / 2.0, 1.0, -1.0)
    mean, deviation = expected_loss(link, width, 1.5)
    loss = likelihood(z, y, link, width).loss
    assert loss.mean() == pytest.approx(mean, abs=4.0 * deviation / np.sqrt(len(z)))
    assert loss.std() == pytest.approx(deviation, rel=0.02)


@pytest.mark.parametrize("seed", [1006, 1016, 1028])
def test_a_poor_optimum_of_the_first_start_is_not_the_end(seed):
    """From the spectral start, by Fisher scoring, all of these converged where the truth is likelier."""
    spec = FEW.replace(seed=seed)
    trace = lrlab.solve(spec, "phase-likelihood")
    assert trace.stop is lrlab.Stop.CONVERGED and excess(trace, spec) < 0


def test_what_the_model_does_not_allow_is_not_called_converged():
    spec = FEW.replace(seed=1025)
    trace = lrlab.solve(spec, "phase-likelihood")
    assert excess(trace, spec) > 0 and trace.stop is lrlab.Stop.LOCAL_MINIMUM
    assert trace.rows[-1]["residual"] > 1e-3


def test_it_knows_of_flipped_answers():
    for seed in (2000, 2001):
        spec = OneBitPhaseRetrieval(n=2000, flip=0.1, seed=seed)
        own, best = (lrlab.solve(spec, solver) for solver in ("phase-likelihood", "gamp"))
        assert own.stop is lrlab.Stop.CONVERGED and own.metrics["error"] < 1.5 * best.metrics["error"]


def test_correlated_measurements_are_not_taken_for_a_poor_optimum():
    """Their indices have another variance than 1, and the posterior mean of independent ones is far off."""
    spec = OneBitPhaseRetrieval(n=1500, design="correlated", correlation=0.9, seed=3001)
    trace = lrlab.solve(spec, "phase-likelihood")
    assert trace.stop is lrlab.Stop.CONVERGED and trace.metrics["overlap"] > 0.99


@pytest.mark.parametrize(
    "spec",
    [
        OneBitPhaseRetrieval(n=600, p=20, threshold=2.0, noise=2.0, flip=0.499, seed=1001),
        OneBitPhaseRetrieval(n=600, p=2, threshold=5.0, design="student", seed=1004),
    ],
    ids=repr,
)
def test_answers_that_tell_nothing_are_no_poor_optimum(spec):
    assert lrlab.solve(spec, "phase-likelihood").stop is lrlab.Stop.CONVERGED


@pytest.mark.parametrize("spec", [OneBitPhaseRetrieval(n=100, p=50), FEW, OneBitPhaseRetrieval(n=600, p=20)], ids=repr)
def test_what_converges_denies_no_answer_that_the_truth_gives(spec):
    """With n = 100, p = 50, ten of twelve runs converged at minima of a smoothed likelihood where some are denied."""
    traces = [lrlab.solve(spec.replace(seed=seed), "phase-likelihood") for seed in range(20000, 20008)]
    denied = [exact_loss(trace.problem, trace.estimate) for trace in traces]
    converged = [trace.stop is lrlab.Stop.CONVERGED for trace in traces]
    assert sum(converged) >= 6 and all(count == 0 for count, yes in zip(denied, converged, strict=True) if yes)
    assert np.mean([trace.metrics["overlap"] for trace in traces]) > 0.6


def test_the_truth_has_the_last_word(monkeypatch):
    """Where a solver claims the least loss, and the truth's is lower, the run has not converged."""
    monkeypatch.setattr(module, "denies", lambda problem, b: False)
    monkeypatch.setattr(module, "highest_loss", lambda *given: np.inf)
    monkeypatch.setattr(phase_losses, "starts", lambda problem, rng: iter([np.eye(problem.shape[1])[0]]))
    trace = lrlab.solve(OneBitPhaseRetrieval(n=200, p=50, threshold=0.3, seed=1000), "phase-likelihood")
    assert trace.metrics["overlap"] < 0.5 and trace.stop is lrlab.Stop.LOCAL_MINIMUM
    assert exact_loss(trace.problem, trace.estimate) > exact_loss(trace.problem, trace.problem.truth) == 0


def test_the_loss_without_noise_counts_denied_answers():
    problem = OneBitPhaseRetrieval(n=300, p=10, seed=1001).build()
    flipped = OneBitPhaseRetrieval(n=300, p=10, flip=0.2, seed=1001).build()
    off = np.abs(problem.X @ np.eye(10)[0]) > 1.0
    assert (
        exact_loss(problem, np.eye(10)[0]) == np.sum(off != (problem.y > 0)) and exact_loss(problem, problem.truth) == 0
    )
    chance = (1.0 + flipped.y * flipped.link(flipped.X @ flipped.truth)) / 2.0
    assert exact_loss(flipped, flipped.truth) == pytest.approx(-np.log(chance).sum(), abs=1e-3)
