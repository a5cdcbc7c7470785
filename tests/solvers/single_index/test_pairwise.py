"""Algorithm 1: the moments by definition, its iterations, its choice between M and M', its refusals."""

import itertools

import numpy as np
import pytest

import lrlab
from lrlab.models.index_family import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.solvers.single_index.class_moments import pair_moments


def by_definition(X, y, pairs):
    n = len(y)
    chosen = list(zip(range(1, n, 2), range(0, n, 2), strict=False)) if pairs == "consecutive" else (
        list(itertools.combinations(range(n), 2))
    )  # fmt: skip
    M, M_agree = np.zeros((2, X.shape[1], X.shape[1]))
    for i, j in chosen:
        d = np.outer(X[i] - X[j], X[i] - X[j]) / 4 / len(chosen)
        M += (y[i] - y[j]) ** 2 * d
        M_agree += (y[i] + y[j]) ** 2 * d
    return M, M_agree


@pytest.mark.parametrize("pairs", ["consecutive", "all"])
@pytest.mark.parametrize("n", [40, 41])
def test_moments_equal_the_sums_of_the_paper(pairs, n):
    problem = FlippedLogistic(n=n, p=5, intercept=0.5).build()
    for fast, slow in zip(pair_moments(problem, pairs), by_definition(problem.X, problem.y, pairs), strict=True):
        assert np.allclose(fast, slow, atol=1e-12) and (fast == fast.T).all()


def test_the_objective_falls_and_ends_at_the_top_eigenvector():
    spec = OneBitSensing(n=3000, p=20)
    trace = lrlab.solve(spec, "pairwise-moment", tol=1e-10, max_iter=2000)
    objective = trace.table["objective"].to_numpy()
    assert trace.stop is Stop.CONVERGED
    assert (np.diff(objective) <= 1e-12).all()
    M = pair_moments(spec.build(), "consecutive")[0]
    values, vectors = np.linalg.eigh(M)
    assert objective[-1] == pytest.approx(-values[-1], rel=1e-12)
    assert abs(vectors[:, -1] @ trace.estimate) == pytest.approx(1.0, abs=1e-12)
    lanczos = lrlab.solve(spec, "pairwise-moment", eigensolver="lanczos")
    assert len(lanczos.rows) == 1 and abs(lanczos.estimate @ trace.estimate) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("threshold", "winner"), [(1.2, "M"), (0.25, "M'")])
def test_the_moment_with_the_gap_is_chosen(threshold, winner):
    spec = OneBitPhaseRetrieval(n=40_000, p=20, threshold=threshold)
    trace = lrlab.solve(spec, "pairwise-moment")
    assert trace.note.startswith(f"{winner} chosen: its largest eigenvalue stands out more, ")
    assert trace.metrics["overlap"] == pytest.approx(trace.metrics["limit_overlap"], abs=0.1)


@pytest.mark.slow
def test_all_pairs_are_better_than_consecutive_ones():
    errors = {
        pairs: np.median([
            lrlab.solve(OneBitSensing(n=3000, p=20, seed=seed), "pairwise-moment", pairs=pairs).metrics["error"]
            for seed in range(15)
        ])
        for pairs in ("consecutive", "all")
    }  # fmt: skip
    assert errors["all"] == pytest.approx(0.19, abs=0.04)
    assert errors["consecutive"] == pytest.approx(0.34, abs=0.06)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (OneBitSensing(n=39, p=20), r"n must be at least 2p = 40 for this solver, got 39: raise n or lower p to 19"),
        (OneBitPhaseRetrieval(threshold=0), "a constant on one-bit-phase-retrieval.*raise the threshold above 0"),
        (FlippedLogistic(flip=0.5), "a constant on flipped-logistic: lower the flip below 0.5"),
    ],
)
def test_what_cannot_work_is_refused_beforehand(spec, sentence):
    with pytest.raises(InputError, match=sentence):
        lrlab.solve(spec, "pairwise-moment")
