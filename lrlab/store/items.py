"""Results of other items than trials, as JSON, in the file of a store: traces, draws of spectra, fits to data sets.

An item is known by a key that its caller makes of its values and of the code's version, see `presets.resumed`. The
table is made when it is first written to; older versions leave it alone.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lrlab.store.store import Store

TABLE = "CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID"


def read(store: Store, keys: Iterable[bytes]) -> dict[bytes, Any]:
    """Return the stored results by key; those that are not there are left out."""
    with store.reading() as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'items'").fetchone():
            return {}
        rows = (connection.execute("SELECT key, result FROM items WHERE key = ?", (key,)).fetchone() for key in keys)
        return {key: json.loads(result) for key, result in filter(None, rows)}


def add(store: Store, results: Mapping[bytes, Any]) -> None:
    """Store results, all of them or none."""
    rows = [(key, json.dumps(result, default=lambda value: value.item())) for key, result in results.items()]
    with store.writing() as connection:
        connection.execute(TABLE)
        connection.executemany("INSERT OR IGNORE INTO items VALUES (?, ?)", rows)
