"""python -m lrlab sweep: runs the sweep that a TOML file defines, and resumes it from its store."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lrlab import catalog
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
    from lrlab.sweeps.pace import Pace, size_words
    from lrlab.sweeps.results import SweepResults
    from lrlab.sweeps.run import run as run_sweep
    from lrlab.sweeps.tables import cell_rows, midpoint_words, midpoints
    from lrlab.sweeps.toml import read

    sweep = read(options.file)
    with Store(options.store) as store:
        if sys.stderr.isatty():
            say(f"Checking {sweep.total // sweep.trials:,} grid points.", file=sys.stderr)
        results, paces = SweepResults(sweep), list[Pace]()
        if sys.stderr.isatty():
            say(f"{size_words(sweep)}.", file=sys.stderr)

        def progress(done: int, total: int) -> None:
            report(done, total)
            if not paces:
                # Stored trials are already there and do not count for the pace.
                paces.append(Pace(results))
            paces[0].require_time(total - done)

        with resumable(lambda: stored_words(results.computed + results.reused, options.store)):
            run_sweep(sweep, store, lambda *work: get_engine(options.scheduler).map(*work), progress, results=results)
    rows = cell_rows(results)
    halves = midpoints(sweep, results.table(sweep.contour.metric)).iloc[: None if sweep.success else 0]
    if options.json:
        points = {"midpoints": halves.to_dict("records")} if sweep.success else {}
        print_json({"cells": rows, "trials_run": results.computed, "trials_reused": results.reused, **points})
    else:
        measures = catalog.family(sweep.spec.model).measures
        shares = [name for name, measure in measures.items() if measure.quotient[0]]
        show(rows, sweep.success.metric if sweep.success else None, shares)
        for sentence in midpoint_words(sweep, halves):
            say(sentence)
        if sentence := catalog.given(sweep.solvers, sweep.spec.model):
            say(sentence)
        say(f"{results.computed} trials run, {results.reused} taken from the store.{inferred(rows)}")
    if results.failures:
        sentence = next(iter(results.failures.values()))
        say(f"{len(results.failures)} trials failed and are not stored. The first: {sentence}", file=sys.stderr)
        return FAILED
    return DONE


def stored_words(trials: int, store: Path | None) -> str:
    """Return how many trials of a sweep are stored, and how to resume it."""
    if store is None:
        return "Nothing is stored: with --store FILE the same command would resume."
    return f"{trials} trials of this sweep are stored in {store}: the same command resumes."


def inferred(rows: list[dict[str, Any]]) -> str:
    """Return the numbers of measured and inferred cells as a sentence; nothing if none is inferred."""
    number = sum(row["inferred"] for row in rows)
    measured = sum(row["trials"] > 0 for row in rows)
    return f" {measured} cells were measured, {number} inferred." if number else ""


def show(rows: list[dict[str, Any]], metric: str | None, shares: Sequence[str] = ()) -> None:
    """Print cells for people: successes with their intervals, and medians of the measure and of shares of limits."""
    measure = metric or next(
        (name for row in rows for name in ("error", *row["metrics"]) if name in row["metrics"]), ""
    )
    medians = [measure, *(name for name in shares if name != measure and any(name in row["metrics"] for row in rows))]
    axes = list(rows[0]["axes"])
    titles = [f"median {name}" for name in medians]
    lines = [[*axes, "solver", "trials", "successes", "95% interval", *titles]]
    for row in rows:
        place = [f"{row['axes'][axis]:.6g}" for axis in axes]
        if row["refused"]:
            lines.append([*place, row["solver"], "refused:", row["refused"]])
            continue
        low, high = row["interval"] or (0, 0)
        successes = "inferred" if row["inferred"] else f"{row['successes']}"
        counted = [successes, f"{low:.2f}..{high:.2f}"] if row["interval"] else ["-", "-"]
        centers = [f"{row['metrics'][name][1]:.4g}" if name in row["metrics"] else "-" for name in medians]
        lines.append([*place, row["solver"], f"{row['trials']}", *counted, *centers])
    full = [line for line in lines if len(line) == len(lines[0])]
    widths = [max(len(line[k]) for line in full) for k in range(len(lines[0]))]
    for line in lines:
        say("  ".join(word.ljust(width) for word, width in zip(line, widths, strict=False)).rstrip())
