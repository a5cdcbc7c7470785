"""Reads files of measurements: CSV, parquet and npz become the y, X and Z of `lrlab.recover`.

An npz has arrays y (or table, patterns), X (or A, masks) and Z, or rows, columns and y of a matrix's entries. Nothing
in a file is executed.
"""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from lrlab.data.columns import MATRIX, NOTHING, Given, Hints, ask_sentinel, side_features, understood
from lrlab.data.files import LIMIT_BYTES, Source, data_suffix, printable
from lrlab.data.npz import NUMBERS, read_arrays
from lrlab.data.tables import read_frame
from lrlab.parameters import InputError, nearest

FORMATS = {".csv": "CSV", ".tsv": "CSV", ".txt": "CSV", ".dat": "CSV", ".data": "CSV", ".npz": ".npz"}
FORMATS |= {".parquet": "parquet"}
NAMES = {"y": "y", "table": "y", "patterns": "y", "X": "X", "A": "X", "masks": "X", "Z": "Z"}
PLACES = ("rows", "columns")
File = str | PathLike[str]


def read_given(
    path: File,
    hints: Hints = NOTHING,
    *,
    rows: File | None = None,
    columns: File | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Given:
    """Return what a file holds; InputError in one sentence for what cannot be used.

    rows, columns: files of features of a matrix's rows and columns: a name, then numbers or words.
    """
    source = opened(Path(path), limit_bytes)
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
        values = side_features(read_frame(opened(Path(file), limit_bytes)), members, f"{what}-features")
        parts: dict[str, Any] = {side: values, "words": f"{given.words}, {values.shape[1]} {what} features"}
        given = given._replace(**parts)
    return given


def opened(path: Path, limit_bytes: int) -> Source:
    """Return a file whose suffix is known."""
    suffix = data_suffix(path)
    if suffix not in FORMATS:
        remedy = nearest(suffix, FORMATS) or "convert it"
        raise InputError("file", f"one of {', '.join(FORMATS)}", printable(path.name), remedy)
    return Source(path, FORMATS[suffix], limit_bytes)


def _of_arrays(source: Source, hints: Hints) -> Given:
    """Return the arrays of an npz by what they are."""
    arrays = read_arrays(source, {*NAMES, *PLACES}.__contains__, NUMBERS)
    roles = [NAMES[name] for name in arrays if name in NAMES]
    if "y" not in roles or len(set(roles)) < len(roles):
        got = ", ".join(arrays) or "none of them"
        raise InputError("file", f"an .npz with arrays y, X and Z ({', '.join(NAMES)})", got, "save it with y=...")
    by_role: dict[str, Any] = {NAMES[name]: array for name, array in arrays.items() if name in NAMES}
    words = ", ".join(f"{name} {'x'.join(map(str, np.shape(array)))}" for name, array in arrays.items())
    y = by_role["y"]
    if y.ndim > 1 and y.dtype.kind in "fiu":
        y = by_role["y"] = y.astype(np.float64)
        if hints.missing not in ("", "none"):
            y[y == float(hints.missing)] = np.nan
        ask_sentinel("y", y.ravel(), hints)
    if any(name in arrays for name in PLACES):
        if not all(name in arrays for name in PLACES):
            raise InputError("file", "an .npz with both rows and columns beside y", "one of them", "save both")
        by_role["y"] = (arrays["rows"], arrays["columns"], by_role["y"])
    return Given(**by_role, words=f"arrays {words}", model="inductive-completion" if hints.kind == MATRIX else "")
