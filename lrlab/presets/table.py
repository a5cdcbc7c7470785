"""Presets of kind `table`: a paper's numbers and ours, in columns of settings or on published data sets.

A column has a spec and, by a series' label, settings; a series has the printed numbers of all columns, by metric or by
the name in the panel's `paper`. A panel shows a metric at the end of runs, times `scale` (100 for percent), or 1 minus
the metric with `complement`. All panels show the same runs.

With `data`, each row of [paper] is a fit with printed numbers, "" for none: data, series, share (rank over the number
of labels), observed (fraction of observed labels), then metrics. One validation split tunes fits by `tune_by`;
settings.max_iter limits the iterations. A series with full_rank does not depend on the rank, and counts for all shares.
A panel shows a metric along an axis (share, observed, data, or seconds: all iterations of the first trial) in the rows
selected by `rows`. The user provides the folder with the data; captions name missing sets and fits that a solver
rejects. If the folder has none of the paper's sets, lrlab fits the sets that it has.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from lrlab import presets
from lrlab.catalog import family
from lrlab.figures.build import Figure
from lrlab.figures.series import beside
from lrlab.presets import claims
from lrlab.presets.dataset_fit import DatasetFit, fit_dataset
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.placed import counts, settings_of
from lrlab.presets.published import SETS, Sets, located
from lrlab.presets.result import Panel, Plan, Result, Verdict
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_trial

AXES = {
    "column": "",
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
TUNED = "regularization and iterations chosen by one validation split for all"
HIDDEN = " Bars: standard deviation over random sets of observed labels."
PLACE = ["data", "series", "share", "observed"]
"""Columns that identify a fit."""


def plan(preset: Preset, trials: int | None = None, data: str | os.PathLike[str] | Sets | None = None) -> Plan:
    """Return the runs of all series in all columns, or the fits of all rows with a data set in the folder."""
    files = dict(data) if isinstance(data, dict) else located(data, preset.data) if preset.data else {}
    rows = [row for row in rows_of(preset, files) if row.get("data", "") in files or not preset.data]
    # The first trial of all rows comes first; solvers see the same data in a trial.
    numbered = [(number, row, item) for row in rows for number, item in _items(preset, files, row, trials)]
    numbered.sort(key=lambda one: one[0])
    items = list(dict.fromkeys(item for *_, item in numbered))
    panels = panels_of(preset, files)

    def finish(results: Sequence[Any]) -> Result:
        known = dict(zip(items, results, strict=True))
        own = [(row, item, value) for _, row, item in numbered if (value := known[item]) is not None]
        keys = _keys(preset)
        table = pd.DataFrame(
            [
                {**(value if isinstance(value, dict) else value.row(item)), **{key: row[key] for key in keys}}
                for row, item, value in own
            ]
        )
        notes, points = _notes(preset, files, table), [compared(preset, panel, rows, table) for panel in panels]
        drawn, lines = list[Panel](), list[dict[str, Any]]()
        for panel, part in zip(panels, points, strict=True):
            if part.empty:
                continue
            judged, title = _judged(preset, panel, part, table), panel["title"]
            words = "Filled: computed here, "
            words += f"{TUNED if preset.data else 'mean and standard deviation of the trials'}."
            words += " Open: printed in the paper." if part["paper"].notna().any() else ""
            words += HIDDEN if preset.data and part["trials"].max() > 1 else ""
            words += notes + claims.caption(judged)
            drawn.append(Panel(title, _drawn(preset, panel, part, rows, table), words, judged))
            about = {"panel": title, "measure": panel["measure"]}
            lines += [{**row, **about, "claim": row["paper"]} for row in claims.rows(judged)]
        if preset.data:
            # The table has all printed numbers, also those that no panel shows.
            every = [{"title": "", "measure": measure} for measure in preset.content["paper"]["columns"][len(PLACE) :]]
            points = [compared(preset, one, rows, table) for one in every]
        whole = pd.concat([pd.DataFrame(lines), *(part.assign(level="point") for part in points)]).drop(columns="x")
        return Result(drawn, whole, table.drop(columns=["trace", "blocks"], errors="ignore"))

    filled = [panel["title"] for panel in panels if any(_shows(panel, row) for row in rows)]
    return Plan(fit_dataset if preset.data else run_trial, items, finish, filled)


def _keys(preset: Preset) -> list[str]:
    return PLACE if preset.data else ["column", "series"]


def rows_of(preset: Preset, files: Sets) -> list[dict[str, Any]]:
    """Return a row per series and column, or per row of the paper, with the printed numbers by name.

    For data sets that the paper lacks, the rows are the same, without numbers.
    """
    if not preset.data:
        return [
            {"column": column["label"], "series": one["label"]}
            | {name: numbers[k] for name, numbers in one.get("paper", {}).items()}
            for (k, column), one in product(enumerate(preset.content["columns"]), preset.series)
        ]
    paper, full = preset.content["paper"], [one["label"] for one in preset.series if one.get("full_rank")]
    rows = [dict(zip(paper["columns"], row, strict=True)) for row in paper["rows"]]
    places = dict.fromkeys(tuple(row[key] for key in PLACE[1:]) for row in rows)
    own = [name for name in files if name not in preset.data]
    rows += [dict(zip(PLACE, (name, *place), strict=True)) for name in own for place in places]
    return [row | {"full_rank": row["series"] in full} for row in rows]


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
    for number in range(trials or preset.content["trials"]):
        yield number, DatasetFit(*about, preset.content["tune_by"], tuple(settings.items()), number)


def _notes(preset: Preset, files: Sets, table: pd.DataFrame) -> str:
    """Return in words which data sets are missing, and which fits a solver rejects."""
    missing = [name for name in preset.data if name not in files]
    rejected = table[table["refused"] != ""] if "refused" in table else table[:0]
    left_out = sorted({f"{row.solver} on {row.data} ({row.refused})" for row in rejected.itertuples()})
    notes = f" Not in the folder: {', '.join(missing)}." if missing else ""
    return notes + (f" Left out: {'; '.join(left_out)}." if left_out else "")


def _shows(panel: Toml, row: Toml) -> bool:
    """Return whether a panel shows a row; a series of full rank has all shares."""
    selected = panel.get("rows", {}).items()
    return all(row[key] == value or (key == "share" and row["full_rank"]) for key, value in selected)


def compared(preset: Preset, panel: Toml, rows: Sequence[Toml], table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per row of a panel: x, our mean over the trials, its spread, the paper's number, the difference."""
    keys, axis, scale = _keys(preset), panel.get("axis", "column"), panel.get("scale", 1.0)
    found = dict(iter(table.groupby(keys))) if len(table) else {}
    lines, about = [], {"panel": panel["title"], "model": preset.content["model"], "measure": panel["measure"]}
    for row in (row for row in rows if _shows(panel, row)):
        place = {key: row[key] for key in keys}
        own = found.get(tuple(place.values()))
        values = pd.Series(dtype=float) if own is None else scale * _values(panel, own)
        printed = row.get(panel.get("paper", panel["measure"]), "")
        paper = math.nan if printed == "" else float(printed)
        numbers = {"ours": values.mean(), "spread": values.std(), "trials": int(values.count()), "paper": paper}
        x = math.nan if axis == "share" and row["full_rank"] else row.get(axis)
        lines.append({**about, **place, "x": x, **numbers, "difference": numbers["ours"] - paper})
    return pd.DataFrame(lines)


