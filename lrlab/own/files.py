"""Reads files of own measurements: CSV, parquet and npz become the y, X and Z of `lrlab.recover`.

A CSV or parquet file has one row per measurement, or is a table with gaps, whose first column may name its rows. An npz
has arrays y, X (or A, masks) and Z (or rows, columns and y of a table's entries). Nothing in a file is executed.
"""

import itertools
import re
from array import array
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.datasets.npz import NUMBERS, read_arrays
from lrlab.datasets.table import csv_rows, header_of, require_width
from lrlab.datasets.text import LIMIT_BYTES, UNKNOWN, Source, number, printable, require_room
from lrlab.datasets.unpacking import data_suffix
from lrlab.parameters import InputError, nearest

FORMATS = {".csv": "CSV", ".tsv": "CSV", ".npz": ".npz", ".parquet": "parquet"}
NAMES = {"y": "y", "table": "y", "patterns": "y", "X": "X", "A": "X", "masks": "X", "Z": "Z"}
PLACES = ("rows", "columns")
Values = Array | list[str]


class Columns(NamedTuple):
    """Which columns of a table are y and Z, by names, numbers from 1 or ranges such as 5-9, split by commas.

    triples: whether the columns are rows, columns and values of a table's entries.
    """

    y: str = ""
    Z: str = ""
    triples: bool = False


LAST = Columns()


class Measurements(NamedTuple):
    """The arguments y, X and Z of `recover`, and the names of the columns of X, of a table's columns and rows."""

    y: Any
    X: Any = None
    Z: Any = None
    names: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def read_measurements(
    path: str | PathLike[str], columns: Columns = LAST, *, gaps: bool = False, limit_bytes: int = LIMIT_BYTES
) -> Measurements:
    """Read a file of measurements; InputError in one sentence for what cannot be used.

    gaps: whether all of it is a table with gaps. Where neither that nor a column y is said, and no column is called y,
    a file with gaps, or without words, is one; else the last column is y.
    """
    path = Path(path)
    suffix = data_suffix(path)
    if suffix not in FORMATS:
        raise InputError(
            "file", f"one of {', '.join(FORMATS)}", printable(path.name), nearest(suffix, FORMATS) or "convert it"
        )
    source = Source(path, FORMATS[suffix])
    source.check_size(limit_bytes, **({} if FORMATS[suffix] == "CSV" else {"growth": 1}))
    if suffix == ".npz":
        return _of_arrays(source, limit_bytes)
    table = _of_parquet(source, limit_bytes) if suffix == ".parquet" else _of_csv(source, limit_bytes)
    return arranged(table, columns, gaps)


def _of_csv(source: Source, limit_bytes: int) -> dict[str, Values]:
    """Return the columns of a CSV file by name: numbers, nan in gaps, or words where the first value is one."""
    names, rows = header_of(source, csv_rows(source, limit_bytes), required=False)
    start, first = next(rows, (1, []))
    if not first:
        raise source.refuse(start, "at least one row of values", "none", "add the rows")
    titles = names or tuple(str(place + 1) for place in range(len(first)))
    worded = [number(field) is None and field.strip().lower() not in UNKNOWN for field in first]
    words: list[list[str]] = [[] for _ in titles]
    values = [array("d") for _ in titles]
    require_width(source, start, first, len(titles))
    for line, row in itertools.chain([(start, first)], rows):
        require_width(source, line, row, len(titles))
        for place, field in enumerate(row):
            if worded[place]:
                words[place].append(field.strip())
                continue
            value = number(field)
            if value is None and field.strip().lower() not in UNKNOWN:
                need = f"a number or nothing in column {printable(titles[place])[:60]}"
                raise source.refuse(line, need, field, "correct it, or write words in all rows")
            values[place].append(np.nan if value is None else value)
    both = zip(titles, worded, words, values, strict=True)
    return {title: text if is_word else np.frombuffer(figures) for title, is_word, text, figures in both}


def _of_parquet(source: Source, limit_bytes: int) -> dict[str, Values]:
    """Return the columns of a parquet file by name."""
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(source.path) as file:
            require_room(source, 16 * file.metadata.num_rows * file.metadata.num_columns, limit_bytes, "columns")
            frame = file.read().to_pandas()
    except InputError:
        raise
    except Exception as error:
        # A damaged file makes pyarrow raise a dozen kinds of error.
        got = f"{printable(source.path.name)} ({' '.join(str(error).split())[:200]})"
        raise InputError("file", "a whole parquet file", got, "write it anew, with plain columns") from None
    if not len(frame) or len(set(frame.columns)) < len(frame.columns):
        got = "no rows" if not len(frame) else "two columns of one name"
        raise InputError("file", "a parquet table with rows and names that differ", got, "write it anew")
    columns: dict[str, Values] = {}
    for name, column in frame.items():
        try:
            columns[str(name)] = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            if not all(isinstance(value, str) for value in column):
                raise InputError(f"column {name}", "of numbers or of words", column.dtype, "convert it") from None
            columns[str(name)] = column.tolist()
    return columns


