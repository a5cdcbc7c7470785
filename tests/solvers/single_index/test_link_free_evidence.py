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
from lrlab.solvers.single_index.link_free_start import STRENGTHS, Sums, hypotheses
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


@pytest.mark.parametrize("seed", range(20000, 20003))
def test_a_weak_signal_ends_by_itself(seed):
    """It stood at the limit of 200 iterations in most runs, with the advice to raise it."""
    trace = lrlab.solve(OneBitSensing(n=1000, p=25, noise=10.0, seed=seed), SOLVER)
    assert trace.stop in (Stop.CONVERGED, Stop.FINISHED) and len(trace.rows) < 60


def weak(spec, seeds):
    """Return overlaps (seeds, 3): of the moment that carries the link, and of the rivals."""
    mu0, mu1, mu2 = spec.link_function.moments
    rows = []
    for own in (spec.replace(seed=seed) for seed in range(20000, 20000 + seeds)):
        answered, candidates = sums(own), hypotheses(sums(own))
        part = candidates[:STRENGTHS] if abs(mu1) > abs(mu2 - mu0) / 2.0 else candidates[STRENGTHS:]
        right = max(part, key=lambda hypothesis: hypothesis.evidence).direction(answered) @ own.build().truth
        rows.append([right**2, *(overlap(own, rival) for rival in RIVALS)])
    return np.array(rows)


ISSUE = [
    OneBitSensing(noise=10.0, n=2000, p=50),
    FlippedLogistic(intercept=2.0, flip=0.3, n=2000, p=50),
    OneBitPhaseRetrieval(n=100, p=50),
]
"""The overlaps were .10, .17 and .24 before, those of the rivals .22, .27 and .42."""


@pytest.mark.slow
def test_weak_signals():
    """LRLAB_WEAK_SEEDS=60 measures all cells with so many seeds each, link-free too, and prints the table."""
    seeds = int(os.environ.get("LRLAB_WEAK_SEEDS", "0"))
    cells, ratios = ISSUE + drawn_cells(30 if seeds else 3), []
    for spec in cells:
        rows = weak(spec, seeds or 6)
        mean, rival = rows.mean(axis=0), rows[:, 1:].mean(axis=0).argmax() + 1
        error = (rows[:, 0] - rows[:, rival]).std() / np.sqrt(len(rows))
        assert mean[0] > 0.95 * mean[rival] - 2.5 * error, spec
        if seeds:
            own = np.mean([overlap(spec.replace(seed=seed), SOLVER) for seed in range(20000, 20000 + seeds)])
            ratios.append(own / mean[rival])
            print(f"{spec}: link-free {own:.3f}, right moment {mean[0]:.3f}, best {mean[rival]:.3f} ({error:.3f})")
    assert not seeds or np.mean(ratios) > 0.9
