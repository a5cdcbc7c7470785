"""Numbers in sentences."""

import pytest

from lrlab.figures.numbers import rounded


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3638.0, "3,640"), (-0.5, "−0.5"), (0.03, "0.03"), (999.6, "1,000"), (999_499.0, "999,000"), (0.0, "0"),
        (999_500.0, "1·10⁶"), (3.638e6, "3.64·10⁶"), (0.000124, "1.24·10⁻⁴"), (-2e-7, "−2·10⁻⁷"), (1e-3, "0.001"),
        (0.00099996, "0.001"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_a_number_has_three_digits_and_no_exponent_below_a_million(number, text):
    assert rounded(number) == text
