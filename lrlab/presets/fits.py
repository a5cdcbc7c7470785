"""Tables of solvers on published data sets, tuned on a validation split, next to the paper's numbers.

Each row of [paper] is a fit with printed numbers, "" for none: data, series, share (rank over the number of labels),
observed (fraction of observed labels), then metrics. settings.max_iter limits the iterations; tune_by is the metric of
the validation split. A series with full_rank does not depend on the rank, and counts for all shares. A panel shows a
metric along an axis (share, observed, data, or seconds: all iterations of the first trial) in the rows selected by
`rows`. The user provides the folder with the data; captions name missing sets and fits that a solver rejects. If the
folder has none of the paper's sets, lrlab fits the sets that it has.
"""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.data.tuning import METRICS
from lrlab.figures.build import Figure
from lrlab.figures.series import beside
from lrlab.presets import claims
from lrlab.presets.dataset_fit import DatasetFit, fit_dataset
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.published import SHAPES, Sets, located
from lrlab.presets.result import Panel, Plan, Result, Verdict, compare_with_paper

AXES = {
    "share": "rank / number of labels",
    "observed": "fraction of labels observed",
    "data": "data set",
    "seconds": "seconds of the solver",
}
TITLES = {
    "precision@1": "precision@1 (%)",
    "precision@3": "precision@3 (%)",
    "precision@5": "precision@5 (%)",
    "hamming": "Hamming loss",
    "auc": "AUC of an instance, mean",
    "seconds": "seconds of the solver",
}
PLACE = ["data", "series", "share", "observed"]
"""Columns that identify a fit."""


def plan(preset: Preset, trials: int | None = None, data: str | os.PathLike[str] | Sets | None = None) -> Plan:
    """Return the fits of all rows with a data set in the folder, or in the given files, each once."""
    files = dict(data) if isinstance(data, dict) else located(data, preset.data)
    rows = [row for row in rows_of_paper(preset, files) if row["data"] in files]
    numbers = range(trials or preset.content["trials"])
    owners = [(row, _fit(preset, files, row, trial)) for trial in numbers for row in rows]
    items = list(dict.fromkeys(item for _, item in owners))

    def finish(results: Sequence[dict[str, Any] | None]) -> Result:
        known = dict(zip(items, results, strict=True))
        own = [(row, result) for row, item in owners if (result := known[item]) is not None]
        table = pd.DataFrame([{**result, **{key: row[key] for key in PLACE}} for row, result in own])
        points = compared(preset, rows, table)
        missing = [name for name in preset.data if name not in files]
        left_out = sorted({f"{row.solver} on {row.data} ({row.refused})" for row in table.itertuples() if row.refused})
        notes = f" Not in the folder: {', '.join(missing)}." if missing else ""
        notes += f" Left out: {'; '.join(left_out)}." if left_out else ""
        drawn = [_panel(preset, panel, points, table, notes) for panel in panels_of(preset, files)]
        judged = [line for part in drawn if part for line in part[1]]
        whole = pd.concat([pd.DataFrame(judged), points.assign(level="point")])
        hidden = ["trace", "blocks"]
        return Result([part[0] for part in drawn if part], whole, table.drop(columns=hidden, errors="ignore"))

    planned = compared(preset, rows, pd.DataFrame(columns=PLACE))
    filled = [panel["title"] for panel in panels_of(preset, files) if not _rows_of(preset, panel, planned).empty]
    return Plan(fit_dataset, items, finish, filled)


def _fit(preset: Preset, files: Sets, row: Toml, trial: int) -> DatasetFit:
    one = next(series for series in preset.series if series["label"] == row["series"])
    own = {**preset.content.get("settings", {}), **one.get("settings", {})}
    return DatasetFit(
        row["data"],
        files[row["data"]],
        one["solver"],
        0.0 if one.get("full_rank") else float(row["share"]),
        float(row["observed"]),
        int(own.pop("max_iter", 10)),
        preset.content["tune_by"],
        tuple(own.items()),
        trial,
    )


