"""The sentence of the page Eigengaps: the threshold in theory, and measurements at both ends."""

import pandas as pd
import pytest

from lrlab.ui.spectrum.results_view import sentence
from lrlab.ui.widgets.axis import Axis, fine

ALONG = Axis("n", "measurements n", (100.0, 1000.0), "log", "n", True)
AT = [100.0, 200.0, 400.0, 1000.0]


@pytest.mark.parametrize(
    ("overlaps", "words"),
    [
        ([0.0, 0.0, 0.2, 0.6], "eigenvector asymptotically points to the signal from about measurements n = 400."),
        ([0.6, 0.2, 0.0, 0.0], "to the signal up to about measurements n = 200."),
        ([0.6, 0.2, 0.1, 0.1], "Everywhere here the leading"),
        ([0.0, 0.0, 0.0, 0.0], "Nowhere here the leading"),
        ([0.0, 0.2, 0.0, 0.2], "On parts of this axis"),
        ([0.0, 0.2, float("nan"), 0.2], "Press Run"),
    ],
)
def test_theory_is_said_where_its_curve_crosses(overlaps, words):
    assert words in sentence(pd.DataFrame(), pd.DataFrame({"at": AT, "overlap": overlaps}), ALONG)


def test_what_was_measured_is_said_at_both_ends():
    points = pd.DataFrame({"at": AT[::-1], "trials": 3, "mean_top": 1.0, "mean_overlap": [0.9, 0.5, 0.1, 0.01]})
    assert sentence(points, pd.DataFrame(), ALONG) == "Measured squared overlap: 0.01 at 100, 0.9 at 1000."


def test_a_run_without_points_asks_for_no_run():
    assert sentence(pd.DataFrame(), pd.DataFrame(), ALONG) == "Press Run to measure."
    assert sentence(pd.DataFrame(), pd.DataFrame(), ALONG, running=True) == "Measuring."


def test_an_axis_of_one_value_has_a_grid_of_one_value():
    assert fine(Axis("ratio", "n/p", (2.0,), "linear", "n", False)) == [2.0]
