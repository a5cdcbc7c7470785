"""Results of presets that are shipped with the package: the numbers of every trial, from which figures are made anew.

    python -m lrlab.presets.shipped NAME ...          runs presets in full, and writes results/NAME.json.gz
    python -m lrlab.presets.shipped NAME --trials 3   a short run, which its page calls so

A file has what the preset's function returned for each item, to six digits, and the panels and the table that were
made of it, so that a page shows them at once; a test makes the verdicts anew from the numbers. Machine, version, date
and time are beside them.
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
from lrlab.engine.stream import LocalStream, collect
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node
from lrlab.presets.result import Panel, Result
from lrlab.runs.trial import TrialResult

DIGITS = 6


@dataclass(frozen=True)
class Shipped:
    """A run that is shipped: its results in the order of the plan's items, and how they came about.

    trials: draws at each point where they are fewer than in the preset, 0 for a full run. seconds: of one core.
    panels, table: the figures and the points, as they were made of the results.
    """

    name: str
    results: Sequence[Any]
    panels: Sequence[Panel]
    table: pd.DataFrame
    machine: str
    version: str
    date: str
    seconds: float
    trials: int

    @property
    def words(self) -> str:
        """How the results came about."""
        short = f"a short run with {self.trials} draws at each point, " if self.trials else ""
        return f"Stored result: {short}{self.machine}, lrlab {self.version}, {self.date}."


def names() -> list[str]:
    """Return the names of the presets with shipped results."""
    return sorted(file.name.removesuffix(".json.gz") for file in _folder().iterdir() if file.name.endswith(".json.gz"))


@lru_cache(maxsize=32)
def load(name: str) -> Shipped | None:
    """Return the shipped run of a preset, or None."""
    if name not in names():
        return None
    read = json.loads(gzip.decompress((_folder() / f"{name}.json.gz").read_bytes()))
    read["results"] = [TrialResult(**one) if isinstance(one, dict) else one for one in read["results"]]
    read["panels"] = [Panel(one["title"], _figure(one["figure"]), one["caption"]) for one in read["panels"]]
    read["table"] = pd.read_csv(io.StringIO(read["table"]))
    return Shipped(name=name, **read)


def made_anew(shipped: Shipped) -> Result:
    """Return figures, tables and verdicts made of the shipped numbers by the code of today."""
    plan = presets.plan(presets.load(shipped.name), shipped.trials or None)
    return plan.finish(shipped.results)


def write(name: str, trials: int | None = None) -> Path:
    """Run a preset in this process and write its results."""
    plan, began = presets.plan(presets.load(name), trials), time.monotonic()
    results = collect(LocalStream(plan.function, plan.items), lambda done, total: None)
    seconds = round(time.monotonic() - began, 1)
    made: Result = plan.finish(results)
    panels = [{"title": one.title, "caption": one.caption, "figure": _without_style(one.figure)} for one in made.panels]
    content = {
        "results": [_plain(one._asdict() if isinstance(one, TrialResult) else one) for one in results],
        "panels": panels,
        "table": made.table.to_csv(index=False, float_format=f"%.{DIGITS}g"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "version": __version__,
        "date": time.strftime("%Y-%m-%d"),
        "seconds": seconds,
        "trials": trials or 0,
    }
    path = Path(str(_folder())) / f"{name}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0))
    return path


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
    parser.add_argument("--trials", type=int)
    arguments = parser.parse_args()
    for one in arguments.names:
        print(write(one, arguments.trials), file=sys.stderr)
