"""Places by popularity: their chances, the same data where all are alike, and what uneven tables cost."""

import numpy as np
import pytest

import lrlab
from lrlab.models import popularity
from lrlab.parameters import InputError

TABLE = (12, 9)
PLAIN = lrlab.spec("inductive-completion", features="canonical", n1=60, n2=60, rank=2, observed=0.4)


def test_places_come_in_proportion_to_popularity_and_each_once():
    rng, counts, draws = np.random.default_rng(0), np.zeros(108), 4000
    for _ in range(draws):
        drawn = popularity.places(rng, TABLE, 30, 0.8)
        assert len(drawn) == 30 and (np.diff(drawn) > 0).all()
        counts[drawn] += 1
    chances = popularity.observed_chances(TABLE, 30, 0.8).ravel()
    assert chances.sum() == pytest.approx(30) and np.abs(counts / draws - chances).max() < 0.03
    first = np.array([popularity.places(rng, TABLE, 1, 0.8)[0] for _ in range(6000)])
    w = np.outer(*popularity.weights(TABLE, 0.8)).ravel()
    assert np.bincount(first, minlength=108) / 6000 == pytest.approx(w / w.sum(), abs=0.02)
    assert (popularity.places(rng, TABLE, 108, 3.0) == np.arange(108)).all()


def test_popular_rows_have_more_entries_and_rare_ones_cannot_be_recovered():
    spec = PLAIN.replace(popularity=1.0)
    operator = spec.build().operator
    rows = np.bincount(operator.rows, minlength=60)
    assert len(operator.rows) == spec.measurements and rows[:10].sum() > 2 * rows[-10:].sum()
    alike, uneven = (lrlab.solve(s, "matrix-irls") for s in (PLAIN, PLAIN.replace(popularity=1.0, observed=0.12)))
    assert alike.metrics["weakest_error"] < 1e-6 and "rows and columns are expected" in uneven.problem.spec.remark
    rare = np.bincount(uneven.problem.operator.rows, minlength=60) < 2
    M, W = uneven.problem.truth.dense(), uneven.estimate.dense()
    apart, size = (np.linalg.norm(table[rare], axis=1) for table in (W - M, M))
    assert rare.any() and (apart > 1e-3 * size).all()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="popularity must be 0 for tables of more than 4,000,000 entries, got 1"):
        PLAIN.replace(n1=3000, n2=3000, popularity=1.0)


def test_features_let_rare_rows_be_recovered():
    spec = lrlab.spec("inductive-completion", n1=200, n2=200, d1=20, d2=20, rank=2, observed=0.01, popularity=1.0)
    trace = lrlab.solve(spec, "gauss-newton")
    assert len(trace.problem.cold) > 20 and trace.metrics["weakest_error"] < 1e-6
    assert trace.metrics["cold_error"] < 1e-6
