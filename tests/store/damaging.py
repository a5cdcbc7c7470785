"""Draws damage of stores: bytes flipped, pages cut or overwritten, values and texts changed."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

TABLES = ("trials", "cells", "groups", "measures", "items", "sweeps")
PAGE = 4096


def flipped(path: Path, chance: random.Random) -> str:
    """Flip bits of one to twenty bytes, near each other."""
    content = bytearray(path.read_bytes())
    place, number = chance.randrange(len(content)), chance.choice([1, 1, 1, 20])
    for k in range(place, min(place + number, len(content))):
        content[k] ^= chance.randrange(1, 256)
    path.write_bytes(content)
    return f"{number} bytes at {place}"


def cut(path: Path, chance: random.Random) -> str:
    """Cut the file short, at a page or within one."""
    size = path.stat().st_size
    end = chance.choice([chance.randrange(size), PAGE * chance.randrange(size // PAGE)])
    path.write_bytes(path.read_bytes()[:end])
    return f"cut at {end}"


def overwritten(path: Path, chance: random.Random) -> str:
    """Overwrite a page: with zeros, with what is drawn, or with another page."""
    content = bytearray(path.read_bytes())
    place, other = (PAGE * chance.randrange(len(content) // PAGE) for _ in range(2))
    what = chance.choice([bytes(PAGE), chance.randbytes(PAGE), bytes(content[other : other + PAGE])])
    content[place : place + PAGE] = what
    path.write_bytes(content)
    return f"page at {place} overwritten"


def changed(path: Path, chance: random.Random) -> str:
    """Change one value of one row, so that the file stays sound as a database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        table = chance.choice(TABLES)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
        column, row = chance.choice(columns), chance.choice(rows)
        value = row[columns.index(column)]
        new = _other(value, chance)
        where = " AND ".join(f"{name} IS ?" for name in columns)
        kind = "CAST(? AS TEXT)" if isinstance(value, str) else "?"
        try:
            connection.execute(f"UPDATE {table} SET {column} = {kind} WHERE {where}", (new, *row))
        except sqlite3.IntegrityError:
            return "nothing"
    return f"{table}.{column}: {value!r} is {new!r}"


def _other(value: object, chance: random.Random) -> object:
    if isinstance(value, int | float):
        return chance.choice([value + 1, -value - 1, 1.0000001 * value + 1e-9])
    content = bytearray(value.encode() if isinstance(value, str) else value)
    digits = [k for k, byte in enumerate(content) if chr(byte).isdigit()]
    if digits and chance.random() < 0.5:
        place = chance.choice(digits)
        content[place] = ord(chance.choice([d for d in "0123456789" if d != chr(content[place])]))
    else:
        content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
    # As bytes, for texts are then no longer UTF-8, too.
    return bytes(content)


KINDS = (flipped, flipped, cut, overwritten, changed, changed, changed)


def damage(path: Path, chance: random.Random) -> str:
    """Damage a store, and return what was done."""
    return chance.choice(KINDS)(path, chance)
