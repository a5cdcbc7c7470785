"""Presets of kind `table`: a paper's numbers and ours, in columns of settings or on published data sets.

Each row of [paper] has a series, a place, and the printed numbers by metric, "" for none. All panels show the same
runs. A panel shows a metric at the end of runs, times `scale` (100 for percent), or 1 minus the metric with
`complement`; `paper` is the name of its printed numbers, by default the metric.

The place is a `column`, one of the tables [[columns]] with a spec and, by a series' label, settings. Or it is a fit:
data, share (rank over the number of labels) and observed (fraction of observed labels). One validation split tunes fits
by `tune_by`; settings.max_iter limits the iterations; sets in `unit_rows` have samples of norm 1 and an intercept per
label. A series with full_rank does not depend on the rank, and counts
for all shares. A panel shows a metric along an axis (share, observed, data, or seconds: all iterations of the first
trial) in the rows selected by `rows`. The user provides the folder with the data; captions name missing sets and fits
that a solver rejects. If the folder has none of the paper's sets, lrlab fits the sets that it has.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Any

import numpy as np
import pandas as pd

from lrlab import presets
from lrlab.catalog import family
from lrlab.figures.build import Figure
from lrlab.figures.convergence import beside
from lrlab.model_entry import Measure
from lrlab.presets import claims
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.items import DatasetFit, counts, fit_dataset, settings_of
from lrlab.presets.papers import Sets, located
from lrlab.presets.result import Panel, Plan, Verdict
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_trial

AXES = {
    "column": "",
    "share": "rank / number of labels",
    "observed": "fraction of labels observed",
    "data": "data set",
    "seconds": "seconds of the solver",
}
TUNED = "regularization and iterations chosen by one validation split for all"
HIDDEN = " Bars: standard deviation over random sets of observed labels."
PLACE = ("column", "data", "series", "share", "observed")
"""Columns of [paper] that identify a run."""


def plan(preset: Preset, trials: int | None = None, data: str | os.PathLike[str] | Sets | None = None) -> Plan:
    """Return the runs of all series in all columns, or the fits of all rows with a data set in the folder."""
    files = dict(data) if isinstance(data, dict) else located(data, preset.data) if preset.data else {}
    if files and not set(files) & set(preset.data):
        preset = _on_other_sets(preset, list(files))
    panels, paper = preset.panels, rows_of(preset)
    paper = paper[paper["data"].isin(files)] if preset.data else paper
    keys = _keys(preset)
    labelled = [
        ({key: row[key] for key in keys}, number, item)
        for row in paper.to_dict("records")
        for number, item in _items(preset, files, row, trials)
    ]

    def draw(table: pd.DataFrame) -> tuple[list[Panel], list[pd.DataFrame]]:
        notes, points, drawn = _notes(preset, files, table), list[pd.DataFrame](), list[Panel]()
        for panel in panels:
            part = compared(preset, panel, paper, table)
            if part.empty:
                continue
            words = f"Filled: computed here, {TUNED if preset.data else 'mean and standard deviation of the trials'}."
            words += " Open: printed in the paper." if part["paper"].notna().any() else ""
            words += HIDDEN if preset.data and part["trials"].max() > 1 else ""
            figure, judged = _drawn(preset, panel, part, paper, table), _judged(preset, panel, part, table)
            drawn.append(Panel(panel["title"], figure, words + notes, judged, {"metric": panel["metric"]}))
            points.append(part)
        if preset.data:
            # The table has all printed numbers, also those that no panel shows.
            metrics = [name for name in preset.content["paper"]["columns"] if name not in PLACE]
            points = [compared(preset, {"title": "", "metric": metric}, paper, table) for metric in metrics]
        return drawn, [part.assign(level="point").drop(columns="x") for part in points]

    filled = [panel["title"] for panel in panels if len(_shown(panel, paper))]
    return Plan(fit_dataset if preset.data else run_trial, labelled, draw, filled)


def _keys(preset: Preset) -> list[str]:
    return [name for name in preset.content["paper"]["columns"] if name in PLACE]


def rows_of(preset: Preset) -> pd.DataFrame:
    """Return the rows of the paper; full_rank: whether a row's series does not depend on the rank."""
    rows = pd.DataFrame(preset.content["paper"]["rows"], columns=preset.content["paper"]["columns"])
    return rows.assign(full_rank=rows["series"].isin([one["label"] for one in preset.series if one.get("full_rank")]))


