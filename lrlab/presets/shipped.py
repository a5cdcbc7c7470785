"""Results of presets that are shipped with the package: the numbers of every trial, from which figures are made anew.

    python -m lrlab.presets.shipped NAME ...            runs presets in full, and writes results/NAME.json.gz
    python -m lrlab.presets.shipped NAME --quick        runs their quick forms, which pages call so
    python -m lrlab.presets.shipped NAME --redraw       makes figures and verdicts anew from the numbers that are there

A file has what the preset's function returned for each item, to six digits, and the panels and the table that were
made of it, so that a page shows them at once; a test makes the verdicts anew from the numbers. How many trials of how
many, data sets, machine, version, date and time are beside them.
"""

import argparse
import gzip
import io
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from lrlab import __version__, presets
from lrlab.datasets.published import Files
from lrlab.engine.messages import Failure
from lrlab.engine.stream import LocalStream, collect
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node
from lrlab.presets.definition import Preset
from lrlab.presets.fits_sets import SYNTHETIC, Sets, sets
from lrlab.presets.result import Panel, Plan, Result
from lrlab.runs.trial import TrialResult

DIGITS = 6


@dataclass(frozen=True)
class Shipped:
    """A run that is shipped: its results in the order of the plan's items, and how they came about.

    quick: whether it is one of the preset's quick form. run, planned: trials that were run, and those of a full run.
    sets: the data sets that were used. seconds: of one core. panels, table: the figures and the points, as they were
    made of the results.
    """

    name: str
    results: Sequence[Any]
    panels: Sequence[Panel]
    table: pd.DataFrame
    quick: bool
    run: int
    planned: int
    sets: Sequence[str]
    machine: str
    version: str
    date: str
    seconds: float

    @property
    def drawn(self) -> Result:
        """The figures and the points."""
        return Result(list(self.panels), self.table, pd.DataFrame())

    @property
    def words(self) -> str:
        """How the results came about."""
        preset = presets.load(self.name)
        missing = [name for name in preset.data if name not in self.sets]
        rule = preset.content.get("quick", {}) if self.quick else {}
        limit, series = rule.get("max_iter"), rule.get("series", ())
        omitted = [one["label"] for one in preset.series if series and one["label"] not in series]
        scope = f"Quick result: {self.run:,} of {self.planned:,} trials" if self.run < self.planned else "Stored result"
        scope += f" of at most {limit} iterations" if limit else ""
        scope += f", without {', '.join(omitted)}" if omitted else ""
        data = f" on {', '.join(self.sets)}" if self.sets else ""
        absent = f" (not at hand: {', '.join(missing)})" if missing else ""
        return f"{scope}{data}{absent}; {self.machine}, lrlab {self.version}, {self.date}."


def names() -> list[str]:
    """Return the names of the presets with shipped results."""
    return sorted(file.name.removesuffix(".json.gz") for file in _folder().iterdir() if file.name.endswith(".json.gz"))


@lru_cache(maxsize=64)
def load(name: str) -> Shipped | None:
    """Return the shipped run of a preset, or None."""
    if name not in names():
        return None
    read = json.loads(gzip.decompress((_folder() / f"{name}.json.gz").read_bytes()))
    read["results"] = [
        TrialResult(**one) if isinstance(one, dict) and "scores" in one else one for one in read["results"]
    ]
    read["panels"] = [Panel(one["title"], _figure(one["figure"]), one["caption"]) for one in read["panels"]]
    read["table"] = pd.read_csv(io.StringIO(read["table"]))
    return Shipped(name=name, **read)


def plan(shipped: Shipped) -> Plan:
    """Return the plan whose items the shipped results are of; no data has to be there."""
    return presets.plan(presets.load(shipped.name, shipped.quick), data=_names_alone(shipped.sets))


def made_anew(shipped: Shipped) -> Result:
    """Return figures, tables and verdicts made of the shipped numbers by the code of today."""
    return plan(shipped).finish(shipped.results)


def write(name: str, quick: bool = False, data: Path | None = None) -> Path:
    """Run a preset, or its quick form, in this process and write its results."""
    preset = presets.load(name, quick)
    used = _sets(preset, data)
    own, whole = presets.plan(preset, data=used), presets.load(name)
    planned = len(presets.plan(whole, data=_names_alone(whole.data)).items)
    began = time.process_time()
    stream = LocalStream(own.function, own.items)
    results = collect(stream, lambda *step: print("{} of {}".format(*step), end="\r", file=sys.stderr), failures=True)
    for failed in {result.sentence for result in results if isinstance(result, Failure)}:
        print(failed, file=sys.stderr)
    return _save(Shipped(
        name, [None if isinstance(result, Failure) else result for result in results], (), pd.DataFrame(), quick,
        len(own.items), max(planned, len(own.items)), list(used or ()), f"{platform.machine()}, {os.cpu_count()} cores",
        __version__, time.strftime("%Y-%m-%d"), round(time.process_time() - began, 1),
    ))  # fmt: skip


def redraw(name: str) -> Path:
    """Make figures and tables anew from the shipped numbers, and write them."""
    shipped = load(name)
    assert shipped is not None
    return _save(shipped)


def _save(shipped: Shipped) -> Path:
    made = made_anew(shipped)
    kept = ("quick", "run", "planned", "sets", "machine", "version", "date", "seconds")
    content = {
        "results": [_plain(one._asdict() if isinstance(one, TrialResult) else one) for one in shipped.results],
        "panels": [
            {"title": one.title, "caption": one.caption, "figure": _without_style(one.figure)} for one in made.panels
        ],
        "table": made.table.to_csv(index=False, float_format=f"%.{DIGITS}g"),
        **{key: getattr(shipped, key) for key in kept},
    }
    path = Path(str(_folder())) / f"{shipped.name}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0))
    return path


def _sets(preset: Preset, data: Path | None) -> Sets | None:
    """Return the files of the published sets that are there, or else what stands in for them; None without any."""
    if not preset.data:
        return None
    files = sets(preset, data)
    return {name: own for name, own in files.items() if name in preset.data} or files


def _names_alone(names: Sequence[str]) -> Sets | None:
    """Return what stands for the files of data sets in a plan that is not run."""

    def files(name: str) -> Files | None:
        return None if name.endswith(SYNTHETIC) else Files(Path(f"{name}-train"), Path(f"{name}-test"), None)

    return {name: files(name) for name in names} or None


def _without_style(figure: Figure) -> dict[str, Any]:
    content = figure.to_dict()
    content["layout"].pop("template", None)
    return content


def _figure(read: dict[str, Any]) -> Figure:
    figure = Figure(*(Node(trace) for trace in read["data"]))
    figure.layout = Node(read["layout"], template=theme.TEMPLATE)
    return figure


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return value.item() if hasattr(value, "item") else value


def _folder() -> Any:
    return files("lrlab.presets") / "results"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--redraw", action="store_true")
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    for one in arguments.names:
        print(redraw(one) if arguments.redraw else write(one, arguments.quick, arguments.data), file=sys.stderr)
