"""python -m lrlab store: lists, exports and prunes stored trials."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.parameters import counted
from lrlab.shell.common import DONE, add_json, print_json, say


def add(commands: Any) -> None:
    """Add the command."""
    store = commands.add_parser("store", help="list, export or prune the stored trials of sweeps")
    store.add_argument("file", metavar="FILE", type=Path, help="a file that `sweep --store` has written")
    store.add_argument("--export", type=Path, metavar="OUT", help="write all trials to a .csv or .parquet file")
    store.add_argument("--prune", action="store_true", help="remove trials of code that has changed since")
    add_json(store)


def run(options: argparse.Namespace) -> int:
    """Prune and export if requested; list the trials."""
    from lrlab.store.store import Store, export

    with Store(options.file, create=False) as store:
        pruned = store.prune() if options.prune else 0
        exported = export(store, options.export) if options.export else 0
        groups = store.groups()
    if options.json:
        listed = [{**group._asdict(), "stale": group.stale} for group in groups]
        print_json({"groups": listed, "trials_pruned": pruned, "trials_exported": exported})
        return DONE
    for group in groups:
        settings = " ".join(f"{name}={value}" for name, value in group.settings.items())
        state = "stale" if group.stale else "current"
        trials = f"{counted(group.trials, 'trial')} at {counted(group.cells, 'grid point')}"
        say(f"{group.model}  {group.solver}  {trials}  {state}  {settings}")
    say(f"{counted(sum(group.trials for group in groups), 'trial')} in {options.file}.")
    if options.prune:
        say(f"{pruned} stale trials removed.")
    if options.export:
        say(f"{counted(exported, 'trial')} written to {options.export}.")
    return DONE
