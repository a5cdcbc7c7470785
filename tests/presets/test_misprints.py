"""Misprints: every figure is computed, and its numbers contradict what is printed and agree with what is right."""

import pytest

from lrlab.presets import misprints

CONTRADICTIONS = {
    # Errors after the last step.
    "trace_sign": lambda printed, right: printed > 1e3 and right < 1e-6,
    # How far the link changes: not at all, or from nearly -1 to nearly 1.
    "flipped_link": lambda printed, right: printed < 1e-12 and right > 1.9,
    # Samples with nearly only noise, over those without.
    "sample_size": lambda printed, right: printed < 0.01 and right > 100,
    # Lower bounds of phi over phi.
    "large_noise": lambda printed, right: printed > 1.02 and right <= 1,
    "small_noise": lambda printed, right: printed > 1.25 and right <= 1 + 1e-12,
    # Logarithms: a lower bound over that of all vectors.
    "packing": lambda printed, right: printed > 2 and right < 1,
    # Deviations over those allowed.
    "rank_factor": lambda printed, right: printed > 10 and right < 1.01,
    # Distances from the differences of the loss.
    "logistic_derivatives": lambda printed, right: printed > 0.4 and right < 1e-6,
    # The largest and the second largest difference of two tables of the same.
    "two_tables": lambda printed, right: abs(printed - 0.0054) < 1e-9 and right < 1e-9,
    # Shares of W in a block of its dilation.
    "dilation": lambda printed, right: printed < 0.6 and right == 1,
    # How many times the error grows: the paper's AUC falls as far as with 5% flips.
    "noise_scale": lambda printed, right: printed < 2 and right > 3,
}


def test_every_misprint_has_its_contradiction():
    assert {one.figure for one in misprints.misprints()} == {*CONTRADICTIONS}
    assert sum(map(len, misprints.by_paper().values())) == len(misprints.misprints())


@pytest.mark.parametrize("misprint", misprints.misprints(), ids=lambda one: one.figure)
def test_the_figure_shows_the_contradiction(misprint):
    shown = misprints.show(misprint)
    assert CONTRADICTIONS[misprint.figure](*shown.numbers), shown.caption
    figure = shown.figure.plotly()
    assert figure.data and figure.layout.xaxis.title.text
    assert shown.caption.endswith(".") and "nan" not in shown.caption
