"""Moments and spiked predictions: against quadrature of the definition, the paper's figures and simulation."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from lrlab.models.index_family import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.solvers.single_index.class_moments import pair_moments
from lrlab.theory import spiked
from lrlab.theory.links import LogisticLink, SignLink, ThresholdLink

LINKS = [
    SignLink(0.0), SignLink(0.1), SignLink(2.0), LogisticLink(0.0, 0.1, 0.0), LogisticLink(0.5, 0.2, 1.5),
    LogisticLink(6.0, 0.0, -2.0), ThresholdLink(0.0, 1.0), ThresholdLink(0.3, 0.4), ThresholdLink(2.0, 2.0),
]  # fmt: skip


@pytest.mark.parametrize("link", LINKS, ids=repr)
def test_moments_are_the_integrals_they_are_defined_as(link):
    breaks = [-getattr(link, "threshold", 0.0), getattr(link, "threshold", 0.0), 0.0]
    for k, value in enumerate(link.moments):

        def integrand(z, k=k):
            return float(link(np.array(z))) * z**k * norm.pdf(z)

        expected, _ = quad(integrand, -10, 10, points=breaks, limit=400, epsabs=1e-11)
        assert value == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize("spec", [
    OneBitSensing(n=200_000, p=4, noise=0.5),
    FlippedLogistic(n=200_000, p=4, flip=0.1, intercept=1.0),
    OneBitPhaseRetrieval(n=200_000, p=4, threshold=1.0),
    OneBitPhaseRetrieval(n=200_000, p=4, threshold=0.3, noise=0.2),
], ids=repr)  # fmt: skip
@pytest.mark.parametrize("pairs", ["consecutive", "all"])
def test_lemma_3_2_and_corollary_3_3(spec, pairs):
    """E[M/4] = phi b b^T + (1 - mu_0^2) I and E[M'/4] = -phi b b^T + (1 + mu_0^2) I."""
    problem, (mu0, _, _), phi = spec.build(), spec.link_function.moments, spec.link_function.moments.phi
    for M, sign in zip(pair_moments(problem, pairs), (1.0, -1.0), strict=True):
        expected = sign * phi * np.outer(problem.truth, problem.truth) + (1 - sign * mu0**2) * np.eye(4)
        assert np.abs(M - expected).max() < 0.03


@pytest.mark.parametrize(("n", "noise", "threshold_ratio"), [(8000, 0.0, 9.87), (8000, math.sqrt(0.1), 11.94)])
def test_thresholds_of_one_bit_sensing(n, noise, threshold_ratio):
    prediction = spiked.predict(SignLink(noise).moments, n / 200)
    assert prediction.threshold == pytest.approx(threshold_ratio, abs=0.01)
    just_below = spiked.predict(SignLink(noise).moments, 0.999 * prediction.threshold)
    just_above = spiked.predict(SignLink(noise).moments, 1.001 * prediction.threshold)
    assert just_below.overlap == 0.0 < just_above.overlap < 0.01
    assert just_above.top == pytest.approx(just_below.top, rel=1e-3), "the eigenvalue leaves the bulk continuously"
