"""The file of a store: made in one piece, and refused untouched where it is foreign, damaged or of another format."""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shlex import quote as quoted
from urllib.parse import quote

from lrlab.parameters import InputError, printable
from lrlab.store import rows

APPLICATION = 0x6C726C62
FORMAT = 3
MAGIC = b"SQLite format 3\0"

SWEEPS = """
CREATE TABLE sweeps (
    session TEXT NOT NULL, definition TEXT NOT NULL, title TEXT NOT NULL, page TEXT NOT NULL, state TEXT NOT NULL,
    done INTEGER NOT NULL, total INTEGER NOT NULL, changed REAL NOT NULL, checksum INTEGER,
    PRIMARY KEY (session, definition)
) WITHOUT ROWID;
"""
ITEMS = """
CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, result TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID;
"""
CLAIMS = """
CREATE TABLE IF NOT EXISTS claims (
    key BLOB NOT NULL, trial INTEGER NOT NULL, owner TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (key, trial)
) WITHOUT ROWID;
"""
SCHEMA = f"""
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL, solver TEXT NOT NULL, settings TEXT NOT NULL, version TEXT NOT NULL,
    UNIQUE (model, solver, settings, version)
);
CREATE TABLE cells (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, group_id INTEGER NOT NULL REFERENCES groups, spec TEXT NOT NULL,
    trials INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE measures (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE trials (
    cell INTEGER NOT NULL REFERENCES cells, trial INTEGER NOT NULL, seed INTEGER NOT NULL, stop TEXT NOT NULL,
    iterations INTEGER NOT NULL, seconds REAL NOT NULL, measures INTEGER NOT NULL REFERENCES measures,
    scores TEXT NOT NULL, checksum INTEGER,
    PRIMARY KEY (cell, trial)
) WITHOUT ROWID;
{SWEEPS}{ITEMS}{CLAIMS}"""
"""groups: trials alike but for their spec. cells: spec (JSON, with the sweep's seed). trials: by their number in the
cell; `scores` is a JSON list of what `measures` names: null where it is not a number, text where it is infinite.
sweeps (since format 2): what a browser session has run (`history`), as TOML; `changed` in seconds since 1970.
items: results of other things than trials: traces, draws of spectra, fits to data sets, as JSON.
claims: trials that a process computes, until then (see `claims`). checksum: see `rows`; rows that an older lrlab wrote
get theirs when the store is opened."""
FORMAT_2 = "ALTER TABLE lots RENAME TO groups; ALTER TABLE cells RENAME COLUMN lot TO group_id;"
"""What brings formats 1 and 2 to the columns of today."""


def connect(
    path: Path | None, create: bool = True, checked: bool = False, lock_wait_seconds: float = 0.0
) -> sqlite3.Connection:
    """Return a connection to a store: at a path, made if there is none, or in memory; InputError if it cannot be used.

    What a killed writer left half-written is taken back by SQLite. A commit is on the disk when it returns: the write-
    ahead log is then synchronised. checked: this process has checked all pages of the file before, which takes half a
    second a million trials. lock_wait_seconds: how long to wait for another process that writes.
    """
    if path is None:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(SCHEMA)
        return connection
    with worded(path):
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            if not create:
                raise InputError("store", "an existing file", path, "name one that `sweep --store` has written")
            _make(path)
        if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, "it is write-protected")
        _check_header(path)
        if not checked:
            _check_pages(path, lock_wait_seconds)
        connection = sqlite3.connect(path, timeout=lock_wait_seconds, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
        # Asked of SQLite: what the header says may be overruled by the write-ahead log.
        _check_format(int(connection.execute("PRAGMA user_version").fetchone()[0]), path)
        if "checksum" not in (row[1] for row in connection.execute("PRAGMA table_info(trials)")):
            rows.add_checksums(connection)
            connection.executescript(f"{ITEMS}{CLAIMS}")
        if checked:
            _check_index(connection)
        return connection


def parts(path: Path) -> list[Path]:
    """Return the file of a store and those that SQLite puts beside it."""
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]


