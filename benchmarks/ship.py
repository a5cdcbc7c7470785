"""Computes the results that are shipped with the package, see `shipped`.

python -m benchmarks.ship NAME ...              runs presets in full, and writes results/NAME.json.gz
python -m benchmarks.ship NAME --quick          runs their quick forms, which pages call so
python -m benchmarks.ship NAME --redraw         makes figures and verdicts anew from the numbers that are there
python -m benchmarks.ship NAME --store FILE     retains each result in FILE; after an interruption it resumes

How long a result took is processor time, that of interrupted runs with it.
"""

import argparse
import gzip
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from lrlab import __version__, presets
from lrlab.engine.results import Failure, LocalResults
from lrlab.figures.build import Figure
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.papers import SETS, Files, Sets, located
from lrlab.presets.result import Plan, Result, as_computed, key
from lrlab.presets.shipped import Shipped
from lrlab.runs.run import TrialResult
from lrlab.store.store import Store

DIGITS = 6


def write(name: str, quick: bool = False, data: Path | None = None, store: Path | None = None) -> Path:
    """Run a preset, or its quick form, in this process and write its results; `store` has those of earlier runs."""
    preset = presets.load(name, quick)
    used = _sets(preset, data)
    own = presets.plan(preset, data=used)
    with Store(store) as opened:
        results, seconds = computed(own.function, own.items, opened)
    return _save(
        Shipped(
            name,
            results,
            (),
            pd.DataFrame(),
            quick,
            sum(result is not None for result in results),
            max(planned(name), len(own.items)),
            list(used or ()),
            f"{platform.machine()}, {os.cpu_count()} cores",
            __version__,
            time.strftime("%Y-%m-%d"),
            round(seconds, 1),
        )
    )


def computed(function: Callable[[Any], Any], items: Sequence[Any], store: Store) -> tuple[list[Any], float]:
    """Return what a function returns for items, None where it fails, and the processor seconds, those before included.

    What the store has is not computed again; what it has not is stored as it arrives, with its seconds.
    """
    keys = [key(function, item) for item in items]
    known, failed = store.items(keys), 0.0
    missing = [number for number, own in enumerate(keys) if own not in known]
    stream, began = LocalResults(function, [items[number] for number in missing]), time.process_time()
    while stream.alive:
        results = stream.take()
        seconds, began = (time.process_time() - began) / max(1, len(results)), time.process_time()
        good = {missing[k]: value for k, _, value in results if not isinstance(value, Failure)}
        new = {keys[number]: {"result": _plain(value), "seconds": seconds} for number, value in good.items()}
        store.add_items(new)
        known |= new
        failed += seconds * (len(results) - len(new))
        for sentence in {value.sentence for *_, value in results if isinstance(value, Failure)}:
            print(sentence, file=sys.stderr)
        print(f"{len(known)} of {len(items)}", end="\r", file=sys.stderr)
    values = [as_computed(known[own]["result"]) if own in known else None for own in keys]
    return values, failed + sum(one["seconds"] for one in known.values())


def redraw(name: str) -> Path:
    """Make figures and tables anew from the shipped numbers, and write them."""
    run = shipped.load(name)
    assert run is not None
    return _save(replace(run, planned=max(planned(name), run.run)))


def planned(name: str) -> int:
    """Return the number of trials of a full run on all data sets."""
    whole = presets.load(name)
    return len(presets.plan(whole, data=names_alone(whole.data)).items)


def plan(run: Shipped) -> Plan:
    """Return the plan of a stored run; it needs no data sets."""
    return presets.plan(presets.load(run.name, run.quick), data=names_alone(run.sets))


def made_anew(run: Shipped) -> Result:
    """Return figures, tables and verdicts that today's code makes from the stored numbers."""
    return plan(run).finish(run.results)


def names_alone(names: Sequence[str]) -> Sets | None:
    """Return placeholders for the files of data sets, for a plan that nobody runs."""
    return {name: Files(Path(f"{name}-train"), Path(f"{name}-test"), None) for name in names} or None


def _save(run: Shipped) -> Path:
    made = made_anew(run)
    kept = ("quick", "run", "planned", "sets", "machine", "version", "date", "seconds")
    content = {
        "results": _plain(run.results),
        "panels": [
            {"title": one.title, "caption": one.caption, "figure": _without_style(one.figure)} for one in made.panels
        ],
        "table": made.table.to_csv(index=False, float_format=f"%.{DIGITS}g"),
        **{key: getattr(run, key) for key in kept},
    }
    path = Path(str(shipped.FOLDER)) / f"{run.name}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0))
    return path


def _sets(preset: Preset, data: Path | None) -> Sets | None:
    """Return the files of the published sets that are there, or else of others; None if the preset needs none.

    Of other sets in the folder the one with the most labels stands in for those of the paper.
    """
    if not preset.data:
        return None
    files = located(data, preset.data)
    if published := {name: own for name, own in files.items() if name in preset.data}:
        return published
    return {name: files[name] for name in sorted(files, key=labels)[-1:]}


def labels(name: str) -> int:
    """Return the number of labels of a set, 0 where it is not known."""
    return SETS[name]["labels"] if name in SETS else 0


def _without_style(figure: Figure) -> dict[str, Any]:
    content = figure.to_dict()
    content["layout"].pop("template", None)
    return content


def _plain(value: Any) -> Any:
    if isinstance(value, TrialResult):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--redraw", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    for one in given.names:
        print(redraw(one) if given.redraw else write(one, given.quick, given.data, given.store), file=sys.stderr)