def _on_other_sets(preset: Preset, sets: Sequence[str]) -> Preset:
    """Return a preset with the same fits and panels for other data sets than the paper's, without printed numbers."""
    paper, panels = preset.content["paper"], list[Toml]()
    places = rows_of(preset)[[key for key in _keys(preset) if key != "data"]].drop_duplicates()
    rows = pd.concat([places.assign(data=name) for name in sets])
    for panel in preset.panels:
        where = panel.get("rows", {})
        for name in sets if "data" in where else [", ".join(sets)]:
            title = reduce(lambda text, own: text.replace(own, name), preset.data, panel["title"])
            other = {**panel, "title": title, "rows": {**where, **({"data": name} if "data" in where else {})}}
            panels += [other] if other not in panels else []
    printed = {**paper, "rows": rows.reindex(columns=paper["columns"]).to_numpy()}
    return replace(preset, content={**preset.content, "paper": printed, "panels": panels})


def _items(preset: Preset, files: Sets, row: Toml, trials: int | None) -> Iterator[tuple[int, Any]]:
    """Yield the trials of a row with their numbers."""
    one = next(series for series in preset.series if series["label"] == row["series"])
    if not preset.data:
        column = next(column for column in preset.content["columns"] if column["label"] == row["column"])
        job = make_job(preset.spec(column, one), one["solver"], **settings_of(preset, column, one))
        yield from ((number, Trial(job, number)) for number in range(*counts(preset, column, 1, trials)))
        return
    settings = settings_of(preset, {}, one)
    most, share = int(settings.pop("max_iter", 10)), 0.0 if row["full_rank"] else float(row["share"])
    about = (row["data"], files[row["data"]], one["solver"], share, float(row["observed"]), most)
    unit_rows = row["data"] in preset.content.get("unit_rows", ())
    for number in range(trials or preset.content["trials"]):
        yield number, DatasetFit(*about, preset.content["tune_by"], unit_rows, tuple(settings.items()), number)


def _notes(preset: Preset, files: Sets, table: pd.DataFrame) -> str:
    """Return in words which data sets are missing, and which fits a solver rejects."""
    missing = [name for name in preset.data if name not in files]
    rejected = table[table["refused"] != ""] if "refused" in table else table[:0]
    left_out = sorted({f"{row.solver} on {row.data} ({row.refused})" for row in rejected.itertuples()})
    notes = f" Not in the folder: {', '.join(missing)}." if missing else ""
    return notes + (f" Left out: {'; '.join(left_out)}." if left_out else "")


