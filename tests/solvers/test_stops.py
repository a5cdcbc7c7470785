"""What a run says of its end: CONVERGED is a claim, on easy problems and on hopeless ones."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from tests.sizes import sizes
from tests.thorough import a_third

SINGLE_INDEX = {"n": 300, "p": 10, "sparsity": 3}
EASY = {
    "one-bit-sensing": SINGLE_INDEX,
    "flipped-logistic": SINGLE_INDEX,
    "one-bit-phase-retrieval": SINGLE_INDEX,
    "custom-link": SINGLE_INDEX,
    "rank-one-sensing": {"m": 160, "d1": 8, "d2": 7, "rank": 2},
    "inductive-completion": {"n1": 30, "n2": 25, "d1": 6, "d2": 5, "rank": 2, "observed": 0.5},
    "multilabel-regression": {"n": 50, "d": 5, "labels": 10, "rank": 2, "observed": 0.6},
    "polynomial-network": {"m": 300, "p": 8, "r": 2},
    "phase-retrieval": {"m": 80, "p": 8},
    "multilabel": {"n": 80, "d": 7, "labels": 8, "rank": 2, "per_row": 2},
    "one-bit-multilabel": {"m": 500, "d1": 8, "d2": 6, "rank": 2},
}
HARD = {
    "one-bit-sensing": {"n": 16, "noise": 1.0},
    "flipped-logistic": {"n": 16, "flip": 0.2},
    "one-bit-phase-retrieval": {"n": 24, "noise": 1.0},
    "custom-link": {"n": 24, "flip": 0.2},
    "rank-one-sensing": {"m": 20, "noise": 0.1},
    "inductive-completion": {"observed": 0.02},
    "multilabel-regression": {"observed": 0.05},
    "polynomial-network": {"m": 10, "noise": 0.1},
    "phase-retrieval": {"m": 12, "noise": 0.1},
    "multilabel": {"n": 10, "observed": 0.4},
    "one-bit-multilabel": {"m": 60, "flip": 0.2},
}
"""Fewer measurements than unknowns, or answers that are mostly noise."""
CLAIMS = [(model, entry.name) for model in catalog.MODELS for entry in catalog.solvers_for(model)]
ENDS_OPTIMAL = {
    "one-bit-power": "the estimate agrees with every sign",
    "glm": "a Newton step changes the objective by rounding",
    "unbiased-logistic": "a Newton step changes the objective by rounding",
    "shift-logistic": "a Newton step changes the objective by rounding",
    "gauss-newton": "the cosine is within rounding of the objective",
    "tangent-descent": "the cosine is within rounding of the objective",
}
"""Solvers that claim to have converged when they end by themselves, and what they have tested."""


def stop_is_true(trace):
    """Ask that a run said to have converged has a residual of at most tol, or has tested what its solver says."""
    assert trace.stop is not None
    residual, name = trace.metrics["residual"] if trace.rows else np.nan, trace.job.solver
    if trace.stop is Stop.CONVERGED and not residual <= trace.job.limits.tol:
        assert name in ENDS_OPTIMAL
        newton = name in ("glm", "unbiased-logistic", "shift-logistic")
        assert np.isnan(residual) or residual**2 <= (1e-10 if newton else 64 * np.finfo(float).eps)
    elif trace.stop in (Stop.STALLED, Stop.FINISHED):
        assert not residual <= trace.job.limits.tol


@pytest.mark.parametrize(("model", "name"), a_third(CLAIMS))
def test_converged_is_said_of_small_residuals_only(model, name):
    """On hopeless problems; of those that can be solved, `test_a_run_of_any_solver_keeps_all_promises` asks it."""
    spec = catalog.spec(model, seed=1001, **sizes(model, EASY) | sizes(model, HARD))
    try:
        trace = lrlab.solve(spec, name, max_iter=40, max_seconds=20)
    except InputError as refusal:
        pytest.skip(f"refused: {refusal}")
    stop_is_true(trace)


@pytest.mark.parametrize("iterations", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_gauss_newton_does_not_converge_where_its_linear_problems_cannot_be_solved(iterations):
    """Five measurements more than degrees of freedom: stationary as far as the inner solves tell, and far off.

    Of 200 iterations it depends on the processor's rounding whether they lead to the truth in the end.
    """
    spec = lrlab.spec("rank-one-sensing", m=480, seed=2)
    trace = lrlab.solve(spec, "gauss-newton", max_iter=iterations, max_seconds=600)
    if iterations > 3 and trace.stop is Stop.CONVERGED:
        assert trace.metrics["error"] < 1e-8
    else:
        assert trace.stop in (Stop.STALLED, Stop.MAX_ITER) and trace.metrics["error"] > 1
    far = trace.table["error"] > 1
    assert trace.table["residual"][far].min() > 1e-6
