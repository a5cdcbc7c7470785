"""Checks your data, and makes arrays of them: numbers, matrices with missing entries, patterns with masks."""

import re
from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse import coo_array, issparse

from lrlab.arrays import Array, Vector
from lrlab.parameters import InputError

LARGEST = 1e100
"""Largest number whose squares and their sums do not overflow; below its inverse, squares may be 0."""
Arrays = dict[str, Vector]


def numbers(name: str, value: Any, dimensions: int, *, complex_too: bool = False, gaps: bool = False) -> Vector:
    """Return a value as an array of finite numbers; with `gaps`, nan marks a missing one.

    Raises InputError in one sentence for anything else.
    """
    what = {1: "a vector", 2: "a table", 3: "a stack of tables"}[dimensions]
    if value is None:
        raise InputError(name, f"{what} of numbers", "nothing", f"give {name}")
    try:
        if isinstance(value, np.ma.MaskedArray):
            value = np.ma.filled(value.astype(np.result_type(value.dtype, np.float64)), np.nan)
        array = np.asarray(value.toarray() if issparse(value) else value)
        if np.iscomplexobj(array) and not complex_too:
            raise InputError(name, "real", "complex numbers", "give its real part, or real and imaginary parts")
        array = array.astype(np.complex128 if np.iscomplexobj(array) else np.float64, casting="unsafe")
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        # numpy's message ends with the first word in quotes.
        word = re.search("'.*'", str(error))
        got = word[0] if word else str(error).partition("\n")[0]
        raise InputError(name, f"{what} of numbers", got, "leave words out, or code them") from None
    if array.ndim == 2 and dimensions == 1 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != dimensions or not array.size:
        got = "nothing" if not array.size else f"an array of shape {array.shape}"
        raise InputError(name, f"{what} of numbers", got, f"give {name} with {dimensions} dimensions")
    wrong = ~(np.abs(array) <= LARGEST) & ~(np.isnan(array) if gaps else np.zeros(array.shape, dtype=bool))
    if wrong.any():
        place = ", ".join(str(int(index) + 1) for index in np.argwhere(wrong)[0])
        got = f"{array[wrong][0]} at place {place}"
        need = f"of finite numbers, at most {LARGEST:g} in size"
        raise InputError(name, need, got, "fill it in, or leave the row out")
    if 0.0 < (largest := np.nanmax(np.abs(array), initial=0.0)) < 1 / LARGEST:
        got = f"{largest:.3g} as the largest"
        raise InputError(name, f"of numbers that are 0, or some of them {1 / LARGEST:g} in size", got, "scale it up")
    return np.ascontiguousarray(array)


def dimensions(value: Any) -> int:
    """Return the number of dimensions of a value as an array, 0 if it makes no array."""
    try:
        return int(np.ndim(value))
    except ValueError:
        return 0


def rows_of(y: Array, **sides: Vector) -> None:
    """Raise InputError unless all have as many rows as y, and at least 2."""
    for name, side in sides.items():
        if len(side) != len(y):
            raise InputError(name, f"of as many rows as y, {len(y)}", len(side), "give each row its measurement")
    if len(y) < 2:
        raise InputError("y", "at least 2 measurements", len(y), "give more rows")


def two_values(values: Vector) -> Vector:
    """Return both values of one-bit responses; InputError for one value or more than two."""
    kinds = np.unique(values)
    if len(kinds) != 2:
        remedy = "code the responses as 0 and 1" if len(kinds) > 2 else "give rows of both responses"
        raise InputError("y", "of two values", "one" if len(kinds) == 1 else f"{len(kinds)} values", remedy)
    return kinds


def words_or_numbers(y: Any) -> Vector:
    """Return responses (n,), all words or all numbers."""
    flat = np.asarray(y, dtype=object).ravel()
    words = np.array([isinstance(value, str) for value in flat], dtype=bool)
    for place in np.flatnonzero(~words) if words.any() else ():
        # Missing words are None, nan, or pandas' NA, which has no number type.
        if not isinstance(flat[place], Number) or flat[place] != flat[place]:
            got = f"{flat[place]} at place {place + 1}"
            raise InputError("y", "a word in each row", got, "fill it in, or leave the row out")
    if flat.size and words.all():
        return flat.astype(str)
    return numbers("y", y, 1)


def responses(y: Any, X: Any, Z: Any) -> Arrays:
    """Return X (n, p) and y (n,), 1 for the larger of two values and -1 for the other."""
    none_of(Z, "one-bit responses")
    values, X = words_or_numbers(y), numbers("X", X, 2)
    rows_of(values, X=X)
    return {"X": X, "y": np.where(values == two_values(values)[1], 1.0, -1.0)}


def bilinear(y: Any, X: Any, Z: Any) -> Arrays:
    """Return X (m, d1), Z (m, d2), y (m,)."""
    if Z is None:
        remedy = "give Z, or take model=polynomial-network for y = x^T L x"
        raise InputError("Z", "a table of numbers, like X", "nothing", remedy)
    return measured(y, X=numbers("X", X, 2), Z=numbers("Z", Z, 2))


def quadratic(y: Any, X: Any, Z: Any) -> Arrays:
    """Return X (m, p), y (m,)."""
    none_of(Z, "quadratic measurements")
    return measured(y, X=numbers("X", X, 2))


