"""Link-free refinement of links with several turns from few answers, where a straight line comes first."""

import numpy as np
import pytest

import lrlab
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.solvers.single_index.link_free_spline_starts import spline_starts


@pytest.mark.parametrize(("link", "seed"), [("sin 2z", 1002), ("sin 2z", 1005), ("cubic", 1004), ("cubic", 1016)])
def test_a_line_that_predicts_little_is_not_the_end(link, seed):
    """Errors of .66 to 1.3 before, five to twelve times those of maximum likelihood with the link."""
    trace = lrlab.solve(lrlab.spec("custom-link", link=link, n=300, seed=seed), "link-free-refinement")
    assert trace.stop is lrlab.Stop.CONVERGED and trace.metrics["error"] < 0.3
    assert "spline" in trace.note


def test_other_starts_are_not_tried_where_the_first_moment_is_clear():
    problem = OneBitSensing(n=2000, p=10, seed=1000).build()
    data = CrossFit.split(problem.X, problem.y, np.random.default_rng(0))
    assert list(spline_starts(data, 1.0, np.random.default_rng(0))) == []
