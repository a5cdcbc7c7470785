"""Nuclear-norm multi-label learning: optima by their subgradients."""

from functools import partial

import numpy as np
import pytest

from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.protocol import Stop
from lrlab.solvers.multilabel import labels as label_tables
from lrlab.solvers.multilabel.label_losses import LOGISTIC, SQUARED
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.multilabel.trace_norm import trace_norm
from tests.solvers import driving

SOLVERS = {loss: partial(trace_norm, loss=loss) for loss in ("squared", "logistic")}
LOSSES = {"squared": SQUARED, "logistic": LOGISTIC}
SPECS = driving.SPECS | {"wide": driving.SPEC.replace(d=5, labels=12)}
every_loss = pytest.mark.parametrize("name", list(SOLVERS))
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(label_tables, "BLOCK", 150)


def run(name, problem, **options):
    return driving.run(SOLVERS[name], problem, max_iter=3000, **options)


def smooth(problem, name, W):
    """Return the loss and its gradient by their definitions, from dense tables."""
    X, observed = driving.dense(problem.X), driving.observed_of(problem)
    a, b = LOSSES[name].coded(problem.Y.toarray()), X @ W
    if name == "squared":
        return (observed * (a - b) ** 2).sum() / 2, X.T @ (observed * (b - a))
    return (observed * np.log1p(np.exp(-a * b))).sum(), X.T @ (observed * -a / (1 + np.exp(a * b)))


@pytest.mark.slow
@every_loss
@every_spec
def test_the_residual_bounds_the_nearest_subgradient_down_to_the_optimum_and_objectives_never_rise(spec, name):
    problem, weight = spec.build(), 2.0
    scale = np.linalg.norm(smooth(problem, name, np.zeros(spec.size))[1])
    stop, iterates = run(name, problem, regularization=weight)
    assert stop is Stop.CONVERGED
    for iterate in [*iterates[:100], iterates[-1]]:
        U, s, V = iterate.estimate
        value, g = smooth(problem, name, iterate.estimate.dense())
        assert iterate.objective == pytest.approx(value + weight * s.sum(), rel=1e-9)
        # The nearest subgradient: U V^T on the support of W, and the rest of -g / weight elsewhere, clipped at 1.
        on = s > 0
        P, Q = U[:, on] @ U[:, on].T, V[:, on] @ V[:, on].T
        rest = (np.eye(len(P)) - P) @ g @ (np.eye(len(Q)) - Q)
        gap = np.hypot(
            np.linalg.norm(g - rest + weight * U[:, on] @ V[:, on].T),
            np.linalg.norm(np.maximum(np.linalg.svd(rest, compute_uv=False) - weight, 0)),
        )
        assert gap <= iterate.residual * scale * (1 + 1e-9) + 1e-9 * scale
    values = np.array([iterate.objective for iterate in iterates])
    assert (np.diff(values) <= 1e-12 * values[0]).all()


@every_loss
def test_zero_is_the_solution_from_the_norm_of_the_gradient_on(name):
    problem = SPECS["sparse-missing"].build()
    largest = np.linalg.norm(smooth(problem, name, np.zeros((30, 7)))[1], 2)
    stop, (only,) = run(name, problem, regularization=1.001 * largest)
    assert stop is Stop.CONVERGED and not only.estimate.dense().any()
    assert run(name, problem, regularization=0.98 * largest)[1][-1].estimate.s[0] > 0


def test_no_positive_labels_and_rows_of_zeros_are_handled():
    X, Y = np.zeros((5, 3)), np.zeros((5, 4))
    problem = MultilabelProblem.of(X, Y, None, X, Y, 2)
    for name in SOLVERS:
        stop, iterates = run(name, problem)
        assert stop is Stop.CONVERGED and not iterates[-1].estimate.dense().any()


def test_leml_ends_no_lower_and_at_the_optimum_when_its_rank_suffices():
    problem = SPECS["dense-missing"].build()
    convex = run("squared", problem, regularization=4.0)[1][-1]
    rank = int((convex.estimate.s > 1e-9).sum())
    assert 1 < rank < 7
    for k, most in ((1, 30), (rank + 1, 600)):
        _, iterates = driving.run(leml, problem, most, tol=1e-6, regularization=4.0, fitted_rank=k, steps=50)
        assert iterates[-1].objective >= convex.objective * (1 - 1e-12)
    assert iterates[-1].objective == pytest.approx(convex.objective, rel=1e-7)
