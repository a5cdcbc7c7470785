"""Guessed ranks: right where theory says so, said in the result, and given to every solver that takes a rank."""

import pytest

import lrlab

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
