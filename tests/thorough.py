"""Parameters of tests that only `make soak` runs, so that the suite tries another third of them each day."""

import os
import time
from collections.abc import Sequence
from typing import Any

import pytest

os.environ.setdefault("LRLAB_TEST_SEED", time.strftime("%j"))
"""Set once, for all processes that share the tests."""


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
