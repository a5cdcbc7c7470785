"""Presets of kind `lines`: a metric along an axis, with bands, bounds, traces and slopes.

A series is a metric of finished runs (`solver`), or a `part` of a `quantity` of simulated data (see `quantities`),
whose axis need not be a parameter. With `below`, a series is the fraction of runs below a level, and with `fewest` the
fewest measurements for that (`items.Search`). Points are medians with quartiles. Fractions have 95% Wilson intervals; a
run without an estimate or at a local minimum counts as a failure. `ratio` of a panel divides two series trial by trial.

With `against` = "iteration" or "seconds" a figure shows every iterate, and claims judge the end of runs, or the time
until a `level`; with `steps` they judge every iteration. Any other `against` is a formula: its value at a spec is the
position on the axis. `quantity` of a panel is `iteration` (seconds of an iteration) or `accuracy` (seconds until
figure.metric is below figure.level). The metrics `processor` and `megabytes` are costs of runs.

A line of theory is a `bound` (a formula, see `quantities`), a `slope` through the last point of its series, a fit
through the `origin` to all points up to `to`, or a `mark`: a vertical line at a number of the spec. The line holds
under the assumption `if`. A line that is `exact` for its series has the color of the series.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.figures.build import Figure
from lrlab.figures.convergence import TIMES
from lrlab.figures.convergence import series as draw
from lrlab.models.axes import axes
from lrlab.parameters import counted
from lrlab.presets import claims
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.items import COSTS, MEASUREMENTS, STEPS, Placed, computed, cost, items_of, iterates, placed_in
from lrlab.presets.quantities import evaluated
from lrlab.presets.result import Panel, Plan, Verdict
from lrlab.protocol import Stop
from lrlab.runs.run import Trial, run_traced, run_trial
from lrlab.sweeps.statistics import QUARTILES, describe, wilson_bounds

STATISTICS = {False: "Dots: medians of the trials, with quartiles.", True: "Fractions: with 95% Wilson intervals."}
"""Caption of points: of numbers, and of fractions."""
CURVE_POINTS = 61


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the items of all panels; all solvers see the same data in a trial."""
    placed = placed_in(preset)
    labelled = [one for each in placed for one in items_of(preset, each, trials)]
    shown = {title: list(own) for title, own in groupby(placed, key=lambda one: one.panel["title"])}
    function: Callable[[Any], Any] = computed
    if iterates(preset) or any("quantity" in one.panel for one in placed):
        function = run_traced
    elif any(one.panel.get("metric") in COSTS for one in placed):
        function = cost
    elif all(isinstance(item, Trial | str) for *_, item in labelled):
        function = run_trial

    def draw(rows: pd.DataFrame) -> Any:
        return zip(
            *(_panel(preset, shown[title], own) for title, own in rows.groupby("panel", sort=False)), strict=True
        )

    return Plan(function, labelled, draw, list(shown))


