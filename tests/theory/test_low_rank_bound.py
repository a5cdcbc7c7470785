"""The Cramer-Rao bound of low-rank matrices: against closed forms, whole matrices, and what solvers reach."""

import numpy as np
import pytest

import lrlab
from lrlab import lowrank
from lrlab.runs.run import trial_spec
from lrlab.theory.cramer_rao import images, least_error
from tests.thorough import a_third

SPECS = [
    lrlab.spec("rank-one-sensing", d1=12, d2=10, rank=2, m=300, noise=0.05, condition=3, seed=31000),
    lrlab.spec("polynomial-network", p=14, r=2, m=300, noise=0.05, condition=3, seed=31000),
    lrlab.spec("inductive-completion", n1=40, n2=30, d1=8, d2=6, rank=2, observed=0.3, noise=0.05, seed=31000),
    lrlab.spec(
        "inductive-completion", features="canonical", n1=30, n2=25, rank=2, observed=0.6, noise=0.05, seed=31000
    ),
]
IDS = [f"{spec.model}-{spec.size[0]}" for spec in SPECS]


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_the_basis_is_that_of_the_tangent_space(spec):
    """Moved along it, W keeps its rank to first order: as many directions as the rank has unknowns."""
    problem = spec.build()
    A, W = problem.operator, problem.truth
    J = np.array(list(images(A, W)))
    assert len(J) == spec.degrees_of_freedom == np.linalg.matrix_rank(J)
    rng, step = np.random.default_rng(0), 1e-6
    U, V = (F + step * rng.standard_normal(F.shape) for F in (W.U, W.V))
    near = lowrank.from_symmetric(U * W.s @ U.T, 2) if A.symmetric else lowrank.from_product(U * W.s, V, 2)
    moved = A(near) - A(W)
    outside = moved - J.T @ np.linalg.lstsq(J.T, moved, rcond=None)[0]
    assert np.linalg.norm(outside) < 1e-4 * np.linalg.norm(moved)


@pytest.mark.slow
@pytest.mark.parametrize("spec", a_third(SPECS), ids=IDS)
def test_least_squares_reaches_it_on_average_where_noise_is_small_and_nothing_is_below(spec):
    ratios = []
    for trial in range(30):
        trace = lrlab.solve(trial_spec(spec.replace(noise=0.01), trial), "gauss-newton")
        bound = least_error(trace.problem.operator, trace.problem.truth, 0.01)
        ratios.append((trace.metrics["error"] / bound) ** 2)
    assert 1 - 4 * np.std(ratios) / np.sqrt(30) < np.mean(ratios) < 1.15
