"""python -m lrlab store: lists, exports and prunes stored trials."""

import argparse
import json
from pathlib import Path
from typing import Any

from lrlab.shell.common import DONE, add_json, plain


def add(commands: Any) -> None:
    """Add the command."""
    store = commands.add_parser("store", help="list, export or prune the stored trials of sweeps")
    store.add_argument("file", metavar="FILE", type=Path, help="a file that `sweep --store` has written")
    store.add_argument("--export", type=Path, metavar="OUT", help="write all trials to a .csv or .parquet file")
    store.add_argument("--prune", action="store_true", help="remove trials of code that has changed since")
    add_json(store)


def run(options: argparse.Namespace) -> int:
    """Prune and export if requested; list the trials."""
    from lrlab.store.export import export
    from lrlab.store.store import Store

    with Store(options.file, create=False) as store:
        pruned = store.prune() if options.prune else 0
        exported = export(store, options.export) if options.export else 0
        lots = store.lots()
    if options.json:
        listed = [{**lot._asdict(), "stale": lot.stale} for lot in lots]
        done = {"trials_pruned": pruned, "trials_exported": exported}
        print(json.dumps(plain({"lots": listed, **done}), allow_nan=False))
        return DONE
    for lot in lots:
        settings = " ".join(f"{name}={value}" for name, value in lot.settings.items())
        state = "stale" if lot.stale else "current"
        print(f"{lot.model}  {lot.solver}  {lot.trials} trials in {lot.cells} cells  {state}  {settings}")
    print(f"{sum(lot.trials for lot in lots)} trials in {options.file}.")
    if options.prune:
        print(f"{pruned} stale trials removed.")
    if options.export:
        print(f"{exported} trials written to {options.export}.")
    return DONE
