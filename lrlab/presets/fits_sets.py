"""Data sets of presets of kind `fits`: those of a folder, or synthetic rows of their shape; rows and panels of them."""

import math
import os
from typing import Any

from lrlab.presets.definition import Preset, Toml
from lrlab.presets.published import FOLDER, SHAPES, Files, located

PLACE = ["data", "series", "share", "observed"]
"""Columns that say what is fitted."""
SYNTHETIC = " (synthetic)"
"""Stands behind the name of a set whose rows are synthetic."""
Sets = dict[str, Files | None]


def sampling_error(measure: str, value: float, data: str) -> float:
    """Return the standard error of a mean over the test rows of a set, from above.

    A score of a row between 0 and 1 has a variance of at most m (1 - m). How many labels of a row are predicted wrongly
    is taken to vary as much as a geometric number. 0 of a set whose size is not known.
    """
    if (shape := SHAPES.get(data)) is None:
        return 0.0
    if measure == "hamming":
        wrong = value * shape.labels
        return math.sqrt(wrong * (1.0 + wrong) / shape.test_rows) / shape.labels
    scale = 1.0 if measure == "auc" else 100.0
    return math.sqrt(max(0.0, value * (scale - value)) / shape.test_rows)


def sets(preset: Preset, data: str | os.PathLike[str] | None) -> Sets:
    """Return the files of the sets in a folder by name; None for sets of the paper that synthetic rows stand in for.

    These stand in for what is missing where there is no folder, or one with another set of the paper.
    """
    named = data is not None or bool(os.environ.get(FOLDER))
    files: Sets = dict(located(data, preset.data)) if named else {}
    if named and not files.keys() & set(preset.data):
        return files
    absent = [name for name in preset.data if name not in files and name in SHAPES]
    if not files and not absent:
        located(data, preset.data)
    return files | {name + SYNTHETIC: None for name in absent}


def rows_of_paper(preset: Preset, files: Sets) -> list[dict[str, Any]]:
    """Return the rows of the paper, and, for sets that it does not have, rows at the same places with no numbers."""
    paper = preset.content["paper"]
    rows = [dict(zip(paper["columns"], row, strict=True)) for row in paper["rows"]]
    places = dict.fromkeys(tuple(row[key] for key in PLACE[1:]) for row in rows)
    empty = dict.fromkeys(paper["columns"][len(PLACE) :], "")
    drawn = [{**row, **empty, "data": row["data"] + SYNTHETIC} for row in rows]
    own = [name for name in files if name not in preset.data and not name.endswith(SYNTHETIC)]
    filled = [(name, *place) for name in own for place in places]
    return rows + drawn + [{**dict(zip(PLACE, place, strict=True)), **empty} for place in filled]


def panels_of(preset: Preset, files: Sets) -> list[Toml]:
    """Return the panels; where the folder has none of the paper's sets, the same of the sets that it has.

    A panel of a set that synthetic rows stand in for is one of these.
    """
    if not files.keys() - {name + SYNTHETIC for name in preset.data} - set(preset.data):
        return [_standing(panel, files) for panel in preset.panels]
    own, panels = [name for name in files if name not in preset.data], list[Toml]()
    for panel in preset.panels:
        where = panel.get("where", {})
        for name in (own if "data" in where else [", ".join(own)]) if own else ():
            title = panel["title"]
            for published in preset.data:
                title = title.replace(published, name)
            other = {**panel, "title": title, "where": {**where, "data": name} if "data" in where else where}
            panels += [other] if other not in panels else []
    return panels or list(preset.panels)


def _standing(panel: Toml, files: Sets) -> Toml:
    """Return the panel, of synthetic rows where these stand in for its set."""
    where = panel.get("where", {})
    name = str(where.get("data", "")) + SYNTHETIC
    return {**panel, "title": panel["title"] + SYNTHETIC, "where": {**where, "data": name}} if name in files else panel