def _values(panel: Toml, trials: pd.DataFrame) -> pd.Series:
    """Return the values of a panel's trials; a rejected fit has none."""
    values = trials[panel["measure"]] if panel["measure"] in trials else pd.Series(np.nan, trials.index)
    return 1.0 - values if panel.get("complement") else values


def _drawn(preset: Preset, panel: Toml, points: pd.DataFrame, rows: Sequence[Toml], table: pd.DataFrame) -> Figure:
    axis = panel.get("axis", "column")
    return beside(
        _over_time(panel, rows, table) if axis == "seconds" else points,
        axis_title=AXES[axis],
        value_title=panel.get("measure_title") or TITLES[panel["measure"]],
        log_x=panel.get("log_x", False),
        categories=axis in ("data", "column"),
    )


def _over_time(panel: Toml, rows: Sequence[Toml], table: pd.DataFrame) -> pd.DataFrame:
    """Return the metric after every iteration of each row's first trial, over seconds, and the paper's number."""
    lines, measure = [], panel["measure"]
    for row in (row for row in rows if _shows(panel, row)):
        empty = {"series": row["series"], "ours": math.nan, "spread": math.nan, "trials": 1, "paper": math.nan}
        own = table[(table[PLACE] == [row[key] for key in PLACE]).all(axis=1)]["trace"] if len(table) else ()
        lines += [{**empty, "x": step["seconds"], "ours": step[measure]} for step in next(iter(own), ())]
        if row.get("seconds", "") != "":
            lines.append({**empty, "x": float(row["seconds"]), "paper": float(row[measure])})
    return pd.DataFrame(lines)


