"""Brings stores of older formats to today's, with the trials whose numbers today's code would give again.

Format 2 knew the code of a trial by a hash of its source texts. `format2_versions.json` says which of these hashes
stand for the same numbers as which version of today: {model: {solver: {hash of format 2: version}}}. After changes to
code that leave all numbers as they are, `python -m lrlab.store.old_stores` writes the table anew; with a file
{model: {solver: hash}} it makes one from the hashes of a release.
"""

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.protocol import Stop
from lrlab.store import code_version

TABLE = Path(__file__).with_name("format2_versions.json")
RENAMES = ("ALTER TABLE lots RENAME TO groups", "ALTER TABLE cells RENAME COLUMN lot TO group_id")
CLOSED_FORMS = frozenset({"marginal-mean", "sir", "phd", "save", "cplst", "plst", "bcs"})
"""They claimed a residual of 0 after their only iterate, and are now FINISHED."""
FINISHING = frozenset({"geco", "leml-squared", "marginal-mean", "one-bit-likelihood", "pairwise-moment"})
"""Where these end by themselves they are FINISHED."""
EXHAUSTING = frozenset({"altmin", "gfm"})
"""Where these end by themselves all batches of fresh samples are used."""
SETTLING = frozenset({"ep-rom", "ap-rom", "gfm", "geco"})
"""Their residual is that of a fixed point; where it is 0 it may have been the misfit that was."""
GIVEN_SUPPORT = frozenset({"marginal-mean", "sir", "biht", "nbiht", "subset-logistic"})
"""They were given the size of a picture's support, and no longer are."""
IN_PASSES = frozenset({"binary-relevance", "svm"})
MOST_PASSES = 4


class Cell(NamedTuple):
    """What the trials of a cell have in common."""

    model: str
    solver: str
    spec: dict[str, Any]
    tol: float


def convert(connection: sqlite3.Connection, sweeps: str, form: int) -> None:
    """Bring a store of an older format to format 3, inside a transaction; `sweeps` makes the table that 1 lacked."""
    if form < 2:
        connection.execute(sweeps)
    for statement in RENAMES:
        connection.execute(statement)
    versions = json.loads(TABLE.read_text())
    groups = connection.execute("SELECT id, model, solver, settings, version FROM groups").fetchall()
    for group, model, solver, settings, old in groups:
        if version := versions.get(model, {}).get(solver, {}).get(old):
            _carry_over(connection, group, (model, solver, settings, version))


def _carry_over(connection: sqlite3.Connection, group: int, new: tuple[str, str, str, str]) -> None:
    """Move the trials of a group to one with today's version; where the stop is uncertain they stay, and are stale."""
    model, solver, settings, version = new
    connection.execute("INSERT OR IGNORE INTO groups (model, solver, settings, version) VALUES (?, ?, ?, ?)", new)
    where = "WHERE (model, solver, settings, version) = (?, ?, ?, ?)"
    (target,) = connection.execute(f"SELECT id FROM groups {where}", new).fetchone()
    for cell, spec in connection.execute("SELECT id, spec FROM cells WHERE group_id = ?", (group,)).fetchall():
        key = code_version.cell_key(model, spec, solver, settings, version)
        insert = "INSERT OR IGNORE INTO cells (key, group_id, spec) VALUES (?, ?, ?)"
        made = connection.execute(insert, (key, target, spec))
        if made.rowcount:
            about = Cell(model, solver, json.loads(spec), json.loads(settings)["tol"])
            _move_trials(connection, about, cell, int(made.lastrowid or 0))
    connection.execute("DELETE FROM cells WHERE trials = 0 AND group_id IN (?, ?)", (group, target))
    empty = "id NOT IN (SELECT group_id FROM cells)"
    connection.execute(f"DELETE FROM groups WHERE id IN (?, ?) AND {empty}", (group, target))


def _move_trials(connection: sqlite3.Connection, about: Cell, cell: int, target: int) -> None:
    rows = connection.execute(
        "SELECT trial, stop, iterations, names, scores FROM trials"
        " JOIN measures ON measures = measures.id WHERE cell = ?",
        (cell,),
    ).fetchall()
    moved = list(_moved(about, rows))
    connection.executemany(
        "UPDATE trials SET cell = ?, stop = ?, scores = ? WHERE cell = ? AND trial = ?",
        [(target, stop, scores, cell, trial) for trial, stop, scores in moved],
    )
    connection.execute("UPDATE cells SET trials = trials - ? WHERE id = ?", (len(moved), cell))
    connection.execute("UPDATE cells SET trials = ? WHERE id = ?", (len(moved), target))


def _moved(about: Cell, rows: list[tuple[int, str, int, str, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield number, stop and scores of the trials that today's code would give again."""
    for trial, stop, iterations, names, scores in rows:
        values = dict(zip(json.loads(names), json.loads(scores), strict=True))
        ending = _stop_today(about, stop, iterations, values.get("residual"))
        if ending is None:
            continue
        if ending is Stop.FINISHED and values.get("residual") == 0:
            values["residual"] = None
            scores = json.dumps(list(values.values()))
        yield trial, ending.name, scores


def _stop_today(about: Cell, stop: str, iterations: int, residual: float | None) -> Stop | None:
    """Return how a run is said to have ended today, None where what was stored does not decide it.

    Format 2 knew one word for all runs that ended before their limits.
    """
    solver, small = about.solver, residual is not None and residual <= about.tol
    if solver in GIVEN_SUPPORT and about.spec.get("truth", "random") != "random":
        return None
    if stop != "CONVERGED":
        return Stop.__members__.get(stop)
    if small and solver in SETTLING:
        return Stop.SETTLED if residual else None
    if small:
        closed = solver in CLOSED_FORMS and residual == 0 and iterations == 1
        return Stop.FINISHED if closed else Stop.CONVERGED
    if solver in EXHAUSTING:
        return Stop.EXHAUSTED
    if solver in FINISHING or (solver in IN_PASSES and iterations < MOST_PASSES):
        return Stop.FINISHED
    if solver == "one-bit-power":
        return Stop.FINISHED if about.spec["observation"] == "stream" else Stop.CONVERGED
    return None


def equivalent(old: dict[str, dict[str, Any]]) -> dict[str, dict[str, dict[str, str]]]:
    """Return the table that calls today's numbers the same as those of other hashes, by model and solver."""
    table: dict[str, dict[str, dict[str, str]]] = {}
    for model, solvers in sorted(old.items()):
        names = {entry.name for entry in catalog.solvers_for(model)} if model in catalog.MODELS else set()
        for solver, hashes in sorted(solvers.items()):
            if solver in names:
                version = code_version.version(model, solver)
                releases = [hashes] if isinstance(hashes, str) else hashes
                table.setdefault(model, {})[solver] = dict.fromkeys(releases, version)
    return table


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    TABLE.write_text(json.dumps(equivalent(json.loads(given.read_text())), indent=1) + "\n")
