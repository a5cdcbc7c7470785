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
from lrlab.sweeps.toml import ABOUT, SUCCESS, make_spec
from lrlab.sweeps.toml_source import Keys, Path, Source

Toml = Mapping[str, Any]
RUN_MEASURES = ("seconds", "iterations")
"""Measures of a run that are no scores of its estimate."""

_MODEL = {"model": str, "spec": dict}
_AXES = {"axes": dict}
_SOLVERS = {"solvers": [str], "settings": dict}
_SERIES = {"label": str, "solver": str, "settings": dict, "spec": dict}
_RATIO = {"ratio": [str], "published": float}
_GRID = {**_SERIES, "grid": dict}
_MEASURE = {"measure": str, "measure_title": str}
_SCALES = {"log_x": bool, "log_y": bool}
_RULE = {
    "rule": str, "lower": [str], "higher": [str], "series": [str],
    "by": float, "within": float, "level": float, "at": float, "from": float, "to": float,
}  # fmt: skip
_FEWEST = Keys({"along": str, "from": float, "to": float}, ("along", "from", "to"))
_STATEMENT = {"statement": str, "against": str, "against_title": str}
_LINE = {"label": str, "panel": str, "bound": str, "slope": float, "mark": str, "series": str, "if": str, "exact": bool}
_REMARK = Keys({"text": str, **_RULE}, ("text", "rule"))
_CLAIM = {"paper": str, "panel": str, "remark": _REMARK, **_RULE}
_QUICK = Keys({
    "trials": int, "points": int, "series": [str], "columns": [str], "panels": [str], "rows": dict,
    "grid": [float], "axes": dict, "max_iter": int, "close": float,
})  # fmt: skip


def _tables(key: str, kinds: Toml, *required: str) -> dict[str, list[Keys]]:
    return {key: [Keys(kinds, required)]}


_CLAIMS = _tables("claims", _CLAIM, "paper", "rule")


def file_keys(figure: Toml, required: Sequence[str], *parts: Toml) -> Keys:
    """Return the keys of a file; `required` are those of its table `figure`, beside its kind."""
    keys: dict[str, Any] = {**ABOUT, "trials": int, "seed": object, "quick": _QUICK}
    for part in parts:
        keys |= part
    keys["figure"] = Keys({"kind": str, **figure}, ("kind", *required))
    return Keys(keys, ("title", "reference", "explanation", "trials", "figure"))


KINDS: Mapping[str, Keys] = {
    "spectrum": file_keys(
        {}, (), _MODEL, _AXES, _tables("panels", {"title": str, **_MODEL, **_AXES}, "title"), _CLAIMS,
    ),
    "rates": file_keys(
        {"threshold_factor": float, "claim": str}, ("threshold_factor",),
        _MODEL, _AXES, _SOLVERS, _tables("series", _SERIES, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES, "trials": (int, [int])}, "title"),
    ),
    "curves": file_keys(
        {**_MEASURE, **_SCALES}, ("measure_title",),
        _MODEL, _AXES, _SOLVERS, {"success": SUCCESS}, _tables("series", _GRID, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES, "trials": int, **_RATIO}, "title"),
        _CLAIMS,
    ),
    "traces": file_keys(
        {**_MEASURE, **_SCALES, "against": str}, ("measure", "measure_title", "against"),
        _MODEL, _SOLVERS, _tables("series", _GRID, "label"),
        _tables("panels", {"title": str, **_MODEL, **_MEASURE, "trials": int}, "title"),
        _CLAIMS,
    ),
    "growth": file_keys(
        {"measure": str, "level": float}, (),
        _MODEL, _SOLVERS,
        _tables("series", {**_SERIES, "claimed": dict, "memory": dict, "paper": str, "why": str}, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES, "only": [str], "quantity": str}, "title", "axes"),
    ),
    "products": file_keys(
        {}, (), _MODEL, _tables("series", {"label": str}, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES}, "title", "axes"), _CLAIMS,
    ),
    "theorem": file_keys(
        {**_MEASURE, **_SCALES, **_STATEMENT, "steps": bool}, ("statement", "measure_title"),
        _MODEL, _AXES, {"settings": dict, "slider": Keys({"name": str, "values": list}, ("name", "values"))},
        _tables("series", {**_SERIES, **_MODEL, **_AXES, "quantity": str, "part": str, "below": float,
                           "fewest": _FEWEST}, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES, **_MEASURE, **_SCALES, "only": [str]}, "title"),
        _tables("lines", _LINE, "label", "if"),
        _CLAIMS,
    ),
    "comparison": file_keys(
        {}, (),
        _MODEL, _SOLVERS, _tables("series", {**_SERIES, "paper": dict}, "label"),
        _tables("columns", {"label": str, "spec": dict, "settings": dict}, "label"),
        _tables("panels", {"title": str, **_MEASURE, "scale": float}, "title", *_MEASURE),
        _CLAIMS,
    ),
    "fits": file_keys(
        {}, (),
        {"model": str, "settings": dict, "tune_by": str, "data": [str]},
        {"paper": Keys({"columns": [str], "rows": [list]}, ("columns", "rows"))},
        _tables("series", {"label": str, "solver": str, "settings": dict, "full_rank": bool}, "label", "solver"),
        _tables("panels", {"title": str, "measure": str, "axis": str, "where": dict, "log_x": bool},
                "title", "measure", "axis"),
        _CLAIMS,
    ),
}  # fmt: skip
EIGENVALUES = ("largest", "second", "gap")
"""The series of kind `spectrum`: the two largest eigenvalues, and their difference."""
REQUIRED = {
    "comparison": ("columns", "panels"),
    "products": ("model", "series", "panels"),
    "theorem": ("series", "lines", "slider"),
    "fits": ("model", "tune_by", "data", "paper", "series", "panels"),
}
"""What a file of some kinds needs beside its texts, trials and figure."""


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