def _make(path: Path) -> None:
    """Make an empty store elsewhere and give it its name when it is whole: nobody ever sees a part of one."""
    for remains in (path.with_name(path.name + ending) for ending in ("-wal", "-journal")):
        # SQLite would take them for those of the new store, and write the pages of another into it.
        if remains.exists() and not path.exists():
            remedy = f"remove {remains.name}, or name another file"
            raise InputError("store", "without remains of a lost one", path.name, remedy)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT};"
            connection.executescript(f"BEGIN; {marks} {SCHEMA} COMMIT")
        # mkstemp keeps others out, which an ordinary file does not.
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        if path.exists():
            os.replace(name, path)
        else:
            # Unlike a renaming, a link does not put an empty store over one that another process has just made.
            with suppress(FileExistsError):
                os.link(name, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _check_header(path: Path) -> None:
    application, form = _marks(path)
    if application != APPLICATION:
        raise InputError("store", "a store of lrlab", path, "it holds something else: name another file")
    _check_format(form, path)


def _marks(path: Path) -> tuple[int, int]:
    """Return the application and the format of a file; zeros where it is no database."""
    # Read as bytes: SQLite itself would take back, and so change, what it finds half-written in a foreign database.
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(MAGIC):
        return 0, 0
    return int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")


def _check_format(form: int, path: Path) -> None:
    if form > FORMAT:
        remedy = f"a newer lrlab wrote it (format {form}): update lrlab, or name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)
    if form < FORMAT:
        remedy = f"an older lrlab wrote it (format {form}): `store FILE --export OUT` exports it; name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)


def readable(path: Path, folder: Path) -> Path:
    """Return a store that can be read: this one, or a copy in a folder of one of an older format, with its trials."""
    with worded(path):
        application, form = _marks(path) if path.is_file() else (0, 0)
        if application != APPLICATION or form >= FORMAT:
            return path
        copy = folder / path.name
        # A copy of the files: SQLite would leave its own beside the old store.
        for ending in ("", "-wal"):
            if (part := path.with_name(path.name + ending)).exists():
                shutil.copyfile(part, copy.with_name(copy.name + ending))
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.executescript(f"{FORMAT_2} {SWEEPS if form < 2 else ''} PRAGMA user_version = {FORMAT};")
        return copy


@contextmanager
def worded(path: Path) -> Iterator[None]:
    """Raise InputError where a file cannot be used."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError("store", "a file that can be read and written", path, f"{reason}: name another") from error
    except sqlite3.DatabaseError as error:
        raise damaged(path, str(error)) from error
    except UnicodeDecodeError as error:
        # SQLite's own sentence quotes what is damaged.
        raise damaged(path, "a text in it cannot be read") from error


def damaged(path: Path | None, what: str) -> InputError:
    """Return the error for a store of which something is damaged, with how to go on without that."""
    remedy = f"restore it, or let `python -m lrlab store {quoted(str(path))} --repair` drop what is damaged"
    return InputError("store", "a sound store", path, f"it is damaged ({printable(what)}): {remedy}")


def _check_index(connection: sqlite3.Connection) -> None:
    # Cells are looked up by their keys: one that its index has lost would be computed once more.
    rows, keys = (
        connection.execute(f"SELECT count(*), count(DISTINCT key) FROM cells {way}").fetchone()
        for way in ("NOT INDEXED", "INDEXED BY sqlite_autoindex_cells_1")
    )
    if rows != keys:
        raise sqlite3.DatabaseError("the index of cells has lost some of them")


def _check_pages(path: Path, lock_wait_seconds: float) -> None:
    # Read-only, so that a damaged file stays as it is for whoever wants to repair it.
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=lock_wait_seconds)) as look:
        verdict = look.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(" ".join(verdict.replace("***", " ").split())[:100])
