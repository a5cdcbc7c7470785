"""The reduced run of a preset: fewer trials and points, for a figure in minutes if the whole one takes hours.

A file's table [quick] says what is left: `trials` at each point; `points` of each axis, evenly spread, with those at
which a claim is judged; `max_iter` of all runs; and `only`, by name: labels of series, columns and panels, values of an
axis, of a column of the table [paper], or of a grid. A file without one has DEFAULT. Numbers of measurements are
searched less closely. All claims are retained: one on what is left out is not decided.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lrlab.parameters import InputError, require_known
from lrlab.presets.definition import Preset

DEFAULT: Mapping[str, Any] = {"trials": 2, "points": 5}
LABELS = {"series": "label", "columns": "label", "panels": "title"}


def quick(preset: Preset) -> Preset:
    """Return the reduced run of a preset; InputError, with the path, if its table names what is not there."""
    rule, content = preset.content.get("quick", DEFAULT), copy.deepcopy(dict(preset.content))
    only, paper = rule.get("only", {}), content.get("paper", {})
    for key, name in LABELS.items():
        if key in only:
            labels = tuple(table[name] for table in content.get(key, ()))
            with preset.source.locate(("quick", "only", key), ("quick",)):
                for label in only[key]:
                    require_known(label, labels, what=key)
            tables = content[key]
            content[key] = [table for table in tables if table[name] in only[key]]
            if key == "series":
                content["left_out"] = [table for table in tables if table not in content[key]]
    if "columns" in only:
        # The paper's numbers of the columns that are left.
        places = [k for k, column in enumerate(preset.content["columns"]) if column["label"] in only["columns"]]
        for series in (one for one in content["series"] if "paper" in one):
            series["paper"] = {metric: [row[k] for k in places] for metric, row in series["paper"].items()}
    tables = (content, *content.get("panels", ()), *content.get("series", ()))
    known = {name for table in tables for key in ("axes", "grid") for name in table.get(key, ())}
    with preset.source.locate(("quick", "only"), ("quick",)):
        for name in only.keys() - LABELS.keys():
            require_known(name, (*known, *paper.get("columns", ())), what="name")
    for table in tables:
        if table is content or "trials" in table:
            own = table["trials"]
            table["trials"] = min(rule.get("trials", DEFAULT["trials"]), max(own) if isinstance(own, list) else own)
        for name, values in table.get("axes", {}).items():
            table["axes"][name] = only.get(name) or _spread(values, rule, content.get("claims", ()))
        for name, values in table.get("grid", {}).items():
            table["grid"][name] = [value for value in values if value in only.get(name, values)]
    if "max_iter" in rule:
        content["settings"] = {**content.get("settings", {}), "max_iter": rule["max_iter"]}
        for series in content.get("series", ()):
            series.get("settings", {}).pop("max_iter", None)
    if paper:
        columns = {name: paper["columns"].index(name) for name in only if name in paper["columns"]}
        paper["rows"] = [row for row in paper["rows"] if all(row[k] in only[name] for name, k in columns.items())]
        if not paper["rows"]:
            error = InputError("only", "values that some row of the table has", "none", "name others")
            raise preset.source.located(error, ("quick", "only"))
    content["all_panels"] = list(preset.all_panels)
    source = copy.copy(preset.source)
    source.content = content
    return replace(preset, source=source, quick=True)


def _spread(values: Any, rule: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> Any:
    """Return some values of an axis, evenly spread, its ends among them, with those at which claims are judged."""
    points = rule.get("points", len(values))
    if not isinstance(values, list) or len(values) <= points:
        return values
    rules = [*claims, *(claim["remark"] for claim in claims if "remark" in claim)]
    needed = {one[key] for one in rules for key in ("at", "from", "to") if key in one}
    places = {round(k) for k in np.linspace(0, len(values) - 1, points)}
    return [value for k, value in enumerate(values) if k in places or value in needed]
