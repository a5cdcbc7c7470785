"""Packs the scores of a trial as JSON."""

import json
import math
from functools import lru_cache

from lrlab.runs.trial import TrialResult


def pack_scores(result: TrialResult) -> str:
    """Return scores as a JSON list: null for what is not a number, and as text what is infinite."""
    return json.dumps([_number(value) for value in result.scores.values()], allow_nan=False)


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return float(value) if math.isfinite(value) else repr(float(value))


def unpack_scores(names: str, scores: str) -> dict[str, float]:
    """Return scores by name."""
    values = [math.nan if value is None else float(value) for value in json.loads(scores)]
    return dict(zip(_names(names), values, strict=True))


@lru_cache(maxsize=1000)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