def _panel(preset: Preset, placed: Sequence[Placed], rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    """Return a panel and its points; placed: its series."""
    first, look = placed[0], placed[0].panel
    title = look["title"]
    points, values, words = _traces(look, rows) if iterates(preset) else _statistics(placed, rows)
    theory = [line for line in preset.content.get("lines", ()) if line.get("panel", title) == title]
    lines = lines_of(theory, placed, points)
    figure = _figure(first, points, theory, lines)
    samples = samples_of(pd.concat([values, *bounds_at(theory, placed, values)]), "x", "value")
    judged = _judged(preset, first, rows, samples)
    if any("claimed" in series for series in preset.series):
        words += claims.exponents(first.axis, samples, judged)
    for line in theory:
        of = f"Theory of {line['series']}: " if line.get("exact") else ""
        words += f" {of}{line['label']}: {line['if']}."
    table = pd.concat([points, lines.rename(columns={"name": "line"})])
    table = table.rename(columns={"x": first.axis if first.axis != STEPS else "x"})
    about = {"model": first.spec.model}
    return Panel(title, figure, words, judged, about), table.assign(level="point", panel=title, **about)


def _traces(look: Toml, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return points, values and the caption of a figure that shows every iterate."""
    values = filled_traces(rows, look["metric"])
    points = pd.concat([_points(own, False) for _, own in values.groupby("series", sort=False)])
    points = points[["series", "x", "y", "low", "high", "trials"]].rename(columns={"x": STEPS})
    times = filled_traces(rows, "seconds").groupby(["series", "x"])["value"].quantile([0.25, 0.5, 0.75]).unstack()
    times = times.set_axis(["seconds_low", "seconds", "seconds_high"], axis=1)
    points = points.join(times, on=["series", STEPS]).assign(x=lambda own: own[look.get("against", STEPS)])
    # The ends include infinite values, which points leave out.
    medians = values.groupby(["series", "x"], sort=False)["value"].median()
    ends = medians.groupby("series", sort=False).last().items()
    took = times["seconds"].groupby("series").last()
    said = ", ".join(f"{series} {median:.2g} ({took[series]:.3g} s)" for series, median in ends)
    return points, values, f"Medians of the trials, with quartiles. At the end: {said}."


def _statistics(placed: Sequence[Placed], rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return points, values and the caption of a figure that shows a statistic of the trials at each x."""
    # While trials arrive, some series have none.
    drawn = [(one, _values(one, own)) for one in placed if len(own := rows[rows["series"] == one.series["label"]])]
    failed = sum(int(table["failed"].sum()) for _, table in drawn)
    if labels := placed[0].panel.get("ratio"):
        # Of two series in the same trial.
        own = pd.concat([table for _, table in drawn]).pivot(index=["x", "trial"], columns="series", values="value")
        above, below = (own.reindex(columns=labels)[label] for label in labels)
        ratio = (above / below).dropna().rename("value").reset_index()
        drawn = [(placed[0], ratio.assign(series=" over ".join(labels), failed=False))]
    points = pd.concat([_points(table, one.below is not None) for one, table in drawn])
    words = " ".join(dict.fromkeys(STATISTICS[one.below is not None] for one in placed))
    words += f" {counted(failed, 'trial')} ended without a finite estimate." if failed else ""
    return points, pd.concat([table for _, table in drawn], ignore_index=True), words


def _figure(first: Placed, points: pd.DataFrame, theory: Sequence[Toml], lines: pd.DataFrame) -> Figure:
    look, titles = first.panel, axes(type(first.spec))
    against = look.get("against", STEPS if first.axis == STEPS else "")
    return draw(
        points,
        axis_title=look.get("against_title") or TIMES.get(against) or titles[first.axis],
        value_title=" over ".join(look.get("ratio", [look["metric_title"]])),
        log_x=look.get("log_x", False),
        log_y=look.get("log_y", bool(against in TIMES)),
        bands="statement" in look,
        marks={line["label"]: float(getattr(first.spec, line["mark"])) for line in theory if "mark" in line},
        limits=lines[lines["series"].isna()],
        theory=lines.dropna().assign(kind="predicted", low=np.nan, high=np.nan),
    )


def _judged(preset: Preset, one: Placed, rows: pd.DataFrame, samples: Samples) -> list[Verdict]:
    """Return the verdicts on a panel's claims; on the end of runs if the figure shows iterates without `steps`."""
    look, found = one.panel, claims.of_panel(preset, one.panel["title"])
    if iterates(preset) and not look.get("steps"):
        ends = [ends_of_runs(rows, look["metric"], look["against"], claim.get("level")) for claim in found]
        return [claims.verdict(claim, own) for claim, own in zip(found, ends, strict=True)]
    costs = {cost: samples_of(rows, one.axis, cost) for cost in COSTS if cost in rows}
    return [claims.verdict(claim, costs.get(claim.get("cost", ""), samples)) for claim in found]


def _values(one: Placed, rows: pd.DataFrame) -> pd.DataFrame:
    """Return series, trial, x, value and failed for each trial of a series."""
    look, series = one.panel, one.series
    column = MEASUREMENTS if "fewest" in series else series["part"] if "quantity" in series else look.get("metric")
    if "quantity" in look:
        rows, column = times_of_runs(rows, one.axis, look["quantity"], look), "time"
    value = rows.reindex(columns=[column])[column].astype(float)
    failed = value.isna()
    if one.below is not None:
        # A trial without an estimate counts as a failure, and so does a local minimum, which the truth fits better.
        value = ((value < one.below) & (rows["stop"] != Stop.LOCAL_MINIMUM.name)).astype(float)
    x = rows[one.axis]
    if "against" in look:
        x = x.map(dict(zip(one.values, evaluated(look["against"], [*map(one.at, one.values)]), strict=True)))
    return pd.DataFrame({"series": series["label"], "trial": rows["trial"], "x": x, "value": value, "failed": failed})


def _points(table: pd.DataFrame, rate: bool) -> pd.DataFrame:
    """Return a row per series and x: statistics of the trials with a value, y and the ends of its bar."""
    rows = list[dict[str, Any]]()
    for (series, x), own in table.dropna(subset=["value"]).groupby(["series", "x"]):
        values = own["value"].to_numpy(dtype=float)
        row = {"series": series, "x": x, **describe(values), "trials": len(values)}
        low, y, high = (row[name] for name in QUARTILES)
        if rate:
            y, (low, high) = values.mean(), map(float, wilson_bounds(values.sum(), len(values)))
            row |= {"successes": int(values.sum()), "share": y}
        rows.append(row | {"y": y, "low": low, "high": high})
    columns = None if rows else ["series", "x", "y", "low", "high", "trials"]
    return pd.DataFrame(rows, columns=columns).replace([np.inf, -np.inf], np.nan).dropna(subset=["y"])


def times_of_runs(rows: pd.DataFrame, axis: str, quantity: str, look: Toml) -> pd.DataFrame:
    """Return the time of every trial: columns series, axis, trial, time; infinite if it misses the accuracy."""
    keys, ordered = ["series", axis, "trial"], rows.sort_values("iteration")
    if quantity == "iteration":
        # Without the first iteration, which includes the initialization.
        times = ordered.groupby(keys, sort=False)["seconds"].agg(lambda seconds: seconds.diff().median())
    else:
        reached = ordered[ordered[look["metric"]] < look["level"]].groupby(keys)["seconds"].first()
        times = reached.reindex(ordered.set_index(keys).index.unique(), fill_value=np.inf)
    return times.rename("time").dropna().reset_index()


def filled_traces(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return series, trial, x and value of every iteration of each trial; an ended run keeps its last value."""
    table = rows.pivot_table(index=["series", "trial"], columns=STEPS, values=metric, aggfunc="last", sort=False)
    table = table.reindex(columns=range(1, int(rows[STEPS].max()) + 1)).ffill(axis=1)
    ends = rows.groupby("series")[STEPS].max()
    long = table.melt(ignore_index=False, var_name="x").reset_index()
    return long[long["x"] <= long["series"].map(ends)].reset_index(drop=True)


def ends_of_runs(rows: pd.DataFrame, metric: str, against: str, level: float | None) -> Samples:
    """Return the last value of every trial; with a level, the first time at it, infinite if a trial misses it."""
    ended = rows.groupby(["series", "trial"], sort=False).tail(1)
    if level is None:
        return samples_of(ended.assign(place="at the end"), "place", metric)
    first = rows[rows[metric] <= level].groupby(["series", "trial"])[against].min().rename("reached")
    times = ended.merge(first, on=["series", "trial"], how="left").fillna({"reached": float("inf")})
    times = times.assign(place=f"{TIMES[against]} until {level:g}")
    return samples_of(times, "place", "reached")._replace(durations=samples_of(times, "place", against).values)


def lines_of(theory: Sequence[Toml], placed: Sequence[Placed], points: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of a panel: name, x, y, and the series if a line is exact for it, or nan."""
    parts = [pd.DataFrame({"name": [], "x": [], "y": [], "series": []})]
    for line in theory:
        own = [one for one in placed if one.series["label"] == line.get("series", one.series["label"])]
        dots = points[points["series"].isin([one.series["label"] for one in own])]
        if "mark" in line or dots.empty:
            continue
        ends = dots["x"].min(), min(dots["x"].max(), line.get("to", np.inf))
        x = np.geomspace(*ends, CURVE_POINTS) if ends[0] > 0.0 else np.linspace(*ends, CURVE_POINTS)
        if "bound" in line:
            x, y = _bound(line["bound"], own, dots["x"].to_numpy(float) if own[0].axis == STEPS else x)
        elif "slope" in line:
            last = dots.iloc[-1]
            y = last["y"] * (x / last["x"]) ** line["slope"]
        else:
            used = dots[dots["x"] <= ends[1]]
            y = float(used["x"] @ used["y"]) / (float(used["x"] @ used["x"]) or 1.0) * x
        exact = line["series"] if line.get("exact") else np.nan
        table = pd.DataFrame({"name": line["label"], "x": x, "y": y, "series": exact})
        # A bound of 0 is empty, and has no position on a logarithmic axis.
        parts.append(table[table["y"] > 0].sort_values("x").drop_duplicates())
    return pd.concat(parts, ignore_index=True)


def _bound(formula: str, own: Sequence[Placed], x: Array) -> tuple[Array, Array]:
    """Return x and y of a bound; at the values of the axis if positions are a formula."""
    one = own[0]
    if not one.varies_spec:
        return x, evaluated(formula, [one.spec] * len(x), x)
    if "against" in one.panel:
        parts = [(one.panel["against"], [one.at(value) for value in one.values]) for one in own]
        x = np.concatenate([evaluated(*part) for part in parts])
        return x, evaluated(formula, [spec for _, specs in parts for spec in specs], x)
    specs = [one.at(value) for value in x]
    x = np.array([spec.values().get(one.axis, value) for spec, value in zip(specs, x, strict=True)], float)
    return x, evaluated(formula, specs)


def bounds_at(theory: Sequence[Toml], placed: Sequence[Placed], values: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the bounds of single series as tables of trials, for rules that compare series with bounds."""
    tables = []
    for line in (line for line in theory if "bound" in line and "series" in line):
        own = [one for one in placed if one.series["label"] == line["series"]]
        table = values[values["series"] == line["series"]]
        if len(table):
            x, y = _bound(line["bound"], own, table["x"].unique().astype(float))
            bounds = table.assign(series=line["label"], value=table["x"].map(dict(zip(x, y, strict=True))))
            tables.append(bounds[bounds["value"] > 0.0])
    return tables
