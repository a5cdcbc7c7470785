"""A store as one tidy table, a row a trial: CSV, or Parquet where pyarrow is there. Few rows are in memory at once."""

import csv
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.store.store import Store

Row = dict[str, Any]
Columns = dict[str, type]
ROWS = 20_000


def export(store: Store, out: Path) -> int:
    """Write all trials of a store to a file, by its ending, and return their number; InputError where it cannot be."""
    write = WRITERS.get(out.suffix.lower())
    if write is None:
        raise InputError("export", "a file that ends in .csv or .parquet", out, "name it so")
    if write is write_parquet and find_spec("pyarrow") is None:
        raise InputError("export", "a .csv file without pyarrow", out, "install pyarrow, or name a .csv file")
    if store.path and out.resolve() == store.path.resolve():
        raise InputError("export", "another file than the store", out, "name another")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        os.close(handle)
        unfinished = Path(name)
        try:
            written = write(columns(store), chain.from_iterable(map(store.rows, store.groups())), unfinished)
            # What is there under the name stays until the new table is whole.
            unfinished.chmod(0o644)
            unfinished.replace(out)
        finally:
            unfinished.unlink(missing_ok=True)
        return written
    except OSError as error:
        raise InputError("export", "a file that can be written", out, f"{error.strerror}: name another") from error


def columns(store: Store) -> Columns:
    """Return the columns that the trials of a store need together, with the type that holds all values of each."""
    types: Columns = {}
    for group in store.groups():
        for name, value in next(store.rows(group), {}).items():
            kind = type(value)
            first = types.setdefault(name, kind)
            if first is not kind:
                types[name] = float if {first, kind} == {int, float} else str
    ending = {name: types.pop(name) for name in ("stop", "iterations", "seconds", "stale") if name in types}
    return {**types, **dict.fromkeys(store.measures(), float), **ending}


def write_csv(columns: Columns, rows: Iterator[Row], out: Path) -> int:
    """Write a CSV; numbers are written so that reading them gives the very same ones."""
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        number = 0
        for number, row in enumerate(rows, 1):  # noqa: B007  (the number of the last)
            writer.writerow(row)
    return number


def write_parquet(columns: Columns, rows: Iterator[Row], out: Path) -> int:
    """Write a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    number = 0
    with parquet.ParquetWriter(out, schema) as writer:
        while some := list(islice(rows, ROWS)):
            typed = [{name: columns[name](value) for name, value in row.items()} for row in some]
            writer.write_table(pyarrow.Table.from_pylist(typed, schema))
            number += len(some)
    return number


WRITERS: dict[str, Callable[[Columns, Iterator[Row], Path], int]] = {".csv": write_csv, ".parquet": write_parquet}
