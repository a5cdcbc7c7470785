"""The form of preset files: a sweep definition (model, solvers, trials, spec, axes, settings) with a table `figure`.

The sweep is varied by `series` (solvers, or one solver with different settings or specs) and shown in `panels` (with
a model, spec, axes or measure of their own) or, beside printed numbers, in `columns`. What these do not say is taken
from the top level. Without `series` there is one for each of `solvers`; without `panels` there is one. `figure.kind`
names the module that draws, and with it the keys that a file may have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lrlab.catalog import family
from lrlab.parameters import InputError, require_known
from lrlab.protocol import Spec
from lrlab.sweeps.toml import make_spec
from lrlab.sweeps.toml_source import Path, Source

Toml = Mapping[str, Any]
RUN_MEASURES = ("seconds", "iterations")
"""Measures of a run that are no scores of its estimate."""
EIGENVALUES = ("largest", "second", "gap")
"""The series of kind `spectrum`: the two largest eigenvalues, and their difference."""


@dataclass(frozen=True)
class Preset:
    """A figure that can be computed.

    name: as in the shell. title, reference, explanation (a paragraph): for people. kind: the module that computes it.
    source: the file's content, with lines for messages. quick: whether it is its quick form. at: see `moved`.
    """

    name: str
    title: str
    kind: str
    reference: str
    explanation: str
    source: Source = field(repr=False, compare=False)
    quick: bool = False
    at: float | None = None

    @property
    def content(self) -> Toml:
        """The content of the file."""
        return self.source.content

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the published data sets that it needs, and that a person must have; mostly none."""
        return tuple(self.content.get("data", ()))

    @property
    def panels(self) -> Sequence[Toml]:
        """The panels; one with the title of the preset where the file has none."""
        return self.content.get("panels") or [{"title": self.title}]

    @property
    def all_panels(self) -> tuple[str, ...]:
        """The titles of the panels, those that a quick form leaves out among them."""
        return tuple(self.content.get("all_panels") or (panel["title"] for panel in self.panels))

    @property
    def labels(self) -> tuple[str, ...]:
        """What claims name: the labels of the series, or the eigenvalues of a spectrum."""
        return EIGENVALUES if self.kind == "spectrum" else tuple(series["label"] for series in self.series)

    @property
    def series(self) -> Sequence[Toml]:
        """The series; one for each solver where the file has none."""
        solvers = self.content.get("solvers", [])
        default = {"solver": solvers[0]} if len(solvers) == 1 else {}
        named = [{"label": solver, "solver": solver} for solver in solvers]
        return [{**default, **series} for series in self.content.get("series", named)]

    def spec(self, *paths: Path) -> Spec:
        """Return the spec of the top level with those of other tables, given by their paths, over it."""
        parts = [self.content, *(self.table(path) for path in paths)]
        tables = [(*path, "spec") for path in reversed(paths)] + [("spec",)]
        model = next((part["model"] for part in reversed(parts) if "model" in part), None)
        if model is None:
            error = InputError("model", "given", "nothing", "add it to the panel, or above all tables for all panels")
            raise self.source.located(error, paths[0])
        with self.source.locate(*tables, *reversed(paths), ()):
            spec = {name: value for part in parts for name, value in part.get("spec", {}).items()}
            seed = {"seed": self.content["seed"]} if "seed" in self.content else {}
            return make_spec({"model": model, "spec": spec, **seed})

    def table(self, path: Path) -> Toml:
        """Return a panel, a series or a column by its path."""
        key, number = path
        tables = {"panels": self.panels, "series": self.series}.get(str(key)) or self.content[str(key)]
        return tables[int(number)]

    def require_measure(self, measure: str, model: str, *paths: Path) -> None:
        """Raise InputError unless trials of a model have such a measure."""
        with self.source.locate(*paths):
            require_known(measure, (*family(model).measures, *RUN_MEASURES), what="measure")
