"""Parameters of tests that only `make soak` runs; LRLAB_TEST_SEED chooses which third of them the suite runs."""

import os
from collections.abc import Sequence
from typing import Any

import pytest

os.environ.setdefault("LRLAB_TEST_SEED", "0")
"""The same every day: whether the suite passes depends on the code, and not on the date."""


def a_third(values: Sequence[Any], parts: int = 3) -> list[Any]:
    """Return parameters of a test; a tuple holds several parameters.

    All but the third that LRLAB_TEST_SEED chooses are for soak; with `parts`, all but that fraction.
    """
    chosen, sets = int(os.environ["LRLAB_TEST_SEED"]) % parts, [v if isinstance(v, tuple) else (v,) for v in values]
    marks = [() if k % parts == chosen else pytest.mark.soak for k in range(len(sets))]
    return [pytest.param(*one, marks=mark) for one, mark in zip(sets, marks, strict=True)]


def but(first: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the values as parameters of a test; all but the first ones are for soak."""
    return [value if value in first else pytest.param(value, marks=pytest.mark.soak) for value in values]
