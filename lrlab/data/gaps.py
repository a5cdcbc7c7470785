"""Makes arrays of tables with gaps: dense, masked or sparse ones, or places with values."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from lrlab.arrays import Vector
from lrlab.data.arrays import Arrays, numbers, rows_of
from lrlab.parameters import InputError


def table(y: Any, X: Any, Z: Any) -> Arrays:
    """Return rows, columns and y (m,), the known entries in row-major order, their table's size, and features."""
    features = {name: numbers(name, side, 2) for name, side in (("X", X), ("Z", Z)) if side is not None}
    entries = triples(y) if issparse(y) or isinstance(y, tuple) else with_gaps(y)
    size = entries["size"]
    for name, n, of in (("X", size[0], "rows"), ("Z", size[1], "columns")):
        if name in features and len(features[name]) != n:
            # Of triples the last rows may have no entry.
            if not isinstance(y, tuple) or len(features[name]) < n:
                got = len(features[name])
                raise InputError(name, f"features of all {n} {of} of the table", got, "give each its features")
            size[0 if name == "X" else 1] = len(features[name])
    if len(entries["y"]) < 2:
        raise InputError("y", "at least 2 known entries", len(entries["y"]), "give more entries")
    return {**entries, **features}


def with_gaps(y: Any) -> Arrays:
    """Return the entries of a table that are not nan."""
    values = numbers("y", y, 2, gaps=True)
    rows, columns = np.nonzero(~np.isnan(values))
    return {"rows": rows, "columns": columns, "y": values[rows, columns], "size": np.array(values.shape)}


def triples(y: Any) -> Arrays:
    """Return the entries of a sparse matrix, or of three vectors: rows, columns (both from 0) and values."""
    if issparse(y):
        entries = coo_array(y)
        (rows, columns), values, size = entries.coords, numbers("y", entries.data, 1), np.array(entries.shape)
    else:
        if len(y) != 3:
            raise InputError("y", "three vectors: rows, columns, values", f"{len(y)}", "give three")
        rows, columns = (whole(name, part) for name, part in zip(("rows", "columns"), y[:2], strict=True))
        values = numbers("y", y[2], 1)
        rows_of(values, rows=rows, columns=columns)
        size = np.array([rows.max() + 1, columns.max() + 1])
    order = np.lexsort((columns, rows))
    rows, columns, values = (np.asarray(part)[order] for part in (rows, columns, values))
    twice = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        got = f"row {rows[at]}, column {columns[at]} twice"
        raise InputError("y", "one value an entry", got, "keep the last, or their mean")
    return {"rows": rows.astype(np.int64), "columns": columns.astype(np.int64), "y": values, "size": size}


def whole(name: str, value: Any) -> Vector:
    """Return places as whole numbers from 0."""
    places = numbers(name, value, 1)
    wrong = (places < 0) | (places != np.round(places)) | (places >= 2**31)
    if wrong.any():
        got = f"{places[wrong][0]:g} at place {np.flatnonzero(wrong)[0] + 1}"
        raise InputError(name, f"whole numbers from 0 to {2**31 - 1}", got, "number rows and columns from 0")
    return places.astype(np.int64)
