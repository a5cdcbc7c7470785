"""python -m lrlab paper: a figure of a paper, or a report of all of them."""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell.common import DONE, add_json, print_json, report, resumable, say


def add(commands: Any) -> None:
    """Add the command."""
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
    add_json(paper)


def run(options: argparse.Namespace) -> int:
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
