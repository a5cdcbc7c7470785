"""Guessed ranks: right where theory says so, said in the result, and given to every solver that takes a rank."""

import pytest

import lrlab
from lrlab.engine.solve import solve
from lrlab.runs.run import trial_spec
from tests.thorough import a_third

SENSING = lrlab.spec("rank-one-sensing", m=500, d1=20, d2=18, rank=3, seed=1000)
SPECS = [
    SENSING,
    SENSING.replace(condition=10, m=400),
    SENSING.replace(operator="dense"),
    lrlab.spec("polynomial-network", p=30, r=3, m=400, condition=10, seed=1001),
    lrlab.spec("inductive-completion", n1=80, n2=70, d1=15, d2=12, rank=2, observed=0.06, condition=10, seed=1002),
    lrlab.spec("inductive-completion", n1=50, n2=50, rank=2, features="canonical", observed=0.3, seed=1002),
    lrlab.spec("multilabel-regression", n=100, d=10, labels=20, rank=2, observed=0.2, seed=1003),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
def test_numbers_held_out_find_the_rank(spec):
    assert spec.replace(rank_guess="held-out").build().rank == spec.true_rank


def test_the_result_says_what_was_guessed_and_solvers_without_a_rank_guess_nothing():
    spec = SENSING.replace(rank_guess="held-out")
    trace = lrlab.solve(spec, "gauss-newton")
    assert trace.metrics["guessed_rank"] == 3 and trace.metrics["error"] < 1e-10
    assert "Guessed rank 3 (held-out); the true one is 3." in trace.summary()["message"]
    assert "too small" not in trace.summary()["message"] and "rank" not in trace.job.given
    small = lrlab.solve(spec.replace(assumed_rank=2), "altmin").summary()
    assert small["metrics"]["guessed_rank"] == 2 and "the guessed rank 2 is too small" in small["message"]
    assert "guessed_rank" not in lrlab.solve(spec, "nuclear-norm", max_iter=5).metrics


TABLE = lrlab.spec("inductive-completion", features="canonical", n1=80, n2=80, rank=2, observed=0.148, seed=31000)
"""Three times the degrees of freedom."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver", a_third(["gauss-newton", "tangent-descent", "matrix-irls", "altmin", "scaled-gradient"])
)
@pytest.mark.parametrize("assumed", [3, 6])
def test_a_rank_assumed_up_to_three_times_too_large_is_no_obstacle(solver, assumed):
    """Of ten with this rank itself: Gauss-Newton recovered 5, tangent descent, altmin and scaled-gradient at most 2."""
    traces = [solve(trial_spec(TABLE.replace(assumed_rank=assumed), trial), solver) for trial in range(10)]
    assert sum(trace.metrics["weakest_error"] < 0.1 for trace in traces) >= 9


def test_noise_leaves_the_rank_to_numbers_held_out_and_too_much_of_it_to_the_one_that_is_assumed():
    spec = lrlab.spec("rank-one-sensing", d1=20, d2=20, rank=2, m=600, assumed_rank=5, seed=31000)
    assert spec.replace(noise=0.1).build().rank == 2 and spec.replace(noise=3.0).build().rank == 5


@pytest.mark.parametrize("solver", ["gauss-newton", "tangent-descent", "scaled-gradient"])
def test_a_rank_assumed_too_small_ends_honestly(solver):
    trace = solve(TABLE.replace(assumed_rank=1), solver)
    assert trace.stop.name in ("CONVERGED", "STALLED"), trace.stop
    assert "the assumed rank 1 is too small" in trace.summary()["message"]


def test_a_single_measurement_leaves_none_to_hold_out():
    spec = lrlab.spec("multilabel-regression", n=2, d=1, labels=1, observed=0.5, rank=1, rank_guess="held-out")
    assert spec.build().rank == 1
