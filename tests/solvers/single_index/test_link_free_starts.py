"""Starts of link-free refinement: links with several turns from few answers, and sparse signals without signs."""

import numpy as np
import pytest

import lrlab
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.solvers.single_index.link_free_rounds import Data
from lrlab.solvers.single_index.link_free_start import second_support


@pytest.mark.parametrize(("link", "seed"), [("sin 2z", 1002), ("sin 2z", 1005), ("cubic", 1004), ("cubic", 1016)])
def test_a_line_that_predicts_little_is_not_the_end(link, seed):
    """Errors of .66 to 1.3 before, five to twelve times those of maximum likelihood with the link."""
    trace = lrlab.solve(lrlab.spec("custom-link", link=link, n=300, seed=seed), "link-free-refinement")
    assert trace.stop in (lrlab.Stop.CONVERGED, lrlab.Stop.NO_MINIMUM) and trace.metrics["error"] < 0.3
    assert "spline" in trace.note


@pytest.mark.parametrize(("threshold", "seed"), [(1.0, 2006), (1.0, 2017), (0.3, 2001), (0.3, 2020), (0.3, 2029)])
def test_the_direction_of_all_data_has_the_support_of_the_others(threshold, seed):
    """Errors of 1.35 to 1.41 before, at a small held-out loss: that of the directions without a fold each."""
    spec = OneBitPhaseRetrieval(n=1000, p=200, sparsity=5, threshold=threshold, seed=seed)
    assert lrlab.solve(spec, "link-free-refinement").metrics["error"] < 0.1


def test_the_second_moment_finds_a_sparse_support():
    problem = OneBitPhaseRetrieval(n=1000, p=200, sparsity=5, seed=2006).build()
    answers = (problem.y + 1.0) / 2.0
    support = second_support(Data(problem.X, answers, 5), answers - answers.mean(), np.random.default_rng(1))
    assert support.sum() == 5 and np.square(problem.truth[support]).sum() > 0.9


def test_a_link_that_is_flat_at_all_answers_has_no_intervals():
    spec = OneBitPhaseRetrieval(
        n=4, p=2, threshold=0.01, noise=0.001, flip=0.3, design="rademacher", sparsity=2, seed=286179
    )
    assert np.isfinite(lrlab.solve(spec, "link-free-refinement").metrics["error"])