def compared(preset: Preset, rows: Sequence[Toml], table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per fit and metric: our mean, its spread, and the paper's number."""
    lines, at, none = [], dict(iter(table.groupby(PLACE))), pd.DataFrame(columns=table.columns)
    for row in rows:
        place = {key: row[key] for key in PLACE}
        own = at.get(tuple(place.values()), none)
        for measure in preset.content["paper"]["columns"][len(PLACE) :]:
            paper = float(row[measure]) if row[measure] != "" else float("nan")
            values = own[measure] if measure in own else pd.Series(dtype=float)
            lines.append({**place, "measure": measure, **compare_with_paper(values, paper)})
    return pd.DataFrame(lines)


def _panel(
    preset: Preset, panel: Toml, points: pd.DataFrame, table: pd.DataFrame, notes: str
) -> tuple[Panel, list[dict[str, Any]]] | None:
    """Return a panel, and its verdicts as rows of the table; None without points."""
    rows = _rows_of(preset, panel, points)
    if rows.empty:
        return None
    figure = _drawn(preset, panel, rows, points, table)
    judged, about = _judged(preset, panel, rows, table), {"panel": panel["title"], "measure": panel["measure"]}
    lines = [{**line, **about, "claim": line["paper"]} for line in claims.rows(judged)]
    return Panel(panel["title"], figure, _caption(rows) + notes + claims.caption(judged), judged), lines


def _drawn(preset: Preset, panel: Toml, rows: pd.DataFrame, points: pd.DataFrame, table: pd.DataFrame) -> Figure:
    axis = panel["axis"]
    level = _of_full_rank(preset, rows) & (axis == "share")
    placed = _over_time(rows, points, table) if axis == "seconds" else rows.assign(x=rows[axis].mask(level))
    return beside(
        placed,
        axis_title=AXES[axis],
        value_title=TITLES[panel["measure"]],
        log_x=panel.get("log_x", False),
        categories=axis == "data",
    )


def printed(preset: Preset) -> dict[str, Figure]:
    """Return figures of all numbers in the paper, and no others, by the titles of their panels."""
    nothing = pd.DataFrame(columns=[*PLACE, "trace"])
    points = compared(preset, rows_of_paper(preset, {}), nothing)
    shown = [(panel, _rows_of(preset, panel, points)) for panel in preset.panels]
    # Series without numbers stay, so that all series keep the style that they have next to ours.
    drawn = [(panel, rows) for panel, rows in shown if rows["paper"].notna().any()]
    return {panel["title"]: _drawn(preset, panel, rows, points, nothing) for panel, rows in drawn}


def _rows_of(preset: Preset, panel: Toml, points: pd.DataFrame) -> pd.DataFrame:
    """Return the points of a panel; a series of full rank has all shares."""
    full, chosen = _of_full_rank(preset, points), points["measure"] == panel["measure"]
    for key, value in panel.get("rows", {}).items():
        chosen &= (points[key] == value) | (full & (key == "share"))
    return points[chosen]


def _of_full_rank(preset: Preset, points: pd.DataFrame) -> pd.Series:
    return points["series"].isin([one["label"] for one in preset.series if one.get("full_rank")])


def _over_time(rows: pd.DataFrame, points: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the metric after every iteration of each row's first trial, over seconds, and the paper's number."""
    lines = []
    for row in rows.to_dict("records"):
        place, empty = [row[key] for key in PLACE], {"series": row["series"], "spread": np.nan, "trials": 1}
        for step in next(iter(table[(table[PLACE] == place).all(axis=1)]["trace"]), ()):
            lines.append({**empty, "x": step["seconds"], "ours": step[row["measure"]], "paper": np.nan})
        own = points[(points[PLACE] == place).all(axis=1) & (points["measure"] == "seconds")]
        lines += [{**empty, "x": x, "ours": np.nan, "paper": row["paper"]} for x in own["paper"].dropna()]
    return pd.DataFrame(lines, columns=["series", "x", "ours", "spread", "trials", "paper"])


def _judged(preset: Preset, panel: Toml, rows: pd.DataFrame, table: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on the claims of a panel, then on its printed numbers."""
    measure, axis = panel["measure"], panel["axis"]
    published = rows[rows["data"].isin(preset.data)].dropna(subset=["ours"])
    if published.empty:
        return claims.verdicts(preset, panel["title"], Samples({}))
    placed = published.assign(x=published[axis] if axis in PLACE else "at the end")
    columns = [*PLACE, "trial", measure, *(["blocks"] if "blocks" in table else [])]
    ran = placed[[*PLACE, "x"]].merge(table[columns].dropna(subset=[measure]), on=PLACE)
    # The paper repeats a series of full rank for each share, but it is one fit per trial.
    ran = ran.drop_duplicates(["series", "x", "trial"])
    samples = samples_of(ran, "x", measure)
    errors: dict[str, dict[Any, float]] = {}
    numbers: dict[str, dict[Any, float]] = {}
    for row in placed.to_dict("records"):
        # Each trial hides other labels: with one trial, the test rows do not tell that spread.
        if row["trials"] > 1 or row["observed"] == 1:
            errors.setdefault(row["series"], {})[row["x"]] = sampling_error(measure, row["ours"], row["data"])
        numbers.setdefault(row["series"], {})[row["x"]] = row["paper"]
    samples = samples._replace(errors=errors, blocks=_blocks(ran, measure, errors))
    # 1 if larger is better, -1 if smaller is: known for the metrics that tune fits.
    best = (-1 if measure == "hamming" else 1) if measure in METRICS else 0
    return [*claims.verdicts(preset, panel["title"], samples), *claims.on_numbers(numbers, samples, best)]


def _blocks(ran: pd.DataFrame, measure: str, errors: Mapping[str, Any]) -> dict[str, dict[Any, np.ndarray]]:
    """Return the scores on blocks of the test rows, mean over the trials, of fits with known errors."""
    blocks: dict[str, dict[Any, np.ndarray]] = {}
    for (series, x), own in ran.groupby(["series", "x"]) if "blocks" in ran else ():
        if x in errors.get(series, {}) and all(
            isinstance(one, list) and one and measure in one[0] for one in own["blocks"]
        ):
            scores = [[block[measure] for block in one] for one in own["blocks"]]
            blocks.setdefault(series, {})[x] = np.mean(scores, axis=0)
    return blocks


def sampling_error(measure: str, value: float, data: str) -> float:
    """Return an upper bound of the standard error of a mean over the test rows of a set, for results without blocks.

    A score between 0 and 1 with mean m has variance at most m (1 - m). The number of wrong labels per row is assumed to
    vary at most as a geometric number. 0 for a set of unknown size.
    """
    if (shape := SHAPES.get(data)) is None:
        return 0.0
    if measure == "hamming":
        wrong = value * shape.labels
        return math.sqrt(wrong * (1.0 + wrong) / shape.test_rows) / shape.labels
    scale = 1.0 if measure == "auc" else 100.0
    return math.sqrt(max(0.0, value * (scale - value)) / shape.test_rows)


def rows_of_paper(preset: Preset, files: Sets) -> list[dict[str, Any]]:
    """Return the rows of the paper, and the same rows without numbers for other sets."""
    paper = preset.content["paper"]
    rows = [dict(zip(paper["columns"], row, strict=True)) for row in paper["rows"]]
    places = dict.fromkeys(tuple(row[key] for key in PLACE[1:]) for row in rows)
    empty = dict.fromkeys(paper["columns"][len(PLACE) :], "")
    own = [name for name in files if name not in preset.data]
    return rows + [{**dict(zip(PLACE, (name, *place), strict=True)), **empty} for name in own for place in places]


def panels_of(preset: Preset, files: Sets) -> list[Toml]:
    """Return the panels; if the folder has none of the paper's sets, the same panels for the sets in the folder."""
    own = [name for name in files if name not in preset.data]
    if len(own) < len(files) or not own:
        return list(preset.panels)
    panels = list[Toml]()
    for panel in preset.panels:
        where = panel.get("rows", {})
        for name in own if "data" in where else [", ".join(own)]:
            title = panel["title"]
            for published in preset.data:
                title = title.replace(published, name)
            other = {**panel, "title": title, "rows": {**where, "data": name} if "data" in where else where}
            panels += [other] if other not in panels else []
    return panels


def _caption(rows: pd.DataFrame) -> str:
    words = ["Filled: computed here, regularization and iterations chosen by one validation split for all."]
    if rows["paper"].notna().any():
        words.append("Open: printed in the paper.")
    if rows["trials"].max() > 1:
        words.append("Bars: standard deviation over random sets of observed labels.")
    return " ".join(words)
