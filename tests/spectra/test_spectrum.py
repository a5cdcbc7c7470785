"""Spectra of the pairwise moments: trial seeds, predictions against simulation, figures."""

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab.figures import spectrum as drawn
from lrlab.spectra import pairwise

SPEC = lrlab.spec("one-bit-sensing", n=600, p=12, noise=0.3, seed=5)
PHASE = lrlab.spec("one-bit-phase-retrieval", n=3000, p=20)


def test_the_table_is_tidy_and_does_not_depend_on_where_the_trials_run():
    table = pairwise.spectrum(SPEC, "ratio", [10, 50], trials=3)
    assert len(table) == 2 * 3 * 2 * 2
    assert table.groupby(["at", "trial"])["seed"].nunique().eq(1).all() and table["seed"].nunique() == 6

    backwards = [pairwise.pairwise_spectrum(draw) for draw in pairwise.spectrum_draws(SPEC, "ratio", [10, 50], 3)[::-1]]
    pd.testing.assert_frame_equal(pd.DataFrame([row for rows in backwards[::-1] for row in rows]), table)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "axis", "values"),
    [
        (lrlab.spec("one-bit-sensing", n=16_000, p=200), "variance", [0.1, 1.0]),
        (lrlab.spec("flipped-logistic", n=50_000, p=100), "flip", [0.0, 0.35]),
        (PHASE.replace(n=30_000, p=150), "threshold", [0.35, 1.0]),
    ],
    ids=lambda value: getattr(value, "model", ""),
)
def test_predictions_agree_with_simulation(spec, axis, values):
    points = pairwise.compare(pairwise.spectrum(spec, axis, values, 3), pairwise.predictions(spec, axis, values))
    assert len(points) == 4 and points["trials"].eq(3).all()
    np.testing.assert_allclose(points["mean_top"], points["top"], rtol=0.03)
    np.testing.assert_allclose(points["mean_second"], points["second"], rtol=0.04)
    np.testing.assert_allclose(points["mean_overlap"], points["overlap"], atol=0.1)
    np.testing.assert_allclose(points["top_deviation"], points["mean_top"] / points["top"] - 1.0)
    assert (points["population_second_deviation"] > 2 * points["second_deviation"].abs()).all()


def test_overlaps_are_drawn_beside_their_limits():
    values = [0.2, 0.6, 1.0]
    predicted = pairwise.predictions(PHASE, "threshold", values)
    points = pairwise.of_moment(pairwise.compare(pairwise.spectrum(PHASE, "threshold", values, 3), predicted))
    figure = drawn.overlaps(points, pairwise.of_moment(predicted), axis_title="θ")
    np.testing.assert_allclose(figure.data[0].y, pairwise.of_moment(predicted)["overlap"])
    np.testing.assert_allclose(figure.data[1].y, points["mean_overlap"])
    np.testing.assert_allclose(figure.data[1].error_y.array, points["sd_overlap"])
