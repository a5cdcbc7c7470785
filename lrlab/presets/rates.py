"""Presets of kind `rates`: estimation error against a theoretical rate, and lines through the origin fitted to it.

The axis is a rate. figure.threshold_factor: the region of the fit, see `largest_rate`. A panel may have a list of
numbers of trials, one for each value.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.series import rates as draw
from lrlab.models.axes import axes, place
from lrlab.parameters import require_known
from lrlab.presets import claims
from lrlab.presets.cases import Case, axes_path, axis_of, plan_cases
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import samples_of
from lrlab.presets.result import Panel, Plan, Result, Verdict, assembled, panel_table
from lrlab.protocol import Spec
from lrlab.theory import spiked

CURVE_POINTS = 161
DEPARTURE = 0.15
"""From which on errors beyond the region of the fit are said to leave the line."""
RATES = {
    "dense-rate": lambda spec: math.sqrt(spec.p / spec.n),
    "sparse-rate": lambda spec: math.sqrt((spec.sparsity or spec.p) * math.log(spec.p) / spec.n),
}


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the trials of all panels as one job."""
    for number, _ in enumerate(preset.panels):
        panel = ("panels", number)
        with preset.source.locate(axes_path(preset, panel)):
            require_known(axis_of(preset, panel)[0], RATES, what="rate")
    return plan_cases(preset, trials, _figures)


def _figures(preset: Preset, cases: Sequence[Case], rows: pd.DataFrame) -> Result:
    parts, trials = [], []
    for number, panel in enumerate(preset.panels):
        axis, title = axis_of(preset, ("panels", number))[0], panel["title"]
        own = [case for case in cases if case.labels["panel"] == title]
        specs: dict[Any, Any] = {
            (case.labels["series"], cell.axes[axis]): cell.job.spec for case in own for cell in case.cells if cell.job
        }
        chosen = rows[rows["panel"] == title]
        if chosen.empty:
            continue
        at = [specs[key] for key in zip(chosen["series"], chosen[axis], strict=True)]
        chosen = chosen.assign(
            axis=axis, at=chosen[axis], rate=[RATES[axis](spec) for spec in at], n=[spec.n for spec in at]
        ).drop(columns=axis)
        parts.append(_panel(title, axis, own, preset.content["figure"], chosen))
        trials.append(chosen)
    return assembled(parts, pd.concat(trials, ignore_index=True))


def _panel(
    title: str, axis: str, cases: Sequence[Case], settings: Mapping[str, Any], rows: pd.DataFrame
) -> tuple[Panel, pd.DataFrame]:
    # The threshold and the limit at a rate belong to the model: any of its specs will do.
    spec: Any = cases[0].spec
    factor = settings["threshold_factor"]
    limit = largest_rate(spec, factor)
    cells = [
        mean_errors(rows[rows["series"] == case.labels["series"]]).assign(
            series=case.labels["series"], **{name: case.spec.values()[name] for name in ("p", "sparsity")}
        )
        for case in cases
    ]
    points = pd.concat(cells, ignore_index=True)
    # Decided by theory before anything is drawn, not by how straight the dots lie.
    points["used"] = points["rate"] <= limit
    fits = _fits(points)
    dense = axis == "dense-rate"
    # Algorithm 1's error on the same measurements: the prediction, or, for sparse signals, what is gained on.
    points["predicted_error" if dense else "dense_error"] = [
        dense_error(spec, n / p) for n, p in zip(points["n"], points["p"], strict=True)
    ]
    grid = np.linspace(points["rate"].min(), points["rate"].max(), CURVE_POINTS)
    exact = predicted_errors(spec, axis, grid)
    name = "exact limit for large p" if dense else f"Algorithm 1 at {cases[0].labels['series']}: exact limit"
    figure = draw(points, fits, axis_title=axes(type(cases[0].spec))[axis], limit=limit, exact=exact, exact_name=name)
    used = points[points["used"]].groupby("series").size()
    summaries = [
        {
            "level": "pooled" if name == "pooled" else "series",
            "series": name,
            "slope": slope,
            "r2": quality,
            "points_used": used.sum() if name == "pooled" else used.get(name, 0),
            "largest_rate": limit,
        }
        for name, (slope, quality) in fits.items()
    ]
    caption = _caption(fits, limit, factor)
    if dense:
        for summary in summaries:
            summary["exact_slope"] = spiked.predict(spec.link_function.moments, 1.0).slope
    judged = []
    if "claim" in settings:
        chosen = rows[rows["rate"] <= limit].drop(columns="at")
        judged = [_verdict(settings["claim"], points, fits, summaries[-1].get("exact_slope"), chosen)]
        summaries[-1] |= judged[0].columns
    return Panel(title, figure, caption + claims.caption(judged), judged), panel_table(
        title, spec.model, points, summaries
    )