def _shown(panel: Toml, paper: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a panel shows; a series of full rank has all shares."""
    for key, value in panel.get("rows", {}).items():
        paper = paper[(paper[key] == value) | (paper["full_rank"] & (key == "share"))]
    return paper


def compared(preset: Preset, panel: Toml, paper: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per row of a panel: x, our mean over the trials, its spread, the paper's number, the difference."""
    keys, metric, shown = _keys(preset), panel["metric"], _shown(panel, paper)
    trials = _values(panel, table.reindex(columns=[*keys, metric])).groupby(keys)["value"]
    ours = shown[keys].join(trials.agg(ours="mean", spread="std", trials="count"), on=keys)
    printed = pd.to_numeric(shown.get(panel.get("paper", metric), pd.Series(math.nan, shown.index)), errors="coerce")
    axis = panel.get("axis", "column")
    x = shown[axis].mask((axis == "share") & shown["full_rank"]) if axis in shown else math.nan
    points = ours.assign(x=x, trials=ours["trials"].fillna(0).astype(int), paper=printed)
    points = points.assign(difference=points["ours"] - points["paper"])
    about = {"panel": panel["title"], "model": preset.content["model"], "metric": metric}
    columns = [*about, *keys, "x", "ours", "spread", "trials", "paper", "difference"]
    return points.assign(**about)[columns].reset_index(drop=True)


def _values(panel: Toml, table: pd.DataFrame) -> pd.DataFrame:
    """Return the trials with the value that a panel shows; a rejected fit has none."""
    values = table[panel["metric"]].astype(float)
    return table.assign(value=panel.get("scale", 1.0) * (1.0 - values if panel.get("complement") else values))


def _drawn(preset: Preset, panel: Toml, points: pd.DataFrame, paper: pd.DataFrame, table: pd.DataFrame) -> Figure:
    axis, metric = panel.get("axis", "column"), panel["metric"]
    percent = " (%)" if metric.startswith("precision") else ""
    return beside(
        _over_time(panel, paper, table) if axis == "seconds" else points,
        axis_title=AXES[axis],
        value_title=panel.get("metric_title") or f"{_measure(preset, panel).title}{percent}",
        log_x=panel.get("log_x", False),
        categories=axis in ("data", "column"),
    )


def _measure(preset: Preset, panel: Toml) -> Measure:
    """Return the facts about a panel's metric."""
    return family(preset.content["model"]).measures[panel["metric"].replace("@", "_")]


def _over_time(panel: Toml, paper: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the metric after every iteration of each row's first trial, over seconds, and the paper's number."""
    lines, metric = [], panel["metric"]
    for row in _shown(panel, paper).to_dict("records"):
        empty = {"series": row["series"], "ours": math.nan, "spread": math.nan, "trials": 1, "paper": math.nan}
        keys = [key for key in PLACE if key in row]
        own = table[(table[keys] == [row[key] for key in keys]).all(axis=1)]["trace"] if len(table) else ()
        lines += [{**empty, "x": step["seconds"], "ours": step[metric]} for step in next(iter(own), ())]
        # "" and nan: the paper has no number.
        if (seconds := pd.to_numeric(row.get("seconds", ""), errors="coerce")) == seconds:
            lines.append({**empty, "x": seconds, "paper": float(row[metric])})
    return pd.DataFrame(lines, columns=["series", "x", "ours", "spread", "trials", "paper"])


def _judged(preset: Preset, panel: Toml, points: pd.DataFrame, table: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on the claims of a panel, then on its printed numbers."""
    metric, axis, keys = panel["metric"], panel.get("axis", "column"), _keys(preset)
    placed = points[points["data"].isin(preset.data)] if preset.data else points
    placed = placed.dropna(subset=["ours"])
    if placed.empty:
        return claims.verdicts(preset, panel["title"], Samples({}))
    placed = placed.assign(x="at the end" if axis == "seconds" else placed[axis])
    trials = _values(panel, table)
    trials = trials.dropna(subset=["value"]) if preset.data else trials
    # The paper repeats a series of full rank for each share, but it is one fit per trial.
    ran = placed[[*keys, "x"]].merge(trials, on=keys).drop_duplicates(["series", "x", "trial"])
    # Each trial hides other labels: with one trial, the test samples do not tell that spread.
    known = placed[(placed["trials"] > 1) | (placed["observed"] == 1)] if preset.data else placed[:0]
    numbers = {
        series: dict(zip(own["x"], own["paper"], strict=True)) for series, own in placed.groupby("series", sort=False)
    }
    samples = samples_of(ran, "x", "value")._replace(blocks=_blocks(ran, metric, known))
    best = 1 if _measure(preset, panel).rising != panel.get("complement", False) else -1
    return [*claims.verdicts(preset, panel["title"], samples), *claims.on_numbers(numbers, samples, best)]


def _blocks(ran: pd.DataFrame, metric: str, known: pd.DataFrame) -> dict[str, dict[Any, np.ndarray]]:
    """Return the scores on blocks of the test samples, mean over the trials, of the fits with known errors."""
    blocks: dict[str, dict[Any, np.ndarray]] = {}
    fits = ran.reindex(columns=["series", "x", "blocks"]).dropna().merge(known[["series", "x"]].drop_duplicates())
    for (series, x), own in fits.groupby(["series", "x"]):
        blocks.setdefault(series, {})[x] = np.mean([[block[metric] for block in one] for one in own["blocks"]], axis=0)
    return blocks


@lru_cache(maxsize=64)
def redrawn(name: str) -> Mapping[str, Figure]:
    """Return figures of the numbers that the paper prints, by the titles of their panels.

    Series without numbers stay, so that all series keep the style that they have next to ours.
    """
    preset, nothing = presets.load(name), pd.DataFrame()
    if preset.kind != "table":
        return {}
    paper, figures = rows_of(preset), dict[str, Figure]()
    for panel in preset.panels:
        points = compared(preset, panel, paper, nothing)
        if points["paper"].notna().any():
            figures[panel["title"]] = _drawn(preset, panel, points, paper, nothing)
    return figures
