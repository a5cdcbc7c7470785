"""Low-rank models: what is drawn, scored, refused and guessed, and that a run ends inside a long product."""

import json
import math
import re

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.__main__ import main
from lrlab.engine.solve import solve
from lrlab.model_entry import Outcome
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job, trial_spec
from tests.thorough import a_third

SMALL = {
    "rank-one-sensing": {"m": 300, "d1": 12, "d2": 9, "rank": 3, "condition": 10},
    "inductive-completion": {"n1": 60, "n2": 50, "d1": 7, "d2": 6, "rank": 3, "observed": 0.2, "condition": 10},
    "multilabel-regression": {"n": 80, "d": 6, "labels": 15, "rank": 3, "observed": 0.3, "condition": 10},
    "polynomial-network": {"m": 300, "p": 10, "r": 3, "condition": 10},
}


@pytest.mark.parametrize("model", SMALL)
def test_the_truth_is_as_requested_and_scores_are_those_of_whole_matrices(model):
    spec = lrlab.spec(model, **SMALL[model])
    problem, other = spec.build(), spec.replace(seed=1).build().truth
    T, s, W = problem.truth.dense(), np.abs(problem.truth.s), other.dense()
    assert T.shape == spec.size and np.linalg.matrix_rank(T) == 3
    assert s.max() / s.min() == pytest.approx(10) and np.linalg.norm(T) == pytest.approx(spec.norm)
    np.testing.assert_allclose(np.sort(s), np.sort(spec.singular_values))
    exact, scores = problem.score(problem.truth), problem.score(other)
    assert max(exact[name] for name in ("error", "spectral_error", "misfit")) < 1e-14
    assert scores["error"] == pytest.approx(np.linalg.norm(W - T) / np.linalg.norm(T))
    assert scores["spectral_error"] == pytest.approx(np.linalg.norm(W - T, 2) / np.linalg.norm(T, 2))
    rest = problem.operator(other) - problem.b
    assert scores["misfit"] == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(problem.b))
    if hasattr(spec, "m"):
        few, many = (spec.replace(m=m).build() for m in (200, 5000))
        np.testing.assert_array_equal(few.operator.X, many.operator.X[:200])
        np.testing.assert_allclose(few.b, many.b[:200])


def test_unobserved_rows_are_predicted_from_features():
    spec = lrlab.spec("inductive-completion", n1=200, n2=200, d1=8, d2=8, rank=2, observed=0.01)
    trace = lrlab.solve(spec, "altmin")
    assert len(trace.problem.cold) > 5 and trace.metrics["cold_error"] < 1e-6
    plain = lrlab.solve(spec.replace(features="canonical"), "als", max_iter=50)
    assert plain.metrics["error"] > 0.5, "as many entries do not suffice where nothing else is known"


INNER = [
    ("rank-one-sensing", "gauss-newton", {}),
    ("rank-one-sensing", "altmin", {"inner": "inexact"}),
    ("inductive-completion", "matrix-irls", {}),
    ("inductive-completion", "complete-then-regress", {}),
    ("polynomial-network", "nuclear-norm", {}),
    ("polynomial-network", "ap-rom", {}),
    # Initializations of phase retrieval.
    *(("phase-retrieval", entry.name, {}) for entry in catalog.solvers_for("phase-retrieval")),
]


@pytest.mark.parametrize(("model", "name", "options"), INNER, ids=[f"{m}-{n}" for m, n, _ in INNER])
def test_a_cancelled_run_ends_before_its_next_product_with_the_data(model, name, options):
    """In the middle of an iteration, however many products it has: no more are begun once a run is cancelled."""
    updates = []
    plain = {"features": "canonical"} if name == "matrix-irls" else {}
    job = make_job(catalog.spec(model, **SMALL.get(model, {}), **plain), name, tol=0, **options)
    for most in (3, 17):
        updates.clear()
        trace = run_job(job, progress=updates.append, cancelled=lambda most=most: len(updates) > most)
        assert trace.stop is Stop.CANCELLED and len(updates) == most + 1
        if model == "phase-retrieval":
            assert updates == sorted(updates) and 0 <= updates[0] and updates[-1] < 1


@pytest.mark.parametrize(
    ("model", "few", "enough", "sentence"),
    [
        ("rank-one-sensing", {"m": 474}, {"m": 475}, r"Fewer measurements \(474\) than degrees of freedom \(475\)"),
        ("polynomial-network", {"m": 489}, {"m": 490}, r"Fewer measurements \(489\) than degrees of freedom \(490\)"),
        ("multilabel-regression", {"n": 19, "observed": 1.0}, {"n": 20, "observed": 1.0}, "Fewer points .n = 19"),
        ("multilabel", {"n": 99}, {"n": 100}, r"Fewer samples \(n = 99\) than features \(d = 100\)"),
    ],
)
def test_too_few_measurements_are_said_before_the_run_and_in_its_result(model, few, enough, sentence, capsys):
    spec = catalog.spec(model, **few)
    assert re.match(sentence, spec.remark) and not catalog.spec(model, **enough).remark
    values = [f"--set={name}={value}" for name, value in few.items()]
    solver = "leml-squared" if model == "multilabel" else "gauss-newton"
    assert main(["solve", model, "--solver", solver, "--set=max_iter=1", "--json", *values]) == 0
    said = capsys.readouterr()
    assert said.err == spec.remark + "\n" and spec.remark in json.loads(said.out)["message"]


