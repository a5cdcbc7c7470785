"""python -m lrlab sweep: runs the sweep that a TOML file defines, and resumes it from its store."""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lrlab import catalog
from lrlab.parameters import counted
from lrlab.shell.common import DONE, FAILED, add_json, print_json, report, resumable, say


def add(commands: Any) -> None:
    """Add the command."""
    sweep = commands.add_parser("sweep", help="run a sweep that a TOML file defines; lrlab reuses stored trials")
    sweep.add_argument("file", metavar="FILE.toml", type=Path, help="model, solvers, trials, success, [spec], [axes]")
    sweep.add_argument("--store", type=Path, metavar="FILE", help="store finished trials in this file (default: none)")
    sweep.add_argument("--scheduler", metavar="ADDRESS", help="run on the dask scheduler at this address")
    add_json(sweep)


def run(options: argparse.Namespace) -> int:
    """Run the trials that the store lacks, and print the table of all cells."""
    from lrlab.engine.engine import get_engine
    from lrlab.store.store import Store
    from lrlab.sweeps.results import SweepResults
    from lrlab.sweeps.run import run as run_sweep
    from lrlab.sweeps.run import size_words
    from lrlab.sweeps.tables import cell_rows, midpoint_words, midpoints, winner_rows
    from lrlab.sweeps.toml import read
    from lrlab.sweeps.winners import winners_of

    sweep = read(options.file)
    with Store(options.store) as store:
        results = SweepResults(sweep)
        if sys.stderr.isatty():
            say(f"{size_words(sweep)}.", file=sys.stderr)

        with resumable(lambda: stored_words(results.computed + results.reused, options.store)):
            run_sweep(sweep, store, lambda *work: get_engine(options.scheduler).map(*work), report, results=results)
    rows = cell_rows(results)
    halves = midpoints(sweep, results.table(sweep.contour.metric)).iloc[: None if sweep.success else 0]
    if options.json:
        points = {"midpoints": halves.to_dict("records")} if sweep.success else {}
        points |= {"winners": winner_rows(results)} if sweep.race else {}
        print_json({"cells": rows, "trials_run": results.computed, "trials_reused": results.reused, **points})
    else:
        measures = catalog.family(sweep.spec.model).measures
        shares = [name for name, measure in measures.items() if measure.quotient[0]]
        show(rows, sweep.success.metric if sweep.success else None, shares)
        for sentence in midpoint_words(sweep, halves):
            say(sentence)
        if sweep.race:
            say(winners_of(results).sentence)
        if sentence := catalog.given(sweep.solvers, sweep.spec.model):
            say(sentence)
        say(f"{counted(results.computed, 'trial')} run, {results.reused} taken from the store.{inferred(rows)}")
    if results.failures:
        sentence = next(iter(results.failures.values()))
        say(f"{counted(len(results.failures), 'trial')} failed, not stored. The first: {sentence}", file=sys.stderr)
        return FAILED
    return DONE


def stored_words(trials: int, store: Path | None) -> str:
    """Return how many trials of a sweep are stored, and how to resume it."""
    if store is None:
        return "Nothing is stored: with --store FILE the same command would resume."
    return f"{store} holds {counted(trials, 'trial')} of this sweep: the same command resumes."


def inferred(rows: list[dict[str, Any]]) -> str:
    """Return the numbers of measured and inferred grid points as a sentence; nothing if none is inferred."""
    number = sum(row["inferred"] for row in rows)
    measured = sum(row["trials"] > 0 for row in rows)
    return f" lrlab measured {counted(measured, 'grid point')} and inferred {number}." if number else ""


def show(rows: list[dict[str, Any]], metric: str | None, shares: Sequence[str] = ()) -> None:
    """Print cells for people: successes with their intervals, and medians of the metric and of shares of limits."""
    import pandas as pd

    scored = dict.fromkeys(name for row in rows for name in row["metrics"])
    metric = metric or next((name for name in ("error", *scored) if name in scored), "")
    medians = [metric, *(name for name in shares if name != metric and name in scored)]
    lines, refused = list[dict[str, str]](), list[str]()
    for row in rows:
        place = {axis: f"{value:.6g}" for axis, value in row["axes"].items()} | {"solver": row["solver"]}
        if row["refused"]:
            refused.append(f"{', '.join(place.values())} is refused: {row['refused']}")
            continue
        low, high = row["interval"] or (0, 0)
        counted = {"successes": "inferred" if row["inferred"] else f"{row['successes']}"}
        counted["95% interval"] = f"{low:.2f}..{high:.2f}"
        centers = {f"median {name}": f"{row['metrics'].get(name, (0, math.nan))[1]:.4g}" for name in medians}
        lines.append(place | {"trials": f"{row['trials']}"} | (counted if row["interval"] else {}) | centers)
    say(pd.DataFrame(lines).to_string(index=False))
    for sentence in refused:
        say(sentence)
