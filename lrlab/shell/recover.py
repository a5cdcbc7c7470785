"""python -m lrlab recover: a solver on measurements of one's own."""

import argparse
import sys
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.shell.common import DONE, INTERRUPTED, add_json, add_settings, print_json, require_place, say
from lrlab.shell.solve import settings_from, show


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("recover", help="run a solver on measurements of your own")
    option = command.add_argument
    words = (
        "CSV, parquet or npz: a measurement a row, or a table with gaps; an npz has arrays y, X and Z; or example:NAME"
    )
    option("file", type=Path, metavar="FILE", help=words)
    option("--model", default="", metavar="MODEL", help="what the measurements are; default: what their form shows")
    option("--solver", default="", metavar="NAME", help="a solver of the model, as listed by `models`")
    option("--y", default="", metavar="COLUMN", help="the measurement, by name or number (default: y, or the last)")
    option("--z", default="", metavar="COLUMNS", help="second vectors, such as 5-9 or a,b (rank-one-sensing)")
    option("--triples", action="store_true", help="columns are row, column and value of a table's entries")
    words = "write what was recovered: .npz, or .csv of the direction, matrix, completed table or signal"
    option("--save", type=Path, metavar="FILE", help=words)
    add_settings(command, "rank, held_out, seed, an option of the solver, tol, max_iter or max_seconds")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Run one job on a file, print its scores, and save what was recovered."""
    from lrlab.engine import solve
    from lrlab.own.examples import example
    from lrlab.own.files import Columns, read_measurements
    from lrlab.own.recover import in_units, job_of
    from lrlab.own.saved import save

    if options.save:
        require_place("--save", options.save, ".csv" if options.save.suffix == ".csv" else ".npz")
    settings = settings_from(options.settings)
    for name in ("y", "X", "Z", "model", "solver"):
        if name in settings:
            raise InputError("--set", "a setting", name, f"take --{name.lower()}" if name != "X" else "leave it out")
    model, name = options.model, str(options.file).removeprefix("example:")
    if name != str(options.file):
        shown = example(name)
        given, model = shown.make(), model or shown.model
        settings = {**(shown.options if model == shown.model else {}), **settings}
    else:
        columns = Columns(options.y, options.z, options.triples)
        given = read_measurements(options.file, columns, gaps=model == "inductive-completion")
    job = job_of(given.y, given.X, given.Z, model=model, solver=options.solver, **settings)
    trace = in_units(solve.run(job))
    summary = trace.summary()
    if options.save and trace.estimate is not None:
        save(options.save, trace, given)
    if options.json:
        print_json(summary)
    else:
        show(summary)
        say(options.save or "", file=sys.stdout) if options.save else None
    return INTERRUPTED if trace.stop is Stop.CANCELLED else DONE
