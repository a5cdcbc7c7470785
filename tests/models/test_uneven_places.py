"""Places by popularity, by leverage, and beside a block: their chances, and what uneven tables cost."""

import numpy as np
import pytest

import lrlab
from lrlab.models.table_spec import places, popularity
from lrlab.parameters import InputError
from lrlab.protocol import Stop

TABLE = (12, 9)
PLAIN = lrlab.spec("inductive-completion", features="canonical", n1=60, n2=60, rank=2, observed=0.4)


def test_places_come_in_proportion_to_popularity_and_each_once():
    rng, weights = np.random.default_rng(0), popularity(TABLE, 0.8)
    drawn = places(rng, weights, 30)
    assert len(drawn) == 30 and (np.diff(drawn) > 0).all()
    first = np.array([places(rng, weights, 1)[0] for _ in range(6000)])
    w = np.array([[(i * j) ** -0.8 for j in range(1, 10)] for i in range(1, 13)]).ravel()
    assert np.bincount(first, minlength=108) / 6000 == pytest.approx(w / w.sum(), abs=0.02)
    assert (places(rng, popularity(TABLE, 3.0), 108) == np.arange(108)).all()


COHERENT = PLAIN.replace(n1=50, n2=40, coherence=1.0, observed=0.4)


def test_places_by_leverage_come_in_proportion_to_that_of_row_and_column():
    spec = COHERENT.replace(places="leverage")
    M = spec.build().truth.dense()
    # Leverages as diagonals of the projections onto row and column space.
    left, right = np.diag(M @ np.linalg.pinv(M)), np.diag(np.linalg.pinv(M) @ M)
    weights = spec.place_weights
    assert weights / weights.sum() == pytest.approx((50 * left[:, None] + 40 * right) / (2 * 50 * 40 * 2))
    operator = spec.build().operator
    counts = [np.bincount(operator.rows, minlength=50), np.bincount(operator.columns, minlength=40)]
    assert len(operator.rows) == spec.measurements and all(c[:5].mean() > 2 * c[-20:].mean() for c in counts)


def test_nothing_of_a_block_is_observed_and_the_rest_decides_it():
    spec = PLAIN.replace(block=0.5, observed=0.4)
    trace = lrlab.solve(spec, "matrix-irls")
    operator = trace.problem.operator
    assert len(operator.rows) == spec.measurements and not ((operator.rows >= 30) & (operator.columns >= 30)).any()
    assert trace.stop is Stop.CONVERGED and trace.metrics["weakest_error"] < 1e-6 and spec.remark == ""


@pytest.mark.parametrize("solver", ["matrix-irls", "gauss-newton"])
def test_a_block_that_the_rest_does_not_decide_is_said_to_be_not_unique(solver):
    # Two rows lie outside the block, so that its columns have two entries, one less than the rank.
    spec = PLAIN.replace(n1=20, n2=100, rank=3, block=0.9, observed=0.19)
    assert spec.measurements == 2000 - 18 * 90 >= spec.degrees_of_freedom
    trace = lrlab.solve(spec, solver)
    assert trace.stop is Stop.NOT_UNIQUE and trace.metrics["misfit"] < 1e-9
    decided = lrlab.solve(spec.replace(rank=2), solver)
    # Rounding decides whether matrix-irls stops moving before or after its residual norm is pure rounding.
    assert decided.stop in (Stop.CONVERGED, Stop.FINISHED) and decided.metrics["weakest_error"] < 1e-6


def test_what_features_or_the_block_leave_no_place_for_is_refused():
    with pytest.raises(InputError, match="observed must be at most 0.75, outside the block, got 0.8: observe fewer"):
        PLAIN.replace(block=0.5, observed=0.8)
    with pytest.raises(InputError, match="places must be alike if there are features, got leverage: set it to alike"):
        lrlab.spec("inductive-completion", places="leverage")
    with pytest.raises(InputError, match="coherence must be 0 if there are features, got 1"):
        lrlab.spec("inductive-completion", coherence=1.0)
    with pytest.raises(
        InputError, match="places must be alike for tables of more than 4,000,000 entries, got leverage"
    ):
        PLAIN.replace(n1=3000, n2=3000, places="leverage")