def measured(y: Any, **sides: Vector) -> Arrays:
    """Return tables with numbers y (m,) for their rows."""
    arrays = {**sides, "y": numbers("y", y, 1)}
    rows_of(arrays["y"], **sides)
    return arrays


def none_of(Z: Any, what: str) -> None:
    """Raise InputError for a table Z that the model does not use."""
    if Z is not None:
        raise InputError("Z", f"left out of {what}", "a table", "leave it out, or take model=rank-one-sensing")


def magnitudes(y: Any, X: Any, Z: Any) -> Arrays:
    """Return A (m, p) and y (m,), or masks A (count, h, w) and patterns y (count, h, w)."""
    none_of(Z, "magnitudes")
    if 3 in (dimensions(y), dimensions(X)):
        patterns, masks = numbers("y", y, 3, gaps=True), numbers("X", X, 3, complex_too=True)
        if patterns.shape != masks.shape:
            got = f"{masks.shape}"
            raise InputError("X", f"a mask for each pattern, of shape {patterns.shape}", got, "give X = masks")
        h, w = masks.shape[1:]
        if not 2 <= h * w <= 10_000:
            raise InputError("X", "masks of 2 to 10,000 pixels", f"{h} x {w}", "bin or cut the patterns")
        known = ~np.isnan(patterns)
        return {"A": masks, "y": np.where(known, patterns, 0.0), **({} if known.all() else {"known": known})}
    arrays = measured(y, X=numbers("X", X, 2, complex_too=True))
    if arrays["X"].shape[1] < 2:
        raise InputError("X", "at least 2 columns", 1, "a single number is |y| / |a|")
    return {"A": arrays["X"], "y": arrays["y"]}


def matrix(y: Any, X: Any, Z: Any) -> Arrays:
    """Return rows, columns and y (m,) of the known entries in row-major order, the matrix's size, and features."""
    features = {name: numbers(name, side, 2) for name, side in (("X", X), ("Z", Z)) if side is not None}
    if issparse(y) or isinstance(y, tuple):
        rows, columns, values, size = _triples(y)
    else:
        table = numbers("y", y, 2, gaps=True)
        rows, columns = np.nonzero(~np.isnan(table))
        values, size = table[rows, columns], np.array(table.shape)
    for axis, (name, of) in enumerate((("X", "rows"), ("Z", "columns"))):
        if name in features and (count := len(features[name])) != size[axis]:
            # The last rows of triples may have no entry.
            if not isinstance(y, tuple) or count < size[axis]:
                raise InputError(name, f"features of all {size[axis]} {of} of the matrix", count, "give each its own")
            size[axis] = count
    if len(values) < 2:
        raise InputError("y", "at least 2 known entries", len(values), "give more entries")
    return {"rows": rows, "columns": columns, "y": values, "size": size, **features}


def _triples(y: Any) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the entries of a sparse matrix, or of three vectors: rows, columns (both from 0), values and the size."""
    if issparse(y):
        entries = coo_array(y)
        (rows, columns), values, size = entries.coords, numbers("y", entries.data, 1), np.array(entries.shape)
    else:
        if len(y) != 3:
            raise InputError("y", "three vectors: rows, columns, values", f"{len(y)}", "give three")
        rows, columns = (_whole(name, part) for name, part in zip(("rows", "columns"), y[:2], strict=True))
        values = numbers("y", y[2], 1)
        rows_of(values, rows=rows, columns=columns)
        size = np.array([rows.max() + 1, columns.max() + 1])
    order = np.lexsort((columns, rows))
    rows, columns, values = (np.asarray(part)[order] for part in (rows, columns, values))
    twice = (np.diff(rows) == 0) & (np.diff(columns) == 0)
    if twice.any():
        at = int(np.flatnonzero(twice)[0])
        got = f"row {rows[at]}, column {columns[at]} twice"
        raise InputError("y", "one value per entry", got, "keep the last, or their mean")
    return rows.astype(np.int64), columns.astype(np.int64), values, size


def _whole(name: str, value: Any) -> Vector:
    """Return indices as whole numbers from 0."""
    places = numbers(name, value, 1)
    wrong = (places < 0) | (places != np.round(places)) | (places >= 2**31)
    if wrong.any():
        got = f"{places[wrong][0]:g} at place {np.flatnonzero(wrong)[0] + 1}"
        raise InputError(name, f"whole numbers from 0 to {2**31 - 1}", got, "number rows and columns from 0")
    return places.astype(np.int64)


def model_of(y: Any, X: Any, Z: Any) -> str:
    """Return the model that fits the form of data; InputError if several models fit."""
    if issparse(y) or isinstance(y, tuple) or (dimensions(y) == 2 and 1 not in np.shape(y)):
        return "inductive-completion"
    if dimensions(y) == 3 or (dimensions(X) == 2 and np.iscomplexobj(X)):
        return "phase-retrieval"
    if Z is not None:
        return "rank-one-sensing"
    if X is not None:
        values = words_or_numbers(y)
        if values.dtype.kind == "U" or len(np.unique(values)) <= 2:
            two_values(values)
            return "flipped-logistic"
    remedy = "polynomial-network for y = x^T L x, phase-retrieval for y = |<a, x>|"
    raise InputError("model", "named for numbers y and one table X", "nothing", remedy)
