"""Which tests are left to `make soak`: all but a third of those that ask the same of every entry, each day another."""

import os
import time
from collections.abc import Sequence
from typing import Any

import pytest

os.environ.setdefault("LRLAB_TEST_SEED", time.strftime("%j"))
"""Set once, for all processes that share the tests."""


def a_third(values: Sequence[Any]) -> list[Any]:
    """Return the values as parameters of a test; those that are not of the third of LRLAB_TEST_SEED are for soak."""
    chosen = int(os.environ["LRLAB_TEST_SEED"]) % 3
    return [value if k % 3 == chosen else _left(value) for k, value in enumerate(values)]


def but(first: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return the values as parameters of a test; all but the first ones are for soak."""
    return [value if value in first else _left(value) for value in values]


def _left(value: Any) -> Any:
    # A tuple is the values of several parameters.
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.soak)
