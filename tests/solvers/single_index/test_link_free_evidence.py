"""The evidence of first and second moments, and link-free refinement where signals are weak."""

import os

import numpy as np
import pytest

import lrlab
from lrlab.models.flipped_logistic import FlippedLogistic
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.solvers.single_index.link_free_evidence import (
    Moments,
    Sums,
    first_moments,
    judged,
    likeliest,
    saddle_point,
    second_moments,
)
from lrlab.solvers.single_index.link_free_moves import sharpened
from lrlab.solvers.single_index.link_smoothing import COEFFICIENTS, LogOdds
from tests.weak_cells import drawn_cells

SOLVER = "link-free-refinement"
RIVALS = ("sir", "spectral-optimal")


def sums(spec):
    problem = spec.build()
    return Sums.of(problem.X, (problem.y + 1.0) / 2.0)


def overlap(spec, solver):
    try:
        return lrlab.solve(spec, solver).metrics["overlap"]
    except InputError:
        return 0.0


def test_the_saddle_point_is_where_the_mean_square_is_one():
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e3):
        w, pull = np.sort(scale * rng.standard_normal(7)), rng.random(7)
        s = saddle_point(w, pull)
        assert s > w[-1] and (1.0 / (s - w) + pull / (s - w) ** 2).sum() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("part", [first_moments, second_moments])
@pytest.mark.parametrize("model", [OneBitSensing(n=200, p=6, noise=3.0), OneBitPhaseRetrieval(n=200, p=6, flip=0.3)])
def test_the_evidence_is_the_mean_likelihood_of_all_directions(part, model):
    own, rng = sums(model), np.random.default_rng(1)
    B = rng.standard_normal((6, 100_000))
    B /= np.linalg.norm(B, axis=0)
    for hypothesis in part(own, np.sqrt(6 / 200)):
        W, h = hypothesis.quadratic(own)
        log = (B * (W @ B)).sum(axis=0) / 2.0 + h @ B + hypothesis.constant(own)
        exact = np.log(np.exp(log - log.max()).mean()) + log.max()
        weights = np.exp(log - log.max())
        result = judged(own, hypothesis)
        if result.overlap < 0.9:
            assert result.evidence == pytest.approx(exact, abs=0.25)
            top = np.linalg.eigvalsh((B * weights) @ B.T / weights.sum())[-1]
            assert result.overlap == pytest.approx(top, abs=0.12)


def test_directions_are_a_ridge_regression_and_an_eigenvector():
    own = sums(OneBitSensing(n=300, p=20, noise=2.0))
    moments = Moments.of(own)
    W, h = moments.first[0].hypothesis.quadratic(own)
    b = np.linalg.solve(moments.first[0].saddle * np.eye(20) - W, h)
    assert moments.first[0].direction(own) == pytest.approx(b / np.linalg.norm(b))
    W, h = moments.second[2].hypothesis.quadratic(own)
    assert not h.any() and abs(moments.second[2].direction(own) @ np.linalg.eigh(W)[1][:, -1]) == pytest.approx(1.0)


def test_a_link_that_is_flat_to_rounding_is_not_sharpened():
    slope = 1e-160 * np.linspace(-1.0, 1.0, COEFFICIENTS)
    assert sharpened(LogOdds(slope), np.linspace(-2.0, 2.0, 30), 20).coefficients == pytest.approx(slope, rel=1e-9)


@pytest.mark.parametrize("seed", range(20000, 20003))
def test_a_weak_signal_ends_by_itself(seed):
    """It stood at the limit of 200 iterations in most runs, with the advice to raise it."""
    trace = lrlab.solve(OneBitSensing(n=1000, p=25, noise=10.0, seed=seed), SOLVER)
    assert trace.stop in (Stop.CONVERGED, Stop.FINISHED) and len(trace.rows) < 60


def weak(spec, seeds):
    """Return overlaps (seeds, 4): link-free, of the moment that carries the link, and of the rivals."""
    mu0, mu1, mu2 = spec.link_function.moments
    rows = []
    for seed in range(20000, 20000 + seeds):
        own = spec.replace(seed=seed)
        problem = own.build()
        answered = Sums.of(problem.X, (problem.y + 1.0) / 2.0)
        moments = Moments.of(answered)
        part = moments.first if abs(mu1) > abs(mu2 - mu0) / 2.0 else moments.second
        right = (likeliest(part).direction(answered) @ problem.truth) ** 2
        rows.append([overlap(own, SOLVER), right, *(overlap(own, rival) for rival in RIVALS)])
    return np.array(rows)


ISSUE = [
    OneBitSensing(noise=10.0, n=2000, p=50),
    FlippedLogistic(intercept=2.0, flip=0.3, n=2000, p=50),
    OneBitPhaseRetrieval(n=100, p=50),
]
"""The overlaps were .10, .17 and .24 before, those of the rivals .22, .27 and .42."""


@pytest.mark.slow
def test_weak_signals():
    """LRLAB_WEAK_SEEDS=60 measures all cells with so many seeds each, and prints the table."""
    seeds = int(os.environ.get("LRLAB_WEAK_SEEDS", "0"))
    cells, ratios = ISSUE + drawn_cells(30 if seeds else 3), []
    for spec in cells:
        rows = weak(spec, seeds or 6)
        mean, rival = rows.mean(axis=0), rows[:, 2:].mean(axis=0).argmax() + 2
        error = (rows[:, :2] - rows[:, [rival]]).std(axis=0) / np.sqrt(len(rows))
        ratios.append(mean[0] / mean[rival])
        print(f"{spec}: link-free {mean[0]:.3f}, right moment {mean[1]:.3f}, best {mean[rival]:.3f} ({error[0]:.3f})")
        assert mean[1] > 0.95 * mean[rival] - 2.5 * error[1], spec
    assert not seeds or np.mean(ratios) > 0.9
