"""Where theory is not drawn, since it does not hold: few entries, noise, and axes along which success turns."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.models.low_rank_theory import noise_bound, theory_lines
from lrlab.solvers.single_index import gamp
from lrlab.spectra import moments
from lrlab.sweeps.adaptive import SolverGrid
from lrlab.sweeps.definition import Span, Sweep
from lrlab.theory.low_rank_bound import least_error


def test_no_curve_of_gamp_is_drawn_for_few_entries():
    few = lrlab.spec("one-bit-sensing", n=60, p=100, sparsity=1, noise=1.0)
    options = dict(catalog.solver("gamp", few.model).settle({}).options)
    assert gamp.predict_iterations(few, options, 5) == []
    assert len(gamp.predict_iterations(few.replace(sparsity=40), options, 5)) == 5


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


MOMENTS = {
    "rank one": ("rank-one-sensing", "m", 3000, {"d1": 30, "d2": 30, "rank": 1}),
    "wide": ("rank-one-sensing", "m", 3000, {"d1": 20, "d2": 100, "rank": 1, "operator": "dense"}),
    "tall": ("rank-one-sensing", "m", 3000, {"d1": 100, "d2": 20, "rank": 1, "operator": "dense"}),
    "conditioned": ("rank-one-sensing", "m", 8000, {"d1": 40, "d2": 20, "rank": 3, "condition": 3.0, "noise": 0.5}),
    "network": ("polynomial-network", "m", 8000, {"p": 60, "r": 3}),
    "features": ("inductive-completion", "observed", 0.3, {"n1": 100, "n2": 80, "d1": 20, "d2": 20, "rank": 2}),
    "labels": ("multilabel-regression", "observed", 1.0, {"n": 200, "d": 20, "labels": 40, "rank": 2, "noise": 0.5}),
}


@pytest.mark.parametrize("case", MOMENTS)
def test_the_moment_errs_as_its_own_noise_has_it(case):
    """1 - overlap within a fifth, where equal variances would be off by factors of 2 to 10."""
    model, axis, at, more = MOMENTS[case]
    spec = lrlab.spec(model, seed=9173, **more)
    drawn = moments.compare(moments.moments(spec, axis, [at], 20), moments.ranks(spec, axis, [at])).iloc[0]
    [limit] = moments.predictions(spec, axis, [at]).to_dict("records")
    noise = 3.0 * drawn.sd_overlap / np.sqrt(drawn.trials)
    assert 1.0 - drawn.mean_overlap == pytest.approx(1.0 - limit["overlap"], rel=0.2, abs=noise)
    assert drawn.mean_next == pytest.approx(limit["edge"], rel=0.12)


def test_no_limit_is_drawn_where_entries_of_the_moment_differ():
    spec = lrlab.spec("inductive-completion", n1=100, n2=80, features="canonical", rank=2, observed=0.2)
    [limit] = moments.predictions(spec, "observed", [0.2]).to_dict("records")
    assert np.isnan([limit["overlap"], limit["edge"], limit["largest"]]).all() and limit["true_largest"] > 0


def test_the_bound_of_the_noise_is_a_mean_over_many_draws_where_they_differ():
    spec = lrlab.spec("polynomial-network", p=8, r=1, m=14, noise=1e-3)
    problems = (spec.replace(seed=1000 + seed).build() for seed in range(200))
    fresh = [least_error(problem.operator, problem.truth, spec.noise) for problem in problems]
    assert noise_bound(spec)["bound_error"] == pytest.approx(np.sqrt(np.mean(np.square(fresh))), rel=0.35)