def test_solvers_are_given_an_assumed_rank_and_a_misfit_shows_that_it_is_too_small():
    spec = lrlab.spec("rank-one-sensing", m=500, d1=14, d2=12, rank=3)
    small, right, large = (lrlab.solve(spec.replace(assumed_rank=k), "tangent-descent") for k in (2, 3, 4))
    assert [len(trace.estimate.s) for trace in (small, right, large)] == [2, 3, 3]
    assert "the assumed rank 2 is too small" in small.summary()["message"]
    assert "Solvers are given the rank 2; the true one is 3." in small.summary()["message"]
    assert right.metrics["error"] < 1e-10 and "rank" not in right.summary()["message"]
    assert right.metrics["error"] == lrlab.solve(spec, "tangent-descent").metrics["error"]
    assert large.metrics["error"] < 1e-10 and large.metrics["guessed_rank"] == 3
    assert "Rank 3 is the least up to 4 that fits." in large.summary()["message"]
    with pytest.raises(InputError, match=r"assumed_rank must be in 0\.\.min\(14, 12\) = 12, got 13"):
        spec.replace(assumed_rank=13)


def test_what_misses_its_weakest_direction_is_no_success():
    spec = lrlab.spec("rank-one-sensing", m=900, d1=30, d2=30, rank=3, condition=1e4)
    problem = spec.build()
    truth = problem.truth
    partial = problem.score(truth.truncated(2))
    assert partial["spectral_error"] < 0.05, "what counted as a success"
    assert partial["weakest_error"] == pytest.approx(1.0)
    whole = problem.score(truth)
    assert whole["weakest_error"] < 1e-9
    goal = catalog.family(spec.model).goal
    assert whole[goal.metric] < goal.below < partial[goal.metric]
    assert "smallest singular value" in catalog.family(spec.model).measures[goal.metric].title
    verdict = catalog.family(spec.model).verdict(spec, [Outcome("x", "x", partial, 1, True, {}, {})])
    assert "recovered by 0 of 1" in verdict


PLAIN = lrlab.spec("inductive-completion", features="canonical", n1=100, n2=100, rank=1, seed=31000)
TABLES = [
    PLAIN.replace(observed=2.2 * 199 / 100**2),
    PLAIN.replace(n1=30, n2=300, rank=2, observed=2.2 * 656 / 9000),
    lrlab.spec("multilabel-regression", n=100, d=5, labels=40, rank=2, observed=0.05, seed=31000),
]


def scarce(spec):
    operator, k = spec.build().operator, spec.true_rank
    columns = np.bincount(operator.columns, minlength=spec.table[1])
    rows = np.bincount(operator.rows, minlength=spec.table[0])
    return int((columns < k).sum()) + (0 if operator.X is not None else int((rows < k).sum()))


@pytest.mark.parametrize("spec", TABLES, ids=lambda spec: f"{spec.model}-{spec.true_rank}")
def test_the_expected_number_of_scarce_rows_is_their_mean_and_stands_in_the_remark(spec):
    counts = [scarce(trial_spec(spec, trial)) for trial in range(200)]
    spread = np.std(counts) / math.sqrt(len(counts))
    assert spec.scarce_rows == pytest.approx(np.mean(counts), abs=4 * spread)
    assert f"About {spec.scarce_rows:.2g} rows and columns are expected to have fewer observed entries" in spec.remark
    wrong = spec.replace(assumed_rank=3).remark
    assert wrong.startswith(spec.remark) and "the true one is" in wrong
    assert "expected" not in spec.replace(observed=0.9).remark


SENSING = lrlab.spec("rank-one-sensing", m=500, d1=20, d2=18, rank=3, seed=1000)
NOISY = lrlab.spec("rank-one-sensing", d1=20, d2=20, rank=2, m=600, assumed_rank=5, seed=31000)
HELD_OUT = [
    *((spec.replace(rank_guess="held-out"), spec.true_rank) for spec in (
        SENSING, SENSING.replace(condition=10, m=400), SENSING.replace(operator="dense"),
        lrlab.spec("polynomial-network", p=30, r=3, m=400, condition=10, seed=1001),
        lrlab.spec("inductive-completion", n1=80, n2=70, d1=15, d2=12, rank=2, observed=0.06, condition=10, seed=1002),
        lrlab.spec("inductive-completion", n1=50, n2=50, rank=2, features="canonical", observed=0.3, seed=1002),
        lrlab.spec("multilabel-regression", n=100, d=10, labels=20, rank=2, observed=0.2, seed=1003),
        # A single measurement leaves none to hold out.
        lrlab.spec("multilabel-regression", n=2, d=1, labels=1, observed=0.5, rank=1),
    )),
    # Too much noise leaves the assumed rank.
    (NOISY.replace(noise=0.1), 2), (NOISY.replace(noise=3.0), 5),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "rank"), HELD_OUT, ids=str)
def test_measurements_held_out_find_the_rank(spec, rank):
    assert spec.build().rank == rank


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


@pytest.mark.parametrize("solver", ["gauss-newton", "tangent-descent", "scaled-gradient"])
def test_a_rank_assumed_too_small_ends_honestly(solver):
    trace = solve(TABLE.replace(assumed_rank=1), solver)
    assert trace.stop.name in ("CONVERGED", "STALLED"), trace.stop
    assert "the assumed rank 1 is too small" in trace.summary()["message"]
