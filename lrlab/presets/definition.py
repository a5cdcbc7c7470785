"""The form of preset files: a sweep definition (model, solvers, trials, spec, axes, settings) with a table `figure`.

`series` vary the sweep: solvers, or one solver with different settings or specs. `panels`, each with its model, spec,
axes or metric, show it; a table with printed numbers has `columns`. Keys that these tables lack come from the top
level. Without `series`, each of `solvers` is one; without `panels`, there is one panel. `figure.kind` is the shape of
the figure and the name of the module that draws it.

A reduced run takes minutes if the whole one takes hours. The table [quick] of a file says what remains: `trials` per
point; `points` of each axis, evenly spread, and the points in claims; `max_iter` of all runs; and
`only`, by name: labels of series, columns and panels, or values of an axis, a grid or a column of the table [paper].
Without that table, DEFAULT applies. Searches for the fewest measurements end at a coarser factor. All claims remain: a
claim on an omitted part is not decided.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from lrlab.aliases import PRESET_KEYS, PRESET_KINDS
from lrlab.parameters import InputError, require_known
from lrlab.presets.papers import paper_of
from lrlab.protocol import Spec
from lrlab.sweeps.toml import ABOUT, SUCCESS, Keys, Source, make_spec

Toml = Mapping[str, Any]
EIGENVALUES = ("largest", "second", "gap")
"""The series of kind `spectrum`: the two largest eigenvalues, and their difference."""
_WHERE = {"model": str, "spec": dict, "axes": dict}
_LOOK = {"measure": str, "measure_title": str, "log_x": bool, "log_y": bool}
_RULE = {
    **dict.fromkeys(("lower", "higher", "series", "columns"), [str]),
    **dict.fromkeys(("by", "within", "level", "at", "from", "to"), float),
    "rule": str,
    "any": bool,
}
_CLAIM = {"paper": str, "panel": str, "remark": Keys({"text": str, **_RULE}, ("text", "rule")), **_RULE}
_SERIES = {"label": str, "solver": str, "settings": dict}
_FILE: dict[str, Any] = {
    **ABOUT,
    **_WHERE,
    "trials": int,
    "seed": object,
    "solvers": [str],
    "settings": dict,
    "claims": [Keys(_CLAIM, ("paper", "rule"))],
    "quick": Keys({"trials": int, "points": int, "max_iter": int, "only": dict}),
}


def _file(figure: Toml, required: tuple[str, ...] = (), **tables: Any) -> Keys:
    keys = {**_FILE, **tables, "figure": Keys({"kind": str, **figure}, ("kind", *required))}
    return Keys(keys, ("title", "reference", "explanation", "trials", "figure"))


KINDS: Mapping[str, Keys] = {
    "lines": _file(
        {**_LOOK, "statement": str, "against": str, "against_title": str, "steps": bool, "level": float},
        success=SUCCESS,
        slider=Keys({"name": str, "values": list}, ("name", "values")),
        series=[
            Keys(
                {**_SERIES, **_WHERE, "grid": dict, "quantity": str, "part": str, "below": float}
                | {"fewest": Keys({"along": str, "from": float, "to": float}, ("along", "from", "to"))}
                | {"claimed": dict, "memory": dict, "paper": str, "why": str},
                ("label",),
            )
        ],
        panels=[
            Keys(
                {**_WHERE, **_LOOK, "title": str, "only": [str], "trials": (int, [int])}
                | {"ratio": [str], "published": float, "quantity": str, "judged": bool},
                ("title",),
            )
        ],
        lines=[
            Keys(
                {"label": str, "panel": str, "series": str, "bound": str, "slope": float, "mark": str, "if": str}
                | {"exact": bool, "origin": bool, "to": float},
                ("label", "if"),
            )
        ],
    ),
    "table": _file(
        {},
        tune_by=str,
        data=[str],
        paper=Keys({"columns": [str], "rows": [list]}, ("columns", "rows")),
        series=[Keys({**_SERIES, "spec": dict, "paper": dict, "full_rank": bool}, ("label",))],
        columns=[Keys({"label": str, "spec": dict, "settings": dict}, ("label",))],
        panels=[
            Keys(
                {"title": str, "measure": str, "measure_title": str, "scale": float, "complement": bool, "paper": str}
                | {"axis": str, "rows": dict, "log_x": bool},
                ("title", "measure"),
            )
        ],
    ),
    "spectrum": _file({}, panels=[Keys({"title": str, **_WHERE}, ("title",))]),
}

DEFAULT: Mapping[str, Any] = {"trials": 2, "points": 5}


@dataclass(frozen=True)
class Preset:
    """A figure that can be computed.

    name: as in the shell. title, reference, explanation (a paragraph): texts for users. kind: the module that computes
    it. content: the content of the file. quick: whether this is the reduced run. at: position of the slider, None for
    the stored result.
    """

    name: str
    title: str
    kind: str
    reference: str
    explanation: str
    content: Toml = field(repr=False, compare=False)
    quick: bool = False
    at: float | None = None

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the published data sets that the user must provide; empty for most presets."""
        return tuple(self.content.get("data", ()))

    @property
    def is_theorem(self) -> bool:
        """Whether it shows the statement of a theorem."""
        return "statement" in self.content["figure"]

    @property
    def positions(self) -> list[float]:
        """The positions of the slider, in order; none if the preset has no slider."""
        return list(self.content.get("slider", {}).get("values", ()))

    @property
    def start(self) -> float:
        """The slider position of the stored result."""
        return float(self.specs[0].values()[self.content["slider"]["name"]])

    @property
    def specs(self) -> list[Spec]:
        """The specs of all series in all panels, before an axis changes them."""
        return [self.spec(panel, series) for panel, series in product(self.panels, self.series)]

    @property
    def panels(self) -> Sequence[Toml]:
        """The panels; one with the title of the preset if the file has none."""
        return self.content.get("panels") or [{"title": self.title}]

    @property
    def all_panels(self) -> tuple[str, ...]:
        """The titles of all panels, including panels that a reduced run omits."""
        return tuple(self.content.get("all_panels") or (panel["title"] for panel in self.panels))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names in claims: labels of series, or the eigenvalues of a spectrum."""
        return EIGENVALUES if self.kind == "spectrum" else tuple(series["label"] for series in self.series)

    @property
    def series(self) -> Sequence[Toml]:
        """The series; one for each solver if the file has none."""
        solvers = self.content.get("solvers", [])
        default = {"solver": solvers[0]} if len(solvers) == 1 else {}
        named = [{"label": solver, "solver": solver} for solver in solvers]
        return [{**default, **series} for series in self.content.get("series", named)]

    def spec(self, *tables: Toml) -> Spec:
        """Return the spec of the top level, updated by the models and specs of other tables."""
        parts = [self.content, *tables]
        spec = {name: value for part in parts for name, value in part.get("spec", {}).items()}
        seed = {"seed": self.content["seed"]} if "seed" in self.content else {}
        model = next(part["model"] for part in reversed(parts) if "model" in part)
        return make_spec({"model": model, "spec": spec, **seed})


def read(name: str, text: str) -> Preset:
    """Return the preset in a text; InputError, with the path, for unknown or missing keys and wrong kinds."""
    source = Source(text, "preset file", f"{name}.toml")
    content = source.content
    figure = content.get("figure")
    kind = str(figure.get("kind", "lines")) if isinstance(figure, dict) else "lines"
    kind = PRESET_KINDS.get(kind, kind)
    with source.locate(("figure",)):
        require_known(kind, KINDS, what="kind")
    for key, names in PRESET_KEYS.items():
        for table in content[key] if isinstance(content.get(key), list) else ():
            for old in names.keys() & set(table):
                table[names[old]] = table.pop(old)
    source.check(KINDS[kind], "a preset")
    title, reference, explanation = (content[key].strip() for key in ("title", "reference", "explanation"))
    if paper := paper_of(name):
        reference = f"{paper.citation}, {reference.removeprefix(f'{paper.citation}, ')}"
    return Preset(name, title, kind, reference, explanation, content)


def moved(preset: Preset, value: float) -> Preset:
    """Return a preset at a position of its slider; InputError for an unknown position, or without a slider."""
    known = preset.positions
    if value not in known:
        expected = ", ".join(f"{one:g}" for one in known) or f"nothing, as {preset.name} has no slider"
        raise InputError("at", expected, value, "take one of these" if known else "leave it out")
    spec = {**preset.content.get("spec", {}), preset.content["slider"]["name"]: known[known.index(value)]}
    return replace(preset, content={**preset.content, "spec": spec}, at=value)


def quick(preset: Preset) -> Preset:
    """Return the reduced run of a preset."""
    rule, content = preset.content.get("quick", DEFAULT), copy.deepcopy(dict(preset.content))
    only, most = rule.get("only", {}), rule.get("trials", DEFAULT["trials"])
    if "columns" in only:
        # The paper's numbers of the remaining columns.
        used = [column["label"] in only["columns"] for column in content["columns"]]
        for series in content["series"]:
            for metric, row in series.get("paper", {}).items():
                series["paper"][metric] = [value for value, one in zip(row, used, strict=True) if one]
    content["left_out"] = [
        one for one in content.get("series", ()) if one["label"] not in only.get("series", [one["label"]])
    ]
    for key, name in (("series", "label"), ("columns", "label"), ("panels", "title")):
        if key in only:
            content[key] = [table for table in content[key] if table[name] in only[key]]
    claims = content.get("claims", [])
    rules = [*claims, *(claim["remark"] for claim in claims if "remark" in claim)]
    needed = {one[key] for one in rules for key in ("at", "from", "to") if key in one}
    for table in (content, *content.get("panels", ()), *content.get("series", ())):
        if "trials" in table:
            table["trials"] = min(most, int(np.max(table["trials"])))
        for name, values in table.get("axes", {}).items():
            table["axes"][name] = only.get(name) or _spread(values, rule.get("points"), needed)
        for name, values in table.get("grid", {}).items():
            table["grid"][name] = [value for value in values if value in only.get(name, values)]
    if "max_iter" in rule:
        content["settings"] = {**content.get("settings", {}), "max_iter": rule["max_iter"]}
        for series in content.get("series", ()):
            series.get("settings", {}).pop("max_iter", None)
    if paper := content.get("paper"):
        columns = {name: paper["columns"].index(name) for name in only if name in paper["columns"]}
        paper["rows"] = [row for row in paper["rows"] if all(row[k] in only[name] for name, k in columns.items())]
    content["all_panels"] = list(preset.all_panels)
    return replace(preset, content=content, quick=True)


def _spread(values: Any, points: int | None, needed: set[float]) -> Any:
    """Return evenly spread values of an axis, including its ends and all values in claims."""
    if not isinstance(values, list) or not points or len(values) <= points:
        return values
    chosen = {round(k) for k in np.linspace(0, len(values) - 1, points)}
    return [value for k, value in enumerate(values) if k in chosen or value in needed]
