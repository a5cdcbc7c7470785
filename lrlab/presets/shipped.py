"""Results of presets that come with the package: the numbers of every trial, and the figures made from them.

A file has the results of the items to six digits, and the panels and the table made from them, so that a page shows
them at once. `benchmarks.ship` computes and writes the files, and makes figures and verdicts again from the numbers.
"""

import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pandas as pd

from lrlab import presets
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node
from lrlab.parameters import counted
from lrlab.presets.result import Panel, as_computed

FOLDER: Any = files("lrlab.presets") / "results"
"""The folder with the stored results."""


@dataclass(frozen=True)
class Shipped:
    """A stored run: results in the order of the plan's items, None for unknown ones.

    panels, table: figures and points. quick: whether it is the reduced run. run, planned: trials that ran, and trials
    of a full run. sets: data sets used. seconds: processor time.
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
    def missing(self) -> list[str]:
        """The published data sets that the run lacks."""
        return [name for name in presets.load(self.name).data if name not in self.sets]

    @property
    def short(self) -> bool:
        """Whether it has fewer trials than a full run on the same data sets."""
        return self.quick or self.run < len(self.results)

    @property
    def words(self) -> str:
        """The origin of the results, as a sentence."""
        rule = presets.load(self.name).content.get("quick", {}) if self.quick else {}
        scope = "Reduced run" if self.short else "Stored result"
        scope += f": {self.run:,} of {counted(self.planned, 'trial')}" if self.run < self.planned else ""
        scope += f" of at most {counted(limit, 'iteration')}" if (limit := rule.get("max_iter")) else ""
        data = f" on {', '.join(self.sets)}" if self.sets else ""
        absent = f" (missing: {', '.join(self.missing)})" if self.missing else ""
        return f"{scope}{data}{absent}; {self.machine}, lrlab {self.version}, {self.date}."


def names() -> list[str]:
    """Return the names of the presets with a stored result."""
    return sorted(file.name.removesuffix(".json.gz") for file in FOLDER.iterdir() if file.name.endswith(".json.gz"))


@lru_cache(maxsize=64)
def load(name: str) -> Shipped | None:
    """Return the stored run of a preset, or None."""
    if name not in names():
        return None
    read = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    read["results"] = [as_computed(one) for one in read["results"]]
    for k, panel in enumerate(read["panels"]):
        figure = Figure(*map(Node, panel["figure"]["data"]))
        figure.layout = Node(panel["figure"]["layout"], template=theme.TEMPLATE)
        read["panels"][k] = Panel(panel["title"], figure, panel["caption"])
    read["table"] = pd.read_csv(io.StringIO(read["table"]))
    return Shipped(name=name, **read)