def _of_arrays(source: Source, limit_bytes: int) -> Measurements:
    """Return the arrays of an npz by what they are."""
    arrays = read_arrays(source, limit_bytes, {*NAMES, *PLACES}.__contains__, lambda *_: None, NUMBERS)
    roles = [NAMES[name] for name in arrays if name in NAMES]
    if "y" not in roles or len(set(roles)) < len(roles):
        got = ", ".join(arrays) or "none of them"
        raise InputError("file", f"an .npz with arrays y, X and Z ({', '.join(NAMES)})", got, "save it with y=...")
    by_role: dict[str, Any] = {NAMES[name]: array for name, array in arrays.items() if name in NAMES}
    if any(name in arrays for name in PLACES):
        if not all(name in arrays for name in PLACES):
            raise InputError("file", "an .npz with both rows and columns beside y", "one of them", "save both")
        by_role["y"] = (arrays["rows"], arrays["columns"], by_role["y"])
    return Measurements(**by_role)


def arranged(table: dict[str, Values], columns: Columns, gaps: bool) -> Measurements:
    """Return the columns of a table as measurements."""
    titles = tuple(table)
    if columns.triples:
        return _triples(table)
    own_y = next((title for title in titles if title.lower() == "y"), "")
    figures = [values for values in table.values() if not isinstance(values, list)]
    open_cells = any(np.isnan(values).any() for values in figures)
    if gaps or not (columns.y or columns.Z or own_y) and (open_cells or len(figures) == len(table)):
        return _with_gaps(table)
    [at] = chosen("y", columns.y or own_y or str(len(titles)), titles, most=1)
    right = chosen("Z", columns.Z, titles) if columns.Z else []
    left = [place for place in range(len(titles)) if place != at and place not in right]
    values = table[titles[at]]
    X, Z = (_numbers(table, [titles[place] for place in places]) for places in (left, right))
    names = tuple(titles[place] for place in left)
    return Measurements(np.array(values) if isinstance(values, list) else values, X, Z if right else None, names)


def chosen(what: str, text: str, titles: tuple[str, ...], most: int = 0) -> list[int]:
    """Return the places of columns that a text names, at most so many of them (0: any number)."""
    places: list[int] = []
    for part in (text,) if text in titles else text.split(","):
        span = re.fullmatch(r"\s*(\d{1,7})(?:-(\d{1,7}))?\s*", part)
        if part.strip() in titles:
            places.append(titles.index(part.strip()))
        elif span and 1 <= int(span[1]) <= int(span[2] or span[1]) <= len(titles):
            places.extend(range(int(span[1]) - 1, int(span[2] or span[1])))
        else:
            expected = f"columns by name, or in 1..{len(titles)} ({', '.join(titles)})"
            raise InputError(what, printable(expected)[:200], part, nearest(part, titles) or "name columns of the file")
    if (most and len(places) > most) or len(set(places)) < len(places):
        raise InputError(what, f"{most or 'each'} column once", text, "name each column once")
    return places


def _numbers(table: dict[str, Values], titles: list[str]) -> Array | None:
    for title in titles:
        if isinstance(table[title], list):
            got = f"words such as {table[title][0]}"
            raise InputError(f"column {title[:60]}", "of numbers", got, "leave the column out, or code its words")
    return np.column_stack([table[title] for title in titles]) if titles else None


def _with_gaps(table: dict[str, Values]) -> Measurements:
    titles = list(table)
    named = isinstance(table[titles[0]], list) and len(titles) > 1
    rows = tuple(map(str, table[titles[0]])) if named else ()
    return Measurements(_numbers(table, titles[named:]), names=tuple(titles[named:]), rows=rows)


def _triples(table: dict[str, Values]) -> Measurements:
    if len(table) != 3:
        raise InputError(
            "columns", "three: rows, columns and values of a table's entries", len(table), "leave others out"
        )
    rows, columns, values = table.values()
    if isinstance(values, list):
        raise InputError("values", "numbers in the third column", values[0], "write rows, columns, values")
    (rows_at, row_names), (columns_at, names) = (_places(part) for part in (rows, columns))
    return Measurements((rows_at, columns_at, values), names=names, rows=row_names)


def _places(values: Values) -> tuple[Indices, tuple[str, ...]]:
    """Return the places of names, or of numbers, among all of them in order, and these as names."""
    if not isinstance(values, list) and np.isnan(values).any():
        raise InputError("rows and columns", "named in each row", "nothing", "name them")
    known, places = np.unique(np.array(values), return_inverse=True)
    return places, tuple(f"{name:g}" if not isinstance(values, list) else str(name) for name in known)
