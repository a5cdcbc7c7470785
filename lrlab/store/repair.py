"""Repairs a damaged store: all rows that are sound go to a new file in its place."""

import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lrlab.parameters import InputError
from lrlab.store import code_version, pages, store_file
from lrlab.store.rows import checksum, new_checksum, sweep_checksum
from lrlab.store.store import Store

TEXTS, TRIAL = (str, str, str, str), (int, int, int, str, int, int | float, int, str)
SWEEP = (str, str, str, str, str, int, int, int | float)


class Repair(NamedTuple):
    """What a repair has left: the number of trials, and the damaged file; None where nothing was damaged."""

    trials: int
    damaged: Path | None


def repair(path: Path) -> Repair:
    """Put a store with the sound rows of a damaged one in its place; that is retained under another name.

    InputError where the file cannot be read, or is not a store of lrlab as far as its rows tell.
    """
    if not path.is_file():
        raise InputError("store", "an existing file", path, "name one that `sweep --store` has written")
    if (intact := _intact_trials(path)) is not None:
        return Repair(intact, None)
    with store_file.worded(path), TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        saved = _Rows(_content(path, Path(folder)))
        if not saved.cells:
            remedy = "no row of it is sound: restore it, or remove it and compute anew"
            raise InputError("store", "a store of lrlab", path, remedy)
        new = Path(folder) / "repaired.sqlite"
        with Store(new) as store:
            with store.writing() as connection:
                saved.write(connection)
            trials = sum(group.trials for group in store.groups())
        damaged = path.with_name(f"{path.name}.damaged")
        for old, retained in zip(store_file.parts(path), store_file.parts(damaged), strict=True):
            retained.unlink(missing_ok=True)
            if old.exists():
                old.replace(retained)
        new.replace(path)
    return Repair(trials, damaged)


def _intact_trials(path: Path) -> int | None:
    """Return the number of trials of a store in which nothing is damaged; None of others."""
    with suppress(InputError, RuntimeError), Store(path, create=False) as store:
        trials = sum(sum(1 for _ in store.rows(group)) for group in store.groups())
        with store.reading() as connection:
            store.items(key for (key,) in connection.execute("SELECT key FROM items").fetchall())
            sweeps = connection.execute("SELECT * FROM sweeps").fetchall()
        return trials if all(row[-1] == sweep_checksum(row[:-1]) for row in sweeps) else None
    return None


def _content(path: Path, folder: Path) -> bytes:
    """Return the pages of a store, with those of its write-ahead log where SQLite can still take them in."""
    copies = store_file.parts(folder / "copy.sqlite")
    for part, copy in zip(store_file.parts(path)[:2], copies, strict=False):
        if part.exists():
            shutil.copyfile(part, copy)
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(copies[0])) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return copies[0].read_bytes()


def _like(values: list[Any], kinds: tuple[Any, ...], more: tuple[int, ...] = (0, 1)) -> bool:
    """Tell whether values are of some kinds, and so many more: rows of an older lrlab have no checksum at their end."""
    return len(values) - len(kinds) in more and all(map(isinstance, values, kinds))


class _Rows:
    """The rows that are left of a store; those of other forms than its tables have are left out.

    Groups and measures are in an index, too, whose text may be sound where that of the table is not.
    """

    def __init__(self, content: bytes) -> None:
        self._groups, self._measures = defaultdict[int, list[Any]](list), defaultdict[int, list[Any]](list)
        self._trials, self._sweeps, self._items = list[list[Any]](), list[list[Any]](), list[list[Any]]()
        cells = list[tuple[int, bytes, int, str]]()
        for number, values in pages.records(content):
            row: list[Any] = [number, *values[1:]] if number is not None else values
            if number is None and _like(row, (*TEXTS, int), (0,)):
                self._groups[row[4]].append(tuple(row[:4]))
            elif number is None and _like(row, (str, int), (0,)):
                self._measures[row[1]].append(row[0])
            elif number is None:
                for kinds, rows in ((TRIAL, self._trials), (SWEEP, self._sweeps), ((bytes, str), self._items)):
                    if _like(row, kinds):
                        rows.append(row)
            elif _like(row, (int, *TEXTS), (0,)):
                self._groups[number].append(tuple(row[1:]))
            elif _like(row, (int, bytes, int, str)):
                cells.append((number, row[1], row[2], row[3]))
            elif _like(row, (int, str), (0,)):
                self._measures[number].append(row[1])
        self.cells = {
            cell: (key, group, spec, texts)
            for cell, key, group, spec in cells
            for texts in self._groups[group]
            if code_version.is_key(key, texts[0], spec, *texts[1:])
        }

    def write(self, connection: sqlite3.Connection) -> None:
        """Put the sound rows into the tables of a new store."""
        groups = {(group, *texts) for _, group, _, texts in self.cells.values()}
        connection.executemany("INSERT OR IGNORE INTO groups VALUES (?, ?, ?, ?, ?)", groups)
        cells = [(cell, key, group, spec) for cell, (key, group, spec, _) in self.cells.items()]
        connection.executemany("INSERT OR IGNORE INTO cells (id, key, group_id, spec) VALUES (?, ?, ?, ?)", cells)
        for names, row in filter(None, map(self._sound_trial, self._trials)):
            connection.execute("INSERT OR IGNORE INTO measures VALUES (?, ?)", (row[6], names))
            connection.execute("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("UPDATE cells SET trials = (SELECT count(*) FROM trials WHERE cell = id)")
        # A page that is not used any more may have an older line of the same sweep.
        newest = sorted(self._sweeps, key=lambda values: -values[7])
        sweeps = [*_sound(newest, 8, sweep_checksum)]
        connection.executemany("INSERT OR IGNORE INTO sweeps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", sweeps)
        items = [*_sound(self._items, 2, lambda values: checksum(*values))]
        connection.executemany("INSERT OR IGNORE INTO items VALUES (?, ?, ?)", items)

    def _sound_trial(self, values: list[Any]) -> tuple[str, tuple[Any, ...]] | None:
        """Return the names of the scores and the row of a trial that is sound; None of others."""
        cell, trial, seed, stop, iterations, seconds, measure, scores, *stored = values
        if cell not in self.cells:
            return None
        for names in self._measures[measure]:
            own = new_checksum(self.cells[cell][0], names, trial, seed, stop, iterations, seconds, scores)
            if own is not None and stored in ([], [own]):
                return names, (*values[:8], own)
        return None


def _sound(
    rows: Iterable[list[Any]], width: int, checksum_of: Callable[[Sequence[Any]], int]
) -> Iterator[tuple[Any, ...]]:
    """Yield, with their checksums, the rows that are so wide and have none or the right one."""
    for values in rows:
        own = checksum_of(values[:width])
        if values[width:] in ([], [own]):
            yield (*values[:width], own)
