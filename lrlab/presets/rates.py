"""Presets of kind `rates`: estimation error against a theoretical rate, a panel a model.

TOML: solver, settings, axis (a rate), factor (the region of the fit, see `largest_rate`), trials; series with label,
spec, settings; panels with title, model, spec, values, and trials where they differ: a number, or one for each value.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.rates import rates as draw
from lrlab.presets.result import Panel, Plan, Result, panel_spec
from lrlab.protocol import Spec
from lrlab.runs.axes import axes
from lrlab.sweeps import rates

Toml = Mapping[str, Any]
FINE = 161


def plan(content: Toml, trials: int | None = None) -> Plan:
    """Return the trials of all panels as one job."""
    tasks, owners = [], []
    for panel, series, spec in _series(content):
        settings = {**content.get("settings", {}), **series.get("settings", {})}
        number = trials or panel.get("trials", content["trials"])
        own = rates.error_trials(spec, content["solver"], content["axis"], panel["values"], number, settings)
        tasks += own
        owners += [{"panel": panel["title"], "series": series["label"]}] * len(own)

    def finish(results: Sequence[rates.Row]) -> Result:
        drawn = pd.DataFrame([{**owner, **row} for owner, row in zip(owners, results, strict=True)])
        made = [_panel(content, panel, drawn) for panel in content["panels"]]
        return Result([p for p, _ in made], pd.concat([table for _, table in made], ignore_index=True), drawn)

    return Plan(rates.error_trial, tasks, finish)


def _series(content: Toml) -> Iterator[tuple[Toml, Toml, Spec]]:
    for panel in content["panels"]:
        for series in content["series"]:
            yield panel, series, panel_spec(content, panel, **series["spec"])


def _panel(content: Toml, panel: Toml, drawn: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    axis, own = content["axis"], [(series, spec) for there, series, spec in _series(content) if there is panel]
    # The threshold and the limit at a rate belong to the model: any of its specs will do.
    limit = rates.largest_rate(own[0][1], content["factor"])
    points = pd.concat([_cells(drawn, panel, series, spec) for series, spec in own], ignore_index=True)
    # Decided by theory before anything is drawn, not by how straight the dots lie.
    points["used"] = points["rate"] <= limit
    fits = _fits(points)
    exact = None
    if axis == "dense-rate":
        grid = np.linspace(points["rate"].min(), points["rate"].max(), FINE)
        exact = rates.predicted_errors(own[0][1], axis, grid)
    figure = draw(points, fits, axis_title=axes(type(own[0][1]))[axis], limit=limit, exact=exact)
    used = points[points["used"]].groupby("series").size()
    rows = [
        {"level": "pooled" if name == "pooled" else "series", "series": name, "slope": slope, "r2": quality,
         "points_used": used.sum() if name == "pooled" else used.get(name, 0), "largest_rate": limit}
        for name, (slope, quality) in fits.items()
    ]  # fmt: skip
    table = pd.concat([pd.DataFrame(rows), points.assign(level="point")], ignore_index=True)
    table.insert(1, "panel", panel["title"])
    table.insert(2, "model", panel["model"])
    return Panel(panel["title"], figure, _caption(fits, limit, content["factor"])), table


def _cells(drawn: pd.DataFrame, panel: Toml, series: Toml, spec: Spec) -> pd.DataFrame:
    chosen = drawn[(drawn["panel"] == panel["title"]) & (drawn["series"] == series["label"])]
    return rates.mean_errors(chosen).assign(series=series["label"], p=spec.p, sparsity=spec.sparsity)


def _fits(points: pd.DataFrame) -> dict[str, tuple[float, float]]:
    groups = {**dict(iter(points.groupby("series", sort=False))), "pooled": points}
    used = {name: rows[rows["used"]] for name, rows in groups.items()}
    return {name: rates.line_through_origin(rows["rate"], rows["error"]) for name, rows in used.items()}


def _caption(fits: Mapping[str, tuple[float, float]], limit: float, factor: float) -> str:
    slope, pooled = fits["pooled"]
    worst = min(quality for name, (_, quality) in fits.items() if name != "pooled")
    return (
        f"Where n is at least {factor:g} times the spectral threshold (shaded, rate up to {limit:.3g}), the error is "
        f"{slope:.3g} × rate: R² = {pooled:.3f} for all settings together, and {worst:.3f} or more for each."
    )
