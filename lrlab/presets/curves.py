"""Presets of kind `curves`: a score of finished runs along an axis, a series a solver or a spec.

TOML: trials; axis; measure with title and, where it is a share of successes, below; solver, settings, spec; log_x,
log_y; series with label and, where they differ, solver, spec, settings; panels with title, model, values, spec.
Without `below` a dot is the median of the trials and its bar reaches over the quartiles; with it, the share of trials
whose measure falls below, with its 95% Wilson interval. A trial that ended without an estimate is no success.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.low_rank import LowRankSpec
from lrlab.presets.result import Panel, Plan, Result, panel_spec
from lrlab.runs.axes import axes
from lrlab.sweeps import sweep
from lrlab.sweeps.summary import summarise

Toml = Mapping[str, Any]


def plan(content: Toml, trials: int | None = None) -> Plan:
    """Return the trials of all panels as one job."""
    tasks: list[sweep.Trial] = []
    owners: list[dict[str, str]] = []
    refused: list[dict[str, Any]] = []
    for panel, one in _series(content):
        owner = {"panel": panel["title"], "series": one["label"]}
        spec = panel_spec(content, panel, **one.get("spec", {}))
        settings = {**content.get("settings", {}), **one.get("settings", {})}
        number = trials or panel.get("trials", content["trials"])
        solver = one.get("solver", content.get("solver"))
        values = panel.get("values", content.get("values"))
        planned, left_out = sweep.plan(spec, {content["axis"]: values}, [solver], number, settings)
        tasks += planned
        owners += [owner] * len(planned)
        refused += [{**owner, **row} for row in left_out]

    def finish(results: Sequence[sweep.Row]) -> Result:
        rows = [{**owner, **row} for owner, row in zip(owners, results, strict=True)]
        drawn = pd.DataFrame(rows + refused)
        made = [_panel(content, panel, drawn[drawn["panel"] == panel["title"]]) for panel in content["panels"]]
        return Result([p for p, _ in made], pd.concat([table for _, table in made], ignore_index=True), drawn)

    return Plan(sweep.run_trial, tasks, finish)


def _series(content: Toml) -> Iterator[tuple[Toml, Toml]]:
    for panel in content["panels"]:
        for one in content["series"]:
            yield panel, one


def _panel(content: Toml, panel: Toml, drawn: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    axis, measure, below = content["axis"], content["measure"], content.get("below")
    ran = drawn[drawn["refused"] == ""].copy()
    lost = int(ran[measure].isna().sum())
    if below is not None:
        # What ended without an estimate has failed; left out, it would flatter.
        ran[measure] = ran[measure].fillna(np.inf)
    points = summarise(ran, ["series", axis], measure, below=below).rename(columns={axis: "x"})
    parts = ("share", "low", "high") if below is not None else ("median", "lower_quartile", "upper_quartile")
    points = points.assign(**{name: points[part] for name, part in zip(("y", "low", "high"), parts, strict=True)})
    order = {one["label"]: k for k, one in enumerate(content["series"])}
    points = points.sort_values(["series", "x"], key=lambda c: c.map(order) if c.name == "series" else c)
    spec = panel_spec(content, panel)
    freedom = {}
    if axis == "m" and isinstance(spec, LowRankSpec):
        freedom = {"degrees of freedom": float(spec.degrees_of_freedom)}
    figure = draw(
        points, axis_title=axes(type(spec))[axis], value_title=content["title_of_measure"],
        log_x=content.get("log_x", False), log_y=content.get("log_y", False), marks=freedom,
    )  # fmt: skip
    halves = half_points(points) if below is not None else {}
    caption = _caption(halves, lost)
    rows = [{"level": "series", "series": name, "half": value} for name, value in halves.items()]
    shown = points.drop(columns="y").rename(columns={"x": axis}).assign(level="point", **freedom)
    table = pd.concat([pd.DataFrame(rows), shown], ignore_index=True)
    table.insert(1, "panel", panel["title"])
    table.insert(2, "model", spec.model)
    return Panel(panel["title"], figure, caption), table


def half_points(points: pd.DataFrame) -> dict[str, float]:
    """Return for each series where the share last rises through one half, between points; nan where it never does."""
    found = {}
    for name, rows in points.groupby("series", sort=False):
        x, share = rows["x"].to_numpy(float), rows["share"].to_numpy(float)
        found[str(name)] = float("nan")
        for k in range(len(x) - 1):
            if share[k] < 0.5 <= share[k + 1]:
                found[str(name)] = float(x[k] + (0.5 - share[k]) / (share[k + 1] - share[k]) * (x[k + 1] - x[k]))
    return found


def _caption(halves: Mapping[str, float], lost: int) -> str:
    words = []
    if halves:
        told = ", ".join(f"{name} at {x:.0f}" if x == x else f"{name} nowhere here" for name, x in halves.items())
        words.append(f"Half of the trials succeed: {told}. Bars: 95% Wilson intervals.")
    else:
        words.append("Dots: medians of the trials, bars: quartiles.")
    if lost:
        words.append(f"{lost} trials ended without a finite estimate.")
    return " ".join(words)
