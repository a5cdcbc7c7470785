"""Results of presets that are shipped with the package: the numbers of every trial, from which figures are made anew.

A file has what the preset's function returned for each item, to six digits, and the panels and the table that were
made of it, so that a page shows them at once; a test makes the verdicts anew from the numbers. How many trials of how
many, data sets, machine, version, date and time are beside them. `ship` computes and writes them.
"""

import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from lrlab import presets
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node
from lrlab.presets.published import Files, Sets
from lrlab.presets.result import Panel, Plan, Result
from lrlab.runs.trial import TrialResult


@dataclass(frozen=True)
class Shipped:
    """A run that is shipped: results in the order of the plan's items, None where one is not known, and their origin.

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
    def missing(self) -> list[str]:
        """The data sets that were not at hand."""
        return [name for name in presets.load(self.name).data if name not in self.sets]

    @property
    def short(self) -> bool:
        """Whether it has fewer trials than a full run, of the data sets that were at hand."""
        return self.quick or self.run < len(self.results)

    @property
    def words(self) -> str:
        """How the results came about."""
        preset = presets.load(self.name)
        rule = preset.content.get("quick", {}) if self.quick else {}
        limit, series = rule.get("max_iter"), rule.get("series", ())
        omitted = [one["label"] for one in preset.series if series and one["label"] not in series]
        scope = "Quick result" if self.short else "Stored result"
        scope += f": {self.run:,} of {self.planned:,} trials" if self.run < self.planned else ""
        scope += f" of at most {limit} iterations" if limit else ""
        scope += f", without {', '.join(omitted)}" if omitted else ""
        data = f" on {', '.join(self.sets)}" if self.sets else ""
        absent = f" (not at hand: {', '.join(self.missing)})" if self.missing else ""
        return f"{scope}{data}{absent}; {self.machine}, lrlab {self.version}, {self.date}."


def names() -> list[str]:
    """Return the names of the presets with shipped results."""
    return sorted(file.name.removesuffix(".json.gz") for file in folder().iterdir() if file.name.endswith(".json.gz"))


@lru_cache(maxsize=64)
def load(name: str) -> Shipped | None:
    """Return the shipped run of a preset, or None."""
    if name not in names():
        return None
    read = json.loads(gzip.decompress((folder() / f"{name}.json.gz").read_bytes()))
    read["results"] = [as_computed(one) for one in read["results"]]
    read["panels"] = [Panel(one["title"], _figure(one["figure"]), one["caption"]) for one in read["panels"]]
    read["table"] = pd.read_csv(io.StringIO(read["table"]))
    return Shipped(name=name, **read)


def plan(shipped: Shipped) -> Plan:
    """Return the plan whose items the shipped results are of; no data has to be there."""
    return presets.plan(presets.load(shipped.name, shipped.quick), data=names_alone(shipped.sets))


def made_anew(shipped: Shipped) -> Result:
    """Return figures, tables and verdicts made of the shipped numbers by the code of today."""
    return plan(shipped).finish(shipped.results)


def as_computed(read: Any) -> Any:
    """Return a result as the preset's function returned it, of what JSON made of it."""
    return TrialResult(**read) if isinstance(read, dict) and "scores" in read else read


def names_alone(names: Sequence[str]) -> Sets | None:
    """Return what stands for the files of data sets in a plan that is not run."""
    return {name: Files(Path(f"{name}-train"), Path(f"{name}-test"), None) for name in names} or None


def _figure(read: dict[str, Any]) -> Figure:
    figure = Figure(*(Node(trace) for trace in read["data"]))
    figure.layout = Node(read["layout"], template=theme.TEMPLATE)
    return figure


def folder() -> Any:
    """Return the folder with the results."""
    return files("lrlab.presets") / "results"
