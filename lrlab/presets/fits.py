"""Presets of kind `fits`: solvers tuned and fitted on published data sets, the paper's numbers beside ours.

TOML: trials; iterations (most of a run); tune_by; data, the names of the sets; series with label, solver, settings, and
full_rank where its numbers do not depend on the rank; columns, what the rows of `paper` are: data, series, share (of
the rank in the number of labels), observed (share of the labels that is seen), then measures. Each row says what is to
be fitted and what the paper printed, "" where it printed nothing. Panels with title, measure, axis (share, observed or
data) and, of the rows, where (only those with these values; full-rank ones have them all).
The user names the folder with the data; sets that are not there are left out, and the panels say so.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lrlab.datasets.folder import Files, located
from lrlab.figures.published import beside
from lrlab.fits.fitting import settled
from lrlab.fits.published import PublishedFit, published_fit
from lrlab.presets.result import Panel, Plan, Result, beside_paper

Toml = Mapping[str, Any]
KEYS = ["data", "series", "share", "observed"]
AXES = {"share": "rank / number of labels", "observed": "share of the labels that is seen", "data": "data set"}
TITLES = {
    "precision@1": "precision@1 (%)", "precision@3": "precision@3 (%)", "precision@5": "precision@5 (%)",
    "hamming": "Hamming loss", "auc": "AUC of an instance, mean",
}  # fmt: skip


def plan(content: Toml, trials: int | None = None, data: str | os.PathLike[str] | None = None) -> Plan:
    """Return the fits of all rows whose data set is there, each once."""
    files, known = located(data, tuple(content["data"])), {one["label"]: one for one in content["series"]}
    rows = [dict(zip(content["columns"], row, strict=True)) for row in content["paper"] if row[0] in files]
    count, tasks, owners = trials or content["trials"], dict[PublishedFit, int](), []
    for row in rows:
        for trial in range(count):
            task = _task(content, known[row["series"]], files, row, trial)
            owners.append((row, tasks.setdefault(task, len(tasks))))

    def finish(results: Sequence[dict[str, Any]]) -> Result:
        drawn = pd.DataFrame([{**results[number], **{key: row[key] for key in KEYS}} for row, number in owners])
        points = compared(content, rows, drawn)
        missing = [name for name in content["data"] if name not in files]
        panels = [made for panel in content["panels"] if (made := _panel(content, panel, points, missing))]
        return Result(panels, points.assign(level="point"), drawn)

    return Plan(published_fit, list(tasks), finish)


def _task(content: Toml, one: Toml, files: Mapping[str, Files], row: Toml, trial: int) -> PublishedFit:
    settings = {**content.get("settings", {}), **one.get("settings", {})}
    settled(one["solver"], settings)
    return PublishedFit(
        row["data"], files[row["data"]], one["solver"], 0.0 if one.get("full_rank") else float(row["share"]),
        float(row["observed"]), one.get("iterations", content["iterations"]), content["tune_by"],
        tuple(settings.items()), trial,
    )  # fmt: skip


def compared(content: Toml, rows: Sequence[Toml], drawn: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each row of the paper and measure: ours (mean), its spread, and the paper's number."""
    found = []
    for row in rows:
        own = drawn[(drawn[KEYS] == [row[key] for key in KEYS]).all(axis=1)]
        for measure in content["columns"][len(KEYS) :]:
            paper = float(row[measure]) if row[measure] != "" else float("nan")
            place = {key: row[key] for key in KEYS}
            found.append({**place, "measure": measure, **beside_paper(own[measure], paper)})
    return pd.DataFrame(found)


def _panel(content: Toml, panel: Toml, points: pd.DataFrame, missing: Sequence[str]) -> Panel | None:
    full = points["series"].isin([one["label"] for one in content["series"] if one.get("full_rank")])
    chosen, axis = points["measure"] == panel["measure"], panel["axis"]
    for key, value in panel.get("where", {}).items():
        chosen &= (points[key] == value) | (full & (key == "share"))
    rows = points[chosen]
    if rows.empty:
        return None
    level = full[rows.index] & (axis == "share")
    figure = beside(
        rows.assign(x=rows[axis].mask(level)), axis_title=AXES[axis], value_title=TITLES[panel["measure"]],
        log_x=panel.get("log_x", False), categories=axis == "data",
    )  # fmt: skip
    return Panel(panel["title"], figure, _caption(rows, missing))


def _caption(rows: pd.DataFrame, missing: Sequence[str]) -> str:
    words = ["Filled: computed here, regularisation and iterations chosen by one validation split, alike for all."]
    words.append("Open: printed in the paper.")
    if rows["trials"].max() > 1:
        words.append("Bars: standard deviation over the labels that are seen.")
    if missing:
        words.append(f"Not in the folder: {', '.join(missing)}.")
    return " ".join(words)
