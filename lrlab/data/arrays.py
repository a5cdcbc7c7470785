"""Checks your data, and makes arrays of numbers of them."""

import re
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

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
        if array.dtype == object:
            # pandas has marks of missing values that are no numbers.
            array = np.where(pd.isna(array), np.nan, array)
        array = array.astype(np.complex128 if np.iscomplexobj(array) else np.float64, casting="unsafe")
    except (TypeError, ValueError) as error:
        # numpy's message ends with the first word in quotes.
        word = re.search("'.*'", str(error))
        got = word[0] if word else str(error).partition("\n")[0]
        raise InputError(name, f"{what} of numbers", got, "leave words out, or code them") from None
    if np.iscomplexobj(array) and not complex_too:
        raise InputError(name, "real", "complex numbers", "give its real part, or real and imaginary parts")
    if array.ndim == 2 and dimensions == 1 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != dimensions or not array.size:
        got = "nothing" if not array.size else f"an array of shape {array.shape}"
        raise InputError(name, f"{what} of numbers", got, f"give {name} with {dimensions} dimensions")
    wrong = ~(np.abs(array) <= LARGEST) & ~(np.isnan(array) if gaps else np.zeros(array.shape, dtype=bool))
    if wrong.any():
        place = ", ".join(str(int(index) + 1) for index in np.argwhere(wrong)[0])
        got = f"{array[wrong][0]} at position {place}"
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


def words_or_numbers(y: Any) -> Vector:
    """Return responses (n,), all words or all numbers."""
    values = pd.Series(np.asarray(y, dtype=object).ravel(), dtype=object)
    if pd.api.types.infer_dtype(values) != "string":
        return numbers("y", y, 1)
    if (missing := values.isna()).any():
        got = f"{values[missing].iloc[0]} in row {missing.idxmax() + 1}"
        raise InputError("y", "a word in each row", got, "fill it in, or leave the row out")
    return values.to_numpy(str)


def measured(y: Any, **sides: Vector) -> Arrays:
    """Return tables with numbers y (m,) for their rows."""
    arrays = {**sides, "y": numbers("y", y, 1)}
    rows_of(arrays["y"], **sides)
    return arrays


def model_of(y: Any, X: Any, Z: Any) -> str:
    """Return the model that fits the form of data; InputError if several models fit."""
    if issparse(y) or (isinstance(y, tuple) and dimensions(y) != 1) or (dimensions(y) == 2 and 1 not in np.shape(y)):
        return "inductive-completion"
    if dimensions(y) == 3 or (dimensions(X) == 2 and np.iscomplexobj(X)):
        return "phase-retrieval"
    if Z is not None:
        return "rank-one-sensing"
    if X is not None:
        values = words_or_numbers(y)
        if values.dtype.kind == "U" or len(np.unique(values)) <= 2:
            return "flipped-logistic"
    numbers("X", X, 2)
    remedy = "polynomial-network for y = x^T L x, phase-retrieval for y = |<a, x>|"
    raise InputError("model", "named for numbers y and one table X", "nothing", remedy)
