"""The quick form of a preset: fewer trials and points, for a figure in minutes where the whole one takes hours.

A file's table [quick] says what is left: trials at each point; points of each axis, evenly spread, with those at which
a claim is judged, or the values of axes themselves; labels of series, columns and panels; rows of a table [paper], by
the values of a column; values of a searched grid; max_iter of all runs; close, the factor up to which numbers of
measurements are searched. A file without one has DEFAULT. All claims are retained: one on what is left out is not
decided.
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
    """Return the quick form of a preset; InputError, with the path, where its table names what is not there."""
    rule, content = preset.content.get("quick", DEFAULT), copy.deepcopy(dict(preset.content))
    for key, name in LABELS.items():
        if key in rule:
            labels = tuple(table[name] for table in content.get(key, ()))
            with preset.source.locate(("quick", key)):
                for label in rule[key]:
                    require_known(label, labels, what=key)
            left_out = [table for table in content[key] if table[name] not in rule[key]]
            content[key] = [table for table in content[key] if table[name] in rule[key]]
            content |= {"left_out": left_out} if key == "series" else {}
    if "columns" in rule:
        # The paper's numbers of the columns that are left.
        places = [k for k, column in enumerate(preset.content["columns"]) if column["label"] in rule["columns"]]
        for series in (one for one in content["series"] if "paper" in one):
            series["paper"] = {measure: [row[k] for k in places] for measure, row in series["paper"].items()}
    for table in (content, *content.get("panels", ()), *content.get("series", ())):
        if table is content or "trials" in table:
            own = table["trials"]
            table["trials"] = min(rule.get("trials", DEFAULT["trials"]), max(own) if isinstance(own, list) else own)
        if "axes" in table:
            table["axes"] = {
                name: rule.get("axes", {}).get(name) or _spread(values, rule, content.get("claims", ()))
                for name, values in table["axes"].items()
            }
    for series in content.get("series", ()):
        if "grid" in series and "grid" in rule:
            series["grid"] = {name: [v for v in values if v in rule["grid"]] for name, values in series["grid"].items()}
    if "max_iter" in rule:
        content["settings"] = {**content.get("settings", {}), "max_iter": rule["max_iter"]}
        for series in content.get("series", ()):
            series.get("settings", {}).pop("max_iter", None)
    if "close" in rule:
        content["close"] = rule["close"]
    if "paper" in content:
        content["paper"]["rows"] = _rows(preset, content["paper"], rule)
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


def _rows(preset: Preset, paper: Mapping[str, Any], rule: Mapping[str, Any]) -> list[list[Any]]:
    """Return the rows of the paper's table that are left."""
    columns, chosen = paper["columns"], dict(rule.get("rows", {}))
    with preset.source.locate(("quick", "rows"), ("quick",)):
        for name in chosen:
            require_known(name, tuple(columns), what="column")
        if "series" in rule:
            chosen["series"] = rule["series"]
        rows = [row for row in paper["rows"] if all(row[columns.index(k)] in v for k, v in chosen.items())]
        if not rows:
            raise InputError("rows", "values that some row has", "none", "name others")
    return rows