def mean_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each value on the axis: at, rate, n, trials, error (mean), its standard error, overlap."""
    columns = {"rate": ("rate", "first"), "n": ("n", "first"), "trials": ("error", "count"), "error": ("error", "mean")}
    more = {"standard_error": ("error", "sem"), "overlap": ("overlap", "mean")}
    return table.groupby("at").agg(**columns, **more).reset_index()


def largest_rate(spec: Any, factor: float) -> float:
    """Return the rate below which n is at least `factor` times the threshold of the pairwise moment.

    At n = threshold * d the leading eigenvector of M begins to correlate with the truth, where d = p. A rate is
    sqrt(d / n) with d = p or, for sparse signals, d = s log p in the place of p: n >= factor * threshold * d is
    rate <= 1 / sqrt(factor * threshold).
    """
    return float((factor * spiked.predict(spec.link_function.moments, 1.0).threshold) ** -0.5)


def line_through_origin(rate: Sequence[float], error: Sequence[float]) -> tuple[float, float]:
    """Return the slope c of the least-squares line error = c rate and R^2 = 1 - |error - c rate|^2 / |error - mean|^2.

    R^2 is taken against the mean, as for a line with an intercept, so a line that is straight but misses the origin
    does not pass. Both are nan for fewer than three points.
    """
    x, e = np.asarray(rate, dtype=float), np.asarray(error, dtype=float)
    if len(x) < 3:
        return float("nan"), float("nan")
    slope = float(x @ e / (x @ x))
    return slope, float(1.0 - np.sum((e - slope * x) ** 2) / np.sum((e - e.mean()) ** 2))


def predicted_errors(spec: Spec, axis: str, values: Iterable[float]) -> pd.DataFrame:
    """Return the exact limit of Algorithm 1's error, sqrt(2 - 2 <b, b-hat>), at each value: at, rate, error."""
    rows = []
    for value in values:
        cell: Any = place(spec, axis, value)
        rows.append({"at": value, "rate": RATES[axis](cell), "error": dense_error(cell, cell.n / cell.p)})
    return pd.DataFrame(rows)


def dense_error(spec: Any, ratio: float) -> float:
    """Return the exact limit of Algorithm 1's error under the link of a spec, at n/p = `ratio`."""
    return float(np.sqrt(2.0 - 2.0 * np.sqrt(spiked.predict(spec.link_function.moments, ratio).overlap)))


def _fits(points: pd.DataFrame) -> dict[str, tuple[float, float]]:
    groups = {**dict(iter(points.groupby("series", sort=False))), "pooled": points}
    used = {name: rows[rows["used"]] for name, rows in groups.items()}
    return {name: line_through_origin(rows["rate"], rows["error"]) for name, rows in used.items()}


def _caption(fits: Mapping[str, tuple[float, float]], limit: float, factor: float) -> str:
    slope, pooled = fits["pooled"]
    worst = min(quality for name, (_, quality) in fits.items() if name != "pooled")
    return (
        f"Where n is at least {factor:g} times the spectral threshold (shaded, rate up to {limit:.3g}), the error is "
        f"{slope:.3g} × rate: R² = {pooled:.3f} for all settings together, and {worst:.3f} or more for each."
    )


def _verdict(
    claim: str, points: pd.DataFrame, fits: Mapping[str, tuple[float, float]], exact: float | None, rows: pd.DataFrame
) -> Verdict:
    """Return the verdict on errors that are proportional to the rate, by the trials in the region of the fit."""
    slope = fits["pooled"][0]
    slopes = [own for name, (own, _) in fits.items() if name != "pooled" and np.isfinite(own)]
    spread = f"{min(slopes):.3g} to {max(slopes):.3g}" if slopes else "none"
    beyond = points[~points["used"].astype(bool)]
    departure = float((beyond["error"] / (slope * beyond["rate"]) - 1.0).abs().max()) if len(beyond) else 0.0
    remark = (
        f"Beyond the shaded region the errors leave the line, by up to {departure:.0%}."
        if departure > DEPARTURE
        else ""
    )
    table = {"paper": claim, "rule": "proportional", "series": list(dict.fromkeys(rows["series"]))}
    verdict = claims.verdict(table, samples_of(rows, "rate", "error"), remark=remark)
    theory = "a line; the theorem leaves its slope open" if exact is None else f"slope {exact:.4g} for large n/p"
    measured = f"{verdict.measured}; slopes of the series {spread}"
    return verdict._replace(measured=measured, predicted=theory)
