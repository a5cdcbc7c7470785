"""How a trial is written in a row of a store: scores as JSON, and a checksum by which a damaged row is recognised.

The checksum (CRC-32) is of the trial's own values and of what it depends on elsewhere in the store: the names of its
scores and the key of its cell, itself a hash of all that tells the cell from others. It notices damage, not forgery.
"""

import json
import math
import sqlite3
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any
from zlib import crc32

from lrlab.runs.trial import TrialResult

_NUMBERS = struct.Struct("<qqqd")
UNREADABLE = (ValueError, TypeError, AttributeError, struct.error)
"""What values of other types or forms than lrlab writes raise where they are read."""
TABLES = ("trials", "sweeps", "items")
"""Tables whose rows have a checksum."""


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


def checksum(*parts: Any) -> int:
    """Return the checksum of texts and whole numbers; bytes count as they are."""
    return crc32(b"\0".join(part if isinstance(part, bytes) else str(part).encode() for part in parts))


def sweep_checksum(line: Sequence[Any]) -> int:
    """Return the checksum of a line of the list of past sweeps, which ends with its time."""
    *rest, changed = line
    return checksum(*rest, int(changed) if isinstance(changed, float) and math.isfinite(changed) else changed)


def trial_checksum(start: int, trial: int, seed: int, stop: str, iterations: int, seconds: float, scores: str) -> int:
    """Return the checksum of a trial's row; start: that of its cell's key and the names of its scores."""
    return crc32(_NUMBERS.pack(trial, seed, iterations, seconds) + f"{stop} {scores}".encode(), start)


def read_trial(
    key: bytes,
    names: str,
    trial: int,
    seed: int,
    stop: str,
    iterations: int,
    seconds: float,
    scores: str,
    stored: int | None,
) -> TrialResult | None:
    """Return the result in a row of the cell with this key; None where the stored checksum is not that of the row."""
    try:
        start, own_names = row_start(key, names)
        if stored != trial_checksum(start, trial, seed, stop, iterations, seconds, scores):
            return None
        return TrialResult(seed, stop, iterations, seconds, dict(zip(own_names, _unpacked(scores), strict=True)))
    except UNREADABLE:
        return None


def _unpacked(scores: str) -> Iterable[float]:
    # Most are numbers alone, and read so in two thirds of the time that JSON takes.
    if "n" not in scores and len(scores) > 2:
        return map(float, scores[1:-1].split(", "))
    return [math.nan if value is None else float(value) for value in json.loads(scores)]


@lru_cache(maxsize=1000)
def row_start(key: bytes, names: str) -> tuple[int, tuple[str, ...]]:
    """Return where the checksums of a cell's trials with these scores (JSON) start, and the names."""
    return checksum(key, names), tuple(json.loads(names))


def new_checksum(key: bytes, *values: Any) -> int | None:
    """Return the checksum of a row that has none, its values as of `read_trial`, or texts as bytes; None as there."""
    try:
        texts: list[Any] = [value.decode() if isinstance(value, bytes) else value for value in values]
        names, trial, seed, stop, iterations, seconds, scores = texts
        json.loads(scores)
        own = trial_checksum(checksum(key, names), trial, seed, stop, iterations, seconds, scores)
        return own if read_trial(key, names, trial, seed, stop, iterations, seconds, scores, own) else None
    except UNREADABLE:
        return None


def add_checksums(connection: sqlite3.Connection) -> None:
    """Give the rows of a store that an older lrlab wrote their checksums; those that cannot be read get none."""
    connection.create_function("new_checksum", 8, new_checksum, deterministic=True)
    connection.create_function("checksum", -1, checksum, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    for table in TABLES:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if not columns or "checksum" in columns:
            continue
        # As bytes, for SQLite hands over no text that is not UTF-8.
        whole = ("CAST(changed AS INTEGER)" if name == "changed" else f"CAST({name} AS BLOB)" for name in columns)
        own = f"checksum({', '.join(whole)})"
        if table == "trials":
            own = (
                "(SELECT new_checksum(key, CAST(names AS BLOB), trial, seed, CAST(stop AS BLOB), iterations, seconds,"
                " CAST(scores AS BLOB)) FROM cells, measures WHERE cells.id = cell AND measures.id = measures)"
            )
        connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
        connection.execute(f"UPDATE {table} SET checksum = {own}")
    connection.execute("COMMIT")
