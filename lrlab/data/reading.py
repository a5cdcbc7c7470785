"""Reads CSV, parquet and npz files of measurements as the y, X and Z of `lrlab.recover`.

An npz has arrays y (or table, patterns), X (or A, masks) and Z, or rows, columns and y for the entries of a matrix.
lrlab executes nothing in a file.
"""

from pathlib import Path
from typing import Any

import numpy as np

from lrlab.data.columns import MATRIX, NOTHING, Given, Hints, ask_sentinel, side_features, understood
from lrlab.data.files import LIMIT_BYTES, Source
from lrlab.data.npz import NUMBERS, read_arrays
from lrlab.data.rows import File, format_of
from lrlab.data.tables import read_frame
from lrlab.parameters import InputError

FORMATS = dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ".data"), "CSV") | {".npz": ".npz", ".parquet": "parquet"}
NAMES = {"y": "y", "table": "y", "patterns": "y", "X": "X", "A": "X", "masks": "X", "Z": "Z"}
PLACES = ("rows", "columns")


def read_given(
    path: File,
    hints: Hints = NOTHING,
    *,
    rows: File | None = None,
    columns: File | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Given:
    """Return the contents of a file; InputError in one sentence if lrlab cannot use them.

    rows, columns: files with features of a matrix's rows and columns: a name, then numbers or words.
    """
    source = opened(path, limit_bytes)
    if source.kind == ".npz":
        given = _of_arrays(source, hints)
    else:
        given = understood(read_frame(source, hints.missing), hints)
    for side, what, file, members in (("X", "row", rows, given.rows), ("Z", "column", columns, given.names)):
        if file is None:
            continue
        if given.model != "inductive-completion" or not members:
            remedy = "leave the file out, or name rows and columns in the data"
            raise InputError("features of rows and columns", "left out unless a matrix has names", file, remedy)
        values = side_features(read_frame(opened(file, limit_bytes)), members, f"{what}-features")
        parts: dict[str, Any] = {side: values, "words": f"{given.words}, {values.shape[1]} {what} features"}
        given = given._replace(**parts)
    return given


def opened(path: File, limit_bytes: int) -> Source:
    """Return a file with a known suffix."""
    return Source(Path(path), format_of(Path(path), FORMATS, "convert it"), limit_bytes)


def _of_arrays(source: Source, hints: Hints) -> Given:
    """Return the arrays of an npz by their roles."""
    arrays = read_arrays(source, {*NAMES, *PLACES}.__contains__, NUMBERS)
    by_role: dict[str, Any] = {NAMES[name]: array for name, array in arrays.items() if name in NAMES}
    sides = sum(name in PLACES for name in arrays)
    if "y" not in by_role or len(by_role) + sides < len(arrays):
        got = ", ".join(arrays) or "none of them"
        raise InputError("file", f"an .npz with arrays y, X and Z ({', '.join(NAMES)})", got, "save it with y=...")
    words = ", ".join(f"{name} {'x'.join(map(str, np.shape(array)))}" for name, array in arrays.items())
    y = by_role["y"]
    if y.ndim > 1 and y.dtype.kind in "fiu":
        y = by_role["y"] = y.astype(np.float64)
        if hints.missing not in ("", "none"):
            y[y == float(hints.missing)] = np.nan
        ask_sentinel("y", y.ravel(), hints)
    if sides == 1:
        raise InputError("file", "an .npz with rows and columns for the entries y", "one of them", "save both")
    if sides:
        by_role["y"] = (arrays["rows"], arrays["columns"], y)
    return Given(**by_role, words=f"arrays {words}", model="inductive-completion" if hints.kind == MATRIX else "")
