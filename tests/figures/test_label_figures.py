"""The figure of errors on ratings: a line per run, and the baselines across all of its iterations."""

from lrlab.figures.labels import rating_errors, shorten


def test_each_run_and_baseline_has_a_line():
    rows = [{"iteration": k, "rmse": 1.0 / k} for k in (1, 2, 3)]
    figure = rating_errors({"a": rows, "b": rows[:1]}, {"rmse_biases": 0.9, "rmse_mean": 1.2})
    figure.plotly()
    assert [len(one.x) for one in figure.data] == [3, 1, 2, 2]
    assert list(figure.data[2].x) == [1, 3] and list(figure.data[2].y) == [0.9, 0.9]
    assert figure.data[3].name == "the mean (1.2000)"


def test_long_names_that_begin_alike_differ_on_an_axis():
    several = [shorten(f"a rather long common beginning, number {k}") for k in range(12)]
    assert len(set(several)) == 12 and max(map(len, several)) <= 16
