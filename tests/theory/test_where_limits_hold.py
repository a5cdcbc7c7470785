"""Where theory is not drawn, since it does not hold: few entries, noise, and axes along which success turns."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.models.low_rank_theory import theory_lines
from lrlab.spectra import moments
from lrlab.sweeps.adaptive import SolverGrid
from lrlab.sweeps.definition import Span, Sweep


@pytest.mark.parametrize("worse", [{"noise": 0.5}, {"outliers": 0.2}])
def test_the_statistical_dimension_is_drawn_of_exact_measurements_alone(worse):
    spec = lrlab.spec("rank-one-sensing", d1=14, d2=14, rank=1, operator="dense")
    entry = catalog.solver("nuclear-norm", spec.model)
    assert "statistical dimension" in theory_lines(spec, entry, {}, None)
    assert "statistical dimension" not in theory_lines(spec.replace(**worse), entry, {}, None)


def test_maps_infer_nothing_from_noise_where_some_of_it_helps():
    """At threshold .7, p = 5 and n = 32,000 the pairwise moment succeeds in .10 of trials without noise, .95 at 1."""
    axes = {"noise": Span(0.0, 1.4, 3), "n": Span(500, 32_000, 3, "log")}
    for model, first in (("one-bit-phase-retrieval", 0), ("custom-link", 0), ("one-bit-sensing", -1)):
        sweep = Sweep(spec=lrlab.spec(model, p=5), axes=axes, solvers=["pairwise-moment"])
        assert SolverGrid(sweep, "pairwise-moment").search.directions == (first, 1)


SIZES = [
    *((model, axis, at, {}) for model, axis, at in (
        ("rank-one-sensing", "m", 1000),
        ("inductive-completion", "observed", 0.006),
        ("multilabel-regression", "observed", 0.03),
        ("polynomial-network", "m", 3000),
    )),
    ("rank-one-sensing", "m", 8525, {"d1": 32, "d2": 40, "rank": 3}),
    ("rank-one-sensing", "m", 885, {"d1": 21, "d2": 14, "rank": 5}),
    ("rank-one-sensing", "m", 2129, {"d1": 41, "d2": 12, "rank": 1}),
    ("polynomial-network", "m", 8634, {"p": 72, "r": 3}),
    ("polynomial-network", "m", 1336, {"p": 66, "r": 5}),
    ("inductive-completion", "observed", 0.4, {"n1": 161, "n2": 115, "d1": 29, "d2": 11, "rank": 4}),
    ("inductive-completion", "observed", 0.02, {"n1": 250, "n2": 190, "d1": 59, "d2": 13, "rank": 5, "noise": 0.5}),
    ("multilabel-regression", "observed", 0.4, {"n": 450, "d": 38, "labels": 58, "rank": 2}),
    ("multilabel-regression", "observed", 0.4, {"n": 430, "d": 13, "labels": 49, "rank": 1, "noise": 0.5}),
    ("multilabel-regression", "observed", 0.1, {"n": 350, "d": 23, "labels": 45, "rank": 5}),
]  # fmt: skip
"""The defaults, and ten drawn sizes."""


@pytest.mark.slow
def test_a_gap_is_predicted_within_a_tenth_or_not_at_all():
    shown = []
    for model, axis, at, more in SIZES:
        spec = lrlab.spec(model, seed=9200, **more)
        [limit] = moments.predictions(spec, axis, [at]).to_dict("records")
        gap = limit["smallest"] - limit["edge"]
        if not np.isnan(gap):
            drawn = moments.compare(moments.moments(spec, axis, [at], 10)).iloc[0]
            assert gap == pytest.approx(drawn.mean_gap, rel=0.1), (model, more)
            assert limit["overlap"] == pytest.approx(drawn.mean_overlap, abs=0.05)
            shown.append(model)
    assert len(shown) >= 5
