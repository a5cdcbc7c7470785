"""Presets of kind `table`: a paper's numbers and ours, in columns of settings or on published data sets (`fits`).

A column has a spec and, by a series' label, settings. A panel shows a metric at the end of runs, times `scale` (100 for
percent), or 1 minus the metric with `complement`. A series has the printed numbers of all columns, by metric or by the
name in the panel's `paper`. All panels show the same runs.
"""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import pandas as pd

from lrlab import presets
from lrlab.catalog import family
from lrlab.figures.build import Figure
from lrlab.figures.series import beside
from lrlab.presets import claims, fits
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import samples_of
from lrlab.presets.placed import counts, settings_of
from lrlab.presets.published import Sets
from lrlab.presets.result import Panel, Plan, Result, Verdict, compare_with_paper
from lrlab.runs.job import make_job
from lrlab.runs.trial import Trial, run_trial


def plan(preset: Preset, trials: int | None = None, data: str | os.PathLike[str] | Sets | None = None) -> Plan:
    """Return the runs of all series in all columns, or the fits; solvers see the same data in a trial."""
    if preset.data:
        return fits.plan(preset, trials, data)
    runs = list[tuple[dict[str, Any], Trial]]()
    for column, series in product(preset.content["columns"], preset.series):
        job = make_job(preset.spec(column, series), series["solver"], **settings_of(preset, column, series))
        (count,) = counts(preset, column, 1, trials)
        labels = {"column": column["label"], "series": series["label"]}
        runs += [(labels, Trial(job, number)) for number in range(count)]
    items = sorted(dict.fromkeys(trial for _, trial in runs), key=lambda trial: trial.number)

    def finish(results: Sequence[Any]) -> Result:
        known = dict(zip(items, results, strict=True))
        rows = pd.DataFrame(
            [{**labels, **result.row(trial)} for labels, trial in runs if (result := known[trial]) is not None]
        )
        points = [compared(preset, panel, rows) for panel in preset.panels]
        judged = [_judged(preset, panel, rows) for panel in preset.panels]
        parts = list(zip(preset.panels, points, judged, strict=True))
        lines = [
            {**row, "claim": row["paper"], "panel": panel["title"]}
            for panel, _, own in parts
            for row in claims.rows(own)
        ]
        table = pd.concat([pd.DataFrame(lines), *(part.assign(level="point") for part in points)])
        return Result([_panel(*part) for part in parts], table, rows)

    return Plan(run_trial, items, finish)


def _judged(preset: Preset, panel: Toml, rows: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on the claims of a panel, then on its printed numbers."""
    samples = samples_of(rows.assign(shown=_values(panel, rows)), "column", "shown", panel.get("scale", 1.0))
    name = _printed_as(panel)
    rising = family(preset.spec(preset.content["columns"][0]).model).measures[panel["measure"]].rising
    columns = [column["label"] for column in preset.content["columns"]]
    printed = {
        one["label"]: dict(zip(columns, map(float, one["paper"][name]), strict=True))
        for one in preset.series
        if name in one.get("paper", {})
    }
    best = 1 if rising != panel.get("complement", False) else -1
    return [*claims.verdicts(preset, panel["title"], samples), *claims.on_numbers(printed, samples, best)]


def compared(preset: Preset, panel: Toml, rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per series and column: our mean over the trials, its spread, and the paper's number."""
    metric, labels = panel["measure"], [column["label"] for column in preset.content["columns"]]
    lines = []
    for one in preset.series:
        printed = one.get("paper", {}).get(_printed_as(panel), [float("nan")] * len(labels))
        for label, paper in zip(labels, printed, strict=True):
            own = _values(panel, rows[(rows["series"] == one["label"]) & (rows["column"] == label)])
            place = {"series": one["label"], "column": label, "measure": metric}
            lines.append({**place, **compare_with_paper(own, float(paper), panel.get("scale", 1))})
    return pd.DataFrame(lines).assign(panel=panel["title"], model=preset.spec(preset.content["columns"][0]).model)


def _printed_as(panel: Toml) -> str:
    """Return the key of the paper's numbers for a panel."""
    return str(panel.get("paper", panel["measure"]))


def _values(panel: Toml, rows: pd.DataFrame) -> pd.Series:
    """Return the values of a panel's trials."""
    values = rows[panel["measure"]]
    return 1.0 - values if panel.get("complement") else values


def _panel(panel: Toml, points: pd.DataFrame, judged: Sequence[Verdict]) -> Panel:
    words = "Filled: computed here, mean and standard deviation of the trials."
    if points["paper"].notna().any():
        words += " Open: printed in the paper."
    return Panel(panel["title"], _drawn(panel, points), words + claims.caption(judged), judged)


def _drawn(panel: Toml, points: pd.DataFrame) -> Figure:
    placed = points.assign(x=points["column"])
    return beside(placed, axis_title="", value_title=panel["measure_title"], categories=True)


@lru_cache(maxsize=64)
def redrawn(name: str) -> Mapping[str, Figure]:
    """Return figures of the numbers that the paper prints, by the titles of their panels."""
    preset = presets.load(name)
    if preset.kind != "table" or preset.data:
        return fits.printed(preset) if preset.data else {}
    columns = ["series", "column", *(panel["measure"] for panel in preset.panels)]
    nothing = pd.DataFrame(columns=list(dict.fromkeys(columns)), dtype=float)
    points = {panel["title"]: compared(preset, panel, nothing) for panel in preset.panels}
    # Series without numbers stay, so that all series keep the style that they have next to ours.
    return {
        panel["title"]: _drawn(panel, points[panel["title"]])
        for panel in preset.panels
        if points[panel["title"]]["paper"].notna().any()
    }
