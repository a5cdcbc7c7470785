"""How a trial is written in a row of a store: scores as JSON."""

import json
import math
import sqlite3
from collections.abc import Iterable
from contextlib import suppress

from lrlab.runs.trial import TrialResult


def pack_scores(result: TrialResult) -> str:
    """Return scores as a JSON list: null for what is not a number, and as text what is infinite."""
    # What `json.dumps` gives, in an eighth of its time. Most are finite floats: "n" is in nan and inf.
    values = result.scores.values()
    with suppress(TypeError):
        if "n" not in (text := ", ".join(map(float.__repr__, values))):
            return f"[{text}]"
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return "null" if math.isnan(value) else f'"{float(value)!r}"'


def read_trial(names: str, seed: int, stop: str, iterations: int, seconds: float, scores: str) -> TrialResult:
    """Return the result in a row; sqlite3.OperationalError if its scores cannot be read."""
    try:
        values = dict(zip(json.loads(names), _unpacked(scores), strict=True))
    except (ValueError, TypeError) as error:
        raise sqlite3.OperationalError from error
    return TrialResult(seed, stop, iterations, seconds, values)


def _unpacked(scores: str) -> Iterable[float]:
    # Most are numbers alone, and read so in two thirds of the time that JSON takes.
    if "n" not in scores and len(scores) > 2:
        return map(float, scores[1:-1].split(", "))
    return [math.nan if value is None else float(value) for value in json.loads(scores)]
