"""An assumed rank is the largest one: solvers take the least of which a matrix is seen to fit."""

import pytest

import lrlab
from lrlab.runs.run import solve
from lrlab.runs.trial import trial_spec
from tests.thorough import a_third

TABLE = lrlab.spec("inductive-completion", features="canonical", n1=80, n2=80, rank=2, observed=0.148, seed=31000)
"""Three times the degrees of freedom."""


def recovered(spec, solver):
    return [solve(trial_spec(spec, trial), solver).metrics["weakest_error"] < 0.1 for trial in range(10)]


@pytest.mark.parametrize(
    "solver", a_third(["gauss-newton", "tangent-descent", "matrix-irls", "altmin", "scaled-gradient"])
)
@pytest.mark.parametrize("assumed", [3, 6])
def test_a_rank_assumed_up_to_three_times_too_large_is_no_obstacle(solver, assumed):
    """Of ten: Gauss-Newton recovered 5, tangent descent, altmin and scaled-gradient at most 2."""
    assert sum(recovered(TABLE.replace(assumed_rank=assumed), solver)) >= 9


def test_noise_leaves_the_rank_to_numbers_held_out_and_too_much_of_it_to_the_one_that_is_assumed():
    spec = lrlab.spec("rank-one-sensing", d1=20, d2=20, rank=2, m=600, assumed_rank=5, seed=31000)
    assert spec.replace(noise=0.1).build().rank == 2 and spec.replace(noise=3.0).build().rank == 5


@pytest.mark.parametrize("solver", ["gauss-newton", "tangent-descent", "scaled-gradient"])
def test_a_rank_assumed_too_small_ends_honestly(solver):
    trace = solve(TABLE.replace(assumed_rank=1), solver)
    assert trace.stop.name in ("CONVERGED", "STALLED"), trace.stop
    assert "the assumed rank 1 is too small" in trace.summary()["message"]
