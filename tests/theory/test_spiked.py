"""Draws of the eigenvalues of the pairwise moment at finite n and p, against simulated measurements."""

import pytest
from scipy.stats import ks_2samp

import lrlab
from lrlab.spectra import pairwise
from lrlab.theory.spiked import finite_moment

SPECS = (
    lrlab.spec("one-bit-sensing", n=400, p=12, noise=0.5),
    lrlab.spec("one-bit-phase-retrieval", n=300, p=8, threshold=0.4),
    lrlab.spec("flipped-logistic", n=60, p=40, intercept=1.0),
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
def test_draws_have_the_law_of_simulated_measurements(spec):
    table = pairwise.spectrum(spec, "n", [spec.n], trials=150)
    for moment in ("M", "M'"):
        drawn, own = finite_moment(spec.link_function, spec.n, spec.p, moment, 600), table[table["moment"] == moment]
        simulated = own[own["rank"] == 1]["value"], own[own["rank"] == 2]["value"], own[own["rank"] == 1]["overlap"]
        for one, other in zip(drawn, simulated, strict=True):
            assert ks_2samp(one, other).pvalue > 1e-3


def test_the_edge_is_centred_on_the_largest_eigenvalue_of_noise():
    spec = lrlab.spec("flipped-logistic", flip=0.5)
    row = pairwise.predictions(spec, "flip", [0.5]).iloc[0]
    drawn = finite_moment(spec.link_function, spec.n, spec.p, "M", 1000)
    # The asymptotic edge is off by 3.5% at p = 20.
    assert row["top"] == pytest.approx(drawn.top.mean(), rel=0.015)
    assert row["second"] == pytest.approx(drawn.second.mean(), rel=0.015) and row["second"] < 0.97 * row["top"]


def test_bands_follow_the_informative_moment_and_end_where_theory_does():
    phase = lrlab.spec("one-bit-phase-retrieval", n=300, p=8)
    bands = pairwise.bands(phase, "threshold", [0.3, 1.2], draws=50)
    assert list(bands["moment"]) == ["M'", "M"] and (bands["low_top"] < bands["high_top"]).all()
    assert bands.equals(pairwise.bands(phase, "threshold", [0.3, 1.2], draws=50)), "the same draws every time"
    assert pairwise.bands(phase.replace(design="rademacher"), "threshold", [1.2]).empty
    assert pairwise.bands(phase, "p", [400]).empty
