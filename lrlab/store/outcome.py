"""What is kept of a finished trial, and its form in a store."""

import json
import math
from functools import lru_cache
from typing import NamedTuple

from lrlab.runs.job import Job
from lrlab.runs.trial import TrialResult


class Kept(NamedTuple):
    """A finished trial: its cell, its number there, and what came of it."""

    job: Job
    trial: int
    outcome: TrialResult


def packed(outcome: TrialResult) -> str:
    """Return scores as a JSON list: null for what is not a number, and as text what is infinite."""
    return json.dumps([_number(value) for value in outcome.scores.values()], allow_nan=False)


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else repr(float(value))


def unpacked(names: str, scores: str) -> dict[str, float]:
    """Return scores by name."""
    values = [math.nan if value is None else float(value) for value in json.loads(scores)]
    return dict(zip(_names(names), values, strict=True))


@lru_cache(maxsize=1000)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
