"""Defaults on ratings: never worse than biases alone, and near the best that their rank allows, for every solver."""

import numpy as np
import pytest

from lrlab.fits.biased_als import bias_line, biased_als
from lrlab.fits.fitting_ratings import ITERATIONS, OTHER_ITERATIONS, fit_table, plausible
from lrlab.fits.implicit import WEIGHTED
from lrlab.fits.ratings_solvers import BIASES, OWN, ratings_options, solvers
from lrlab.models.ratings_problem import rms
from lrlab.parameters import InputError
from lrlab.protocol import limits
from tests.fits.ratings_data import draw
from tests.thorough import a_third


def fitted(drawn, solver=OWN, rank=0, **settings):
    options = ratings_options(solver, settings)
    ending = limits({"max_iter": ITERATIONS.get(solver, OTHER_ITERATIONS), "max_seconds": 60})
    return fit_table(drawn.ratings, drawn.table, solver, rank, options, set(settings), ending, 0)


def oracle(table, rank):
    """Return the smallest test error of alternating least squares over ridges and sweeps, chosen on the test itself."""
    best = np.inf
    for ridge in (1.0, 2.0, 4.0, 8.0):
        for _, it in zip(
            range(30), biased_als(table.plain, rank, ridge=ridge, rng=np.random.default_rng(0)), strict=False
        ):
            best = min(best, table.score(it.estimate)["rmse"])
    return best


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("seed", [1101, 1102])
def test_defaults_reach_the_best_least_squares_of_the_true_rank(seed, words):
    drawn = draw(seed, words=words)
    found = fitted(drawn)
    rmse = found.rows[-1]["rmse"]
    assert rmse < 0.95 * found.baselines["rmse_biases"] < found.baselines["rmse_mean"]
    assert rmse < 1.02 * oracle(drawn.table, 3)
    noise = rms(drawn.table.test.values - drawn.clean)
    assert noise < rmse < (1.15 if words else 1.2) * noise


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("solver", a_third([name for name in solvers() if name != WEIGHTED]))
def test_no_solver_is_worse_than_biases_alone(solver, words):
    drawn = draw(1201, n=(60, 80), m=2000, noise=1.0, signal=0.7, words=words)
    try:
        found = fitted(drawn, solver)
    except InputError as error:
        assert "one that uses features" in str(error)
        return
    assert found.rows[-1]["rmse"] <= found.baselines["rmse_biases"] + 0.005
    assert not found.remark or "bear no low-rank part" in found.remark


def test_without_a_low_rank_part_the_model_is_biases_alone():
    drawn = draw(1202, n=(40, 50), m=700, signal=0.0, words=False)
    found = fitted(drawn)
    assert found.rows[-1]["rmse"] <= found.baselines["rmse_biases"] + 0.005
    alone = fitted(drawn, BIASES)
    assert alone.rank == 0 and alone.rows[-1]["rmse"] == pytest.approx(alone.baselines["rmse_biases"])


def test_a_low_rank_part_that_diverges_where_there_are_no_ratings_is_left_out(monkeypatch):
    drawn = draw(1204, n=(20, 120), m=600, words=False)
    line, healthy = bias_line(drawn.table), fitted(drawn, rank=2, ridge=3.0)
    assert plausible(healthy.estimate, drawn.table, line, 0)
    wild = line.factors._replace(users=np.c_[line.factors.users, np.full(20, 9.0)])
    wild = wild._replace(items=np.c_[line.factors.items, np.r_[np.zeros(60), np.ones(60)]])
    assert not plausible(wild, drawn.table, line, 0)
    monkeypatch.setattr("lrlab.fits.fitting_ratings.FAR", 0.0)
    found = fitted(drawn, rank=2, ridge=3.0)
    assert found.rank == 0 and "diverges" in found.summary()["notes"][0]
    assert found.rows[-1]["rmse"] == pytest.approx(found.baselines["rmse_biases"])


def test_given_settings_are_not_tuned():
    drawn = draw(1203, words=False)
    found = fitted(drawn, rank=2, ridge=3.0)
    assert found.rank == 2 and found.options["ridge"] == 3.0
    assert {row["rank"] for row in found.tried} == {0, 2}
    assert {row["ridge"] for row in found.tried[1:]} == {3.0}
