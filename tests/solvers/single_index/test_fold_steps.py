"""Steps of directions without a fold each, from one direction, against those of directions side by side."""

import numpy as np
import pytest

import lrlab
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.solvers.methods.sphere import (
    exact_direction,
    exact_directions,
    factorised_directions,
    newton_directions,
    normalised,
)
from lrlab.solvers.single_index import link_free_moves
from lrlab.solvers.single_index.cross_fitting import FOLDS, CrossFit
from lrlab.solvers.single_index.link_free_moves import Moved
from lrlab.solvers.single_index.link_smoothing import COEFFICIENTS, LogOdds


def fixed(n=1200, p=8):
    built = OneBitSensing(n=n, p=p, noise=0.3, seed=1000).build()
    rng = np.random.default_rng(4)
    data = CrossFit.split(built.X, built.y, rng)
    B = np.repeat(normalised(built.truth[:, None] + 0.1 * rng.standard_normal((p, 1))), FOLDS + 1, axis=1)
    return data, LogOdds(np.linspace(-9.0, 9.0, COEFFICIENTS)), Moved(B, built.X @ B, np.zeros(0))


def test_directions_by_factorisation_are_those_of_conjugate_gradients(monkeypatch):
    monkeypatch.setattr("lrlab.solvers.methods.sphere.CG_TOLERANCE", 1e-12)
    rng = np.random.default_rng(1)
    H = np.stack([A @ A.T for A in rng.standard_normal((3, 6, 9))])
    b, descent, damping = normalised(rng.standard_normal((6, 1)))[:, 0], rng.standard_normal((6, 3)), np.full(3, 0.5)
    B = np.repeat(b[:, None], 3, axis=1)
    other = newton_directions(lambda V: np.einsum("kij,jk->ik", H, V), B, descent, np.ones_like(B), damping)
    # The factorised system is damped by another 1e-6.
    assert exact_directions(H, b, descent, damping) == pytest.approx(other, rel=1e-4, abs=1e-6)
    assert factorised_directions(H, B, descent, damping) == pytest.approx(other)
    assert exact_direction(H[1], b, descent[:, 1], 0.5) == pytest.approx(other[:, 1])
    with pytest.raises(np.linalg.LinAlgError):
        exact_direction(-H[1], b, descent[:, 1], 0.5)


def test_from_one_direction_the_steps_are_those_of_all_columns():
    data, link, now = fixed()
    at, step = link_free_moves.one_step(data, now.B, now.Z, link)
    each = data.derivatives(now.Z, link)
    assert at.loss[-1] == pytest.approx(each.loss[-1])
    assert at.descent == pytest.approx(each.descent)
    assert at.weights[:, 0] == pytest.approx(each.weights[:, -1])
    # Conjugate gradients end at 1% of the gradient.
    assert np.linalg.norm(step - data.newton(each, now.B, np.ones_like(now.B, dtype=bool))) < 0.05 * np.linalg.norm(
        step
    )


def test_a_step_lowers_the_loss_of_all_data():
    data, link, now = fixed()
    at, step = link_free_moves.one_step(data, now.B, now.Z, link)
    moved = link_free_moves.stepped(data, link, now._replace(loss=at.loss), step)
    assert moved.loss[-1] < at.loss[-1] and moved.Z == pytest.approx(data.X @ moved.B)
    assert moved.loss[-1] == pytest.approx(data.losses(moved.Z, link)[-1])
    uphill = link_free_moves.stepped(data, link, now._replace(loss=at.loss), -step)
    assert uphill.loss[-1] <= at.loss[-1] * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("model", ["one-bit-sensing", "one-bit-phase-retrieval"])
def test_they_lead_where_directions_side_by_side_lead(monkeypatch, model):
    spec = lrlab.spec(model, n=1500, p=10, seed=1003)
    one = lrlab.solve(spec, "link-free-refinement")
    monkeypatch.setattr("lrlab.solvers.single_index.link_free_moves.FEWEST_ROWS", 10**9)
    other = lrlab.solve(spec, "link-free-refinement")
    assert one.stop is other.stop is lrlab.Stop.CONVERGED
    assert one.metrics["error"] == pytest.approx(other.metrics["error"], rel=0.2)
