"""Other forms of a preset: the reduced run, and the run at another position of its slider.

A reduced run takes minutes if the whole one takes hours. The table [quick] of a file says what remains: `trials` per
point; `points` of each axis, evenly spread, and the points in claims; `max_iter` of all runs; and
`only`, by name: labels of series, columns and panels, or values of an axis, a grid or a column of the table [paper].
Without that table, DEFAULT applies. Searches for the fewest measurements end at a coarser factor. All claims remain: a
claim on an omitted part is not decided.
"""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lrlab.parameters import InputError
from lrlab.presets.definition import Preset

DEFAULT: Mapping[str, Any] = {"trials": 2, "points": 5}
LABELS = {"series": "label", "columns": "label", "panels": "title"}


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
    for key, name in LABELS.items():
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
