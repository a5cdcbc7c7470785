"""The form of preset files: a sweep definition (model, trials, spec, axes, settings) with a table `figure`.

`series` vary the sweep: solvers, or one solver with different settings or specs. `panels`, each with its model, spec,
axes or metric, show it. Keys that these tables lack come from the top level. `figure.kind` is the shape of the figure
and names the module that draws it.

A reduced run takes minutes if the whole one takes hours. The table [quick] of a file says what remains: `trials` per
point; `points` of each axis, evenly spread, and the points in claims; `max_iter` of all runs; and `only`, by name:
labels of series, titles of panels, or values of an axis or of a column of the table [paper]. Without that table,
DEFAULT applies. Searches for the fewest measurements end at a coarser factor. All claims remain: a claim on an omitted
part is not decided.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from lrlab.parameters import InputError, require_known
from lrlab.presets.papers import paper_of
from lrlab.protocol import Spec
from lrlab.sweeps.toml import ABOUT, ANY, NAMES, TABLE, TABLES, TEXT, WHOLE, check, loads, located, make_spec

Toml = Mapping[str, Any]
KINDS = ("lines", "table", "spectrum")
"""Shapes of figures."""
FORMULAS = {"claimed": "processor", "memory": "megabytes"}
"""Keys of series with formulas of costs, and the measured costs."""
KEYS = {
    "figure": "kind metric metric_title log_x log_y statement against against_title steps level",
    "series": "label solver settings model spec axes full_rank quantity part below fewest against paper why claimed"
    " memory",
    "panels": "title metric metric_title against_title log_x log_y model spec axes axis rows only trials quantity"
    " ratio judged paper scale complement",
    "columns": "label spec settings",
    "lines": "label if panel series bound slope mark exact origin to",
    "claims": "paper rule panel remark lower higher series columns by within level at from to any",
    "paper": "columns rows",
    "slider": "name values",
    "quick": "trials points max_iter only",
}
"""Keys of the tables of a file, the required one first; each kind of figure uses a part of them."""
LISTS = ("series", "panels", "columns", "lines", "claims")
FILE = {**ABOUT, "model": TEXT, "seed": ANY, "trials": WHOLE, "tune_by": TEXT, "data": NAMES, "unit_rows": NAMES}
FILE |= dict.fromkeys(("spec", "axes", "settings"), TABLE) | {key: TABLES if key in LISTS else TABLE for key in KEYS}
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
        return float(self.first_spec.values()[self.content["slider"]["name"]])

    @property
    def command(self) -> str:
        """The command that computes it."""
        at = "" if self.at is None else f" --at {self.at:g}"
        return f"python -m lrlab paper {self.name}{' --quick' if self.quick else ''}{at}"

    @property
    def first_spec(self) -> Spec:
        """The spec of the first series in the first panel, before an axis changes it."""
        return self.spec(self.panels[0], self.series[0])

    @property
    def panels(self) -> Sequence[Toml]:
        """The panels."""
        return self.content["panels"]

    @property
    def all_panels(self) -> tuple[str, ...]:
        """The titles of all panels, including panels that a reduced run omits."""
        return tuple(self.content.get("all_panels") or (panel["title"] for panel in self.panels))

    @property
    def series(self) -> Sequence[Toml]:
        """The series; none for a spectrum."""
        return self.content.get("series", ())

    def spec(self, *tables: Toml) -> Spec:
        """Return the spec of the top level, updated by the models and specs of other tables."""
        parts = [self.content, *tables]
        spec = {name: value for part in parts for name, value in part.get("spec", {}).items()}
        seed = {"seed": self.content["seed"]} if "seed" in self.content else {}
        model = next(part["model"] for part in reversed(parts) if "model" in part)
        return make_spec({"model": model, "spec": spec, **seed})


def read(name: str, text: str) -> Preset:
    """Return the preset in a text; InputError, with the path, for unknown or missing keys and wrong kinds."""
    content, file = loads(text, "preset file"), f"{name}.toml: "
    check(content, FILE, ("title", "reference", "explanation", "trials", "figure", "panels"), "a preset", file)
    for key, words in KEYS.items():
        for k, table in enumerate(content.get(key, ()) if key in LISTS else [content[key]] if key in content else ()):
            path = f"{file}{key}[{k}]." if key in LISTS else f"{file}{key}."
            check(table, dict.fromkeys(words.split(), ANY), words.split()[:1], key, path)
    kind = content["figure"]["kind"]
    with located(content, file):
        require_known(kind, KINDS, what="kind")
    title, reference, explanation = (content[key].strip() for key in ("title", "reference", "explanation"))
    if paper := paper_of(name):
        reference = f"{paper.citation}, {reference.removeprefix(f'{paper.citation}, ')}"
    preset = Preset(name, title, kind, reference, explanation, content)
    return replace(preset, content={**content, "claims": [*content.get("claims", ()), *_formulas(preset)]})


def _formulas(preset: Preset) -> Iterator[Toml]:
    """Yield a claim for each formula of costs that a panel can judge: it bounds the measured exponent from above."""
    for panel, (key, cost), series in product(preset.panels, FORMULAS.items(), preset.series):
        (axis,) = panel.get("axes", preset.content.get("axes", {"": ()}))
        shown = series["label"] in panel.get("only", [series["label"]]) and panel.get("judged", True)
        if shown and axis in series.get(key, {}):
            bound = series[key][axis]
            # The paper's words in a series are about time.
            memory = f"memory of the data and of the method: at most {axis}^{bound:g}"
            words = series["paper"] if key == "claimed" else memory
            claim = {"paper": words, "why": series.get("why", ""), "quoted": False, "panel": panel["title"]}
            yield {**claim, "rule": "exponent", "series": [series["label"]], "level": bound, "cost": cost}


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
    for key, name in (("series", "label"), ("panels", "title")):
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