def _judged(preset: Preset, panel: Toml, points: pd.DataFrame, table: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on the claims of a panel, then on its printed numbers."""
    measure, axis = panel["measure"], panel.get("axis", "column")
    published = points[points["data"].isin(preset.data)] if preset.data else points
    published = published.dropna(subset=["ours"])
    if published.empty:
        return claims.verdicts(preset, panel["title"], Samples({}))
    placed = published.assign(x="at the end" if axis == "seconds" else published[axis])
    trials = table.assign(shown=_values(panel, table))
    trials = trials.dropna(subset=["shown"]) if preset.data else trials
    # The paper repeats a series of full rank for each share, but it is one fit per trial.
    ran = placed[[*_keys(preset), "x"]].merge(trials, on=_keys(preset)).drop_duplicates(["series", "x", "trial"])
    samples = samples_of(ran, "x", "shown", panel.get("scale", 1.0))
    errors: dict[str, dict[Any, float]] = {}
    numbers: dict[str, dict[Any, float]] = {}
    for row in placed.to_dict("records"):
        # Each trial hides other labels: with one trial, the test rows do not tell that spread.
        if preset.data and (row["trials"] > 1 or row["observed"] == 1):
            errors.setdefault(row["series"], {})[row["x"]] = sampling_error(measure, row["ours"], row["data"])
        numbers.setdefault(row["series"], {})[row["x"]] = row["paper"]
    samples = samples._replace(errors=errors, blocks=_blocks(ran, measure, errors))
    known = family(preset.content["model"]).measures.get(measure.replace("@", "_"))
    best = 0 if known is None else 1 if known.rising != panel.get("complement", False) else -1
    return [*claims.verdicts(preset, panel["title"], samples), *claims.on_numbers(numbers, samples, best)]


def _blocks(ran: pd.DataFrame, measure: str, errors: Mapping[str, Any]) -> dict[str, dict[Any, np.ndarray]]:
    """Return the scores on blocks of the test rows, mean over the trials, of fits with known errors."""
    blocks: dict[str, dict[Any, np.ndarray]] = {}
    for (series, x), own in ran.groupby(["series", "x"]) if "blocks" in ran else ():
        if x in errors.get(series, {}) and all(isinstance(one, list) and measure in one[0] for one in own["blocks"]):
            scores = [[block[measure] for block in one] for one in own["blocks"]]
            blocks.setdefault(series, {})[x] = np.mean(scores, axis=0)
    return blocks


def sampling_error(measure: str, value: float, data: str) -> float:
    """Return an upper bound of the standard error of a mean over the test rows of a set, for results without blocks.

    A score between 0 and 1 with mean m has variance at most m (1 - m). The number of wrong labels per row is assumed to
    vary at most as a geometric number. 0 for a set of unknown size.
    """
    if data not in SETS:
        return 0.0
    labels, test_rows = SETS[data]["labels"], SETS[data]["test_rows"]
    if measure == "hamming":
        wrong = value * labels
        return math.sqrt(wrong * (1.0 + wrong) / test_rows) / float(labels)
    scale = 1.0 if measure == "auc" else 100.0
    return math.sqrt(max(0.0, value * (scale - value)) / test_rows)


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


@lru_cache(maxsize=64)
def redrawn(name: str) -> Mapping[str, Figure]:
    """Return figures of the numbers that the paper prints, by the titles of their panels.

    Series without numbers stay, so that all series keep the style that they have next to ours.
    """
    preset, nothing = presets.load(name), pd.DataFrame()
    if preset.kind != "table":
        return {}
    rows, panels = rows_of(preset, {}), {panel["title"]: panel for panel in preset.panels}
    points = {title: compared(preset, panel, rows, nothing) for title, panel in panels.items()}
    printed = [title for title, part in points.items() if len(part) and part["paper"].notna().any()]
    return {title: _drawn(preset, panels[title], points[title], rows, nothing) for title in printed}
