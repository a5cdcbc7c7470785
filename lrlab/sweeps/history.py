"""The list of sweeps that browser sessions have run: their definitions, in the store of their trials."""

from typing import Literal, NamedTuple, get_args

from lrlab.parameters import require_known
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.toml import parse

State = Literal["running", "paused", "cancelled", "failed", "done"]
"""The last known state of a sweep; one that is still "running" may have been lost with its server."""


class Past(NamedTuple):
    """A sweep on a session's list: its definition as TOML, the page that it was run on, its progress in trials.

    changed: in seconds since 1970.
    """

    session: str
    definition: str
    title: str
    page: str
    state: State
    done: int
    total: int
    changed: float

    @property
    def sweep(self) -> Sweep:
        """The sweep; InputError where its definition is none by today's rules."""
        return parse(self.definition)


COLUMNS = ", ".join(Past._fields)


def note(store: Store, line: Past) -> None:
    """Put a sweep on its session's list, or bring its line there up to date: it has one, however often it was run."""
    require_known(line.state, get_args(State), what="state")
    with store.writing() as connection:
        connection.execute(f"INSERT OR REPLACE INTO sweeps ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", line)


def past(store: Store, session: str, most: int = 100) -> list[Past]:
    """Return the sweeps of a session, the newest first."""
    with store.reading() as connection:
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM sweeps WHERE session = ? ORDER BY changed DESC, definition LIMIT ?", (session, most)
        ).fetchall()
    return [Past(*row) for row in rows]


def forget(store: Store, session: str, definition: str) -> None:
    """Take a sweep off a session's list; its trials stay."""
    with store.writing() as connection:
        connection.execute("DELETE FROM sweeps WHERE session = ? AND definition = ?", (session, definition))
