"""python -m lrlab sweep, store and paper: what computes trials and keeps them.

`sweep` runs the sweep that a TOML file defines, and resumes it from its store. `store` lists, exports and prunes stored
trials. `paper` computes a figure of a paper, or a report of all of them.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lrlab import catalog
from lrlab.parameters import InputError, counted
from lrlab.shell.common import DONE, FAILED, add_json, print_json, report, resumable, say


def add(commands: Any) -> None:
    """Add the commands."""
    sweep = commands.add_parser("sweep", help="run a sweep that a TOML file defines; lrlab reuses stored trials")
    sweep.add_argument("file", metavar="FILE.toml", type=Path, help="model, solvers, trials, success, [spec], [axes]")
    sweep.add_argument("--store", type=Path, metavar="FILE", help="store finished trials in this file (default: none)")
    sweep.add_argument("--scheduler", metavar="ADDRESS", help="run on the dask scheduler at this address")
    sweep.set_defaults(run=run_sweep)
    add_json(sweep)

    store = commands.add_parser("store", help="list, export or prune the stored trials of sweeps")
    store.add_argument("file", metavar="FILE", type=Path, help="a file that `sweep --store` has written")
    store.add_argument("--export", type=Path, metavar="OUT", help="write all trials to a .csv or .parquet file")
    store.add_argument("--prune", action="store_true", help="remove trials of code that has changed since")
    store.set_defaults(run=run_store)
    add_json(store)

    paper = commands.add_parser("paper", help="compute a figure of a paper and write it as HTML and CSV")
    paper.add_argument("name", metavar="NAME", nargs="?", help="a preset's name; `paper list` prints them all")
    paper.add_argument("--all", action="store_true", help="all of them, as one page with a table of verdicts")
    paper.add_argument("--out", default=".", type=Path, metavar="DIR", help="folder of the files (default: this one)")
    paper.add_argument("--quick", action="store_true", help="fewer trials and points: minutes instead of hours")
    words = "with --all: the results that are shipped, without computing anything"
    paper.add_argument("--shipped", action="store_true", help=words)
    words = "number of trials, 2 or more (default: as in the preset)"
    paper.add_argument("--trials", type=int, metavar="N", help=words)
    words = "the position of the slider of a theorem, as on its page"
    paper.add_argument("--at", type=float, metavar="VALUE", help=words)
    paper.add_argument("--data", type=Path, metavar="DIR", help="the folder with the data sets that some figures need")
    paper.add_argument("--store", type=Path, metavar="FILE", help="keeps every result; if interrupted, it resumes")
    paper.set_defaults(run=run_paper)
    add_json(paper)


def run_sweep(options: argparse.Namespace) -> int:
    """Run the trials that the store lacks, and print the table of all cells."""
    from lrlab.engine.engine import get_engine
    from lrlab.store.store import Store
    from lrlab.sweeps.results import SweepResults
    from lrlab.sweeps.run import run, size_words
    from lrlab.sweeps.tables import cell_rows, midpoint_words, midpoints, winner_rows
    from lrlab.sweeps.toml import read
    from lrlab.sweeps.winners import winners_of

    sweep = read(options.file)
    with Store(options.store) as store:
        results = SweepResults(sweep)
        if sys.stderr.isatty():
            say(f"{size_words(sweep)}.", file=sys.stderr)

        with resumable(lambda: stored_words(results.computed + results.reused, options.store)):
            run(sweep, store, lambda *work: get_engine(options.scheduler).map(*work), report, results=results)
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


def run_store(options: argparse.Namespace) -> int:
    """Prune and export if requested; list the trials."""
    from lrlab.store.store import Store, export

    with Store(options.file, create=False) as store:
        pruned = store.prune() if options.prune else 0
        exported = export(store, options.export) if options.export else 0
        groups, items = store.groups(), store.count_items()
    if options.json:
        listed = [{**group._asdict(), "stale": group.stale} for group in groups]
        print_json({"groups": listed, "trials_pruned": pruned, "trials_exported": exported})
        return DONE
    for group in groups:
        settings = " ".join(f"{name}={value}" for name, value in group.settings.items())
        state = "stale" if group.stale else "current"
        trials = f"{counted(group.trials, 'trial')} at {counted(group.cells, 'grid point')}"
        say(f"{group.model}  {group.solver}  {trials}  {state}  {settings}")
    results = f" and {counted(items, 'result')} of presets" * (items > 0)
    say(f"{counted(sum(group.trials for group in groups), 'trial')}{results} in {options.file}.")
    if options.prune:
        say(f"{pruned} stale trials removed.")
    if options.export:
        say(f"{counted(exported, 'trial')} written to {options.export}.")
    return DONE


def run_paper(options: argparse.Namespace) -> int:
    """Compute a preset, or all, and write the files."""
    from lrlab import presets

    single = options.trials or options.at is not None
    if options.all == bool(options.name) or (options.all and single) or (options.shipped and not options.all):
        expected = "a name, or --all, which takes --shipped and neither --trials nor --at"
        raise InputError("paper", expected, "another combination", "see `paper --help`")
    if options.name == "list":
        print_json(presets.names()) if options.json else say("\n".join(presets.names()))
        return DONE
    store = options.store
    kept = f"Finished results are in {store}" if store else "With --store FILE lrlab keeps finished results"
    with resumable(lambda: f"{kept}: the same command resumes."):
        written, tables = computed(options)
    # Here, as `paper list` needs no pandas.
    import pandas as pd

    from lrlab.presets.result import lines

    judged = {name: lines(pd.read_csv(table, dtype=str)) for name, table in tables.items()}
    if options.json:
        keys = ("panel", "claim", "ours", "verdict", "why")
        rows = [
            {"preset": name, **{key: getattr(one, key) for key in keys}} for name, own in judged.items() for one in own
        ]
        absent = sorted(set(presets.names()) - set(tables)) if options.all else []
        print_json({"files": list(map(str, written)), "claims": rows, "not_computed": absent})
        return DONE
    say("\n".join(map(str, written[:1] if options.all else written)))
    for one in () if options.all else judged[options.name]:
        say(f"{one.panel}. {one.sentence}")
    return DONE


def computed(options: argparse.Namespace) -> tuple[list[Path], dict[str, Path]]:
    """Return the files that were written, and the tables of points and verdicts among them by preset."""
    from lrlab import presets
    from lrlab.presets.report import write_report

    given: dict[str, Any] = {name: getattr(options, name) for name in ("out", "quick", "data", "store")}
    if options.all:
        begin = partial(say, file=sys.stderr)
        written = write_report(**given, stored=options.shipped, progress=report, begin=begin)
        return written, {path.stem: path for path in written[1:]}
    written = presets.run(options.name, **given, progress=report, trials=options.trials, at=options.at)
    return written, {options.name: written[1]}
