"""Presets of kind `lines`: a metric along an axis, with bands, bounds, traces and slopes.

A series is a metric of finished runs (`solver`), or a `part` of a `quantity` of simulated data (see `quantities`),
which may have an axis in PLACES. With `below`, a series is the fraction of runs below a level, and with `fewest` the
fewest measurements for that (`items.Search`). Points are medians with quartiles. Fractions, also with `success`, have
95% Wilson intervals; a run without an estimate or at a local minimum counts as a failure. `ratio` of a panel divides
two series trial by trial.

With `against` = "iteration" or "seconds" a figure shows every iterate, and claims judge the end of runs, or the time
until a `level`; with `steps` they judge every iteration. Any other `against` is a bound: its value at a spec is the
position on the axis. `quantity` of a panel is `iteration` (seconds of an iteration) or `accuracy` (seconds until
figure.measure is below figure.level). The metrics `processor` and `megabytes` are costs of runs. See also
`theory_lines` and `exponents`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.convergence import TIMES
from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.presets import claims
from lrlab.presets.bounds import BOUNDS
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.items import COSTS, MEASUREMENTS, computed, cost, drawing
from lrlab.presets.label_quantities import PLACES
from lrlab.presets.placed import CHOSEN_BY, STEPS, Placed, best_of_grid, counts, grid_words, placed_in, runs_of
from lrlab.presets.result import Panel, Plan, Result, assembled, panel_table
from lrlab.presets.rules import half, half_words
from lrlab.presets.theory_lines import assumptions, bounds_at, lines_of, marks_of
from lrlab.protocol import Stop
from lrlab.runs.trial import Trial, run_traced, run_trial
from lrlab.sweeps.definition import Success
from lrlab.sweeps.statistics import summarize
from lrlab.sweeps.toml import make_success

STATISTICS = {False: "Dots: medians of the trials, with quartiles.", True: "Fractions: with 95% Wilson intervals."}
"""Caption of points: of numbers, and of fractions."""
TIMED = {"iteration": "seconds per iteration", "accuracy": "seconds until the accuracy is reached"}
"""Quantities of panels, with their titles."""
QUARTILES = [0.25, 0.5, 0.75]


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the items of all panels, each once; all solvers see the same data in a trial.

    The first trial of every point comes before any second one, so that a growing figure has all lines early.
    """
    placed = placed_in(preset, iterates(preset))
    runs, drawn, refused = list[Any](), list[Any](), list[dict[str, Any]]()
    for one in placed:
        labels = {"panel": one.panel["title"], "series": one.series["label"]}
        if {"quantity", "fewest"}.isdisjoint(one.series):
            for own, item in runs_of(preset, one, trials):
                if isinstance(item, str):
                    refused.append({**own, "trial": 0, "refused": item})
                else:
                    runs.append((own, item))
            continue
        numbers = counts(preset, one.panel, len(one.values), trials)
        metric = look_of(preset, one.panel).get("measure", "")
        drawn += [
            ({**labels, one.axis: value}, drawing(preset, one, metric, value, number))
            for value, count in zip(one.values, numbers, strict=True)
            for number in range(count)
        ]
    items = sorted(dict.fromkeys(item for _, item in [*runs, *drawn]), key=lambda item: item.number)

    def finish(results: Sequence[Any]) -> Result:
        known, rows = dict(zip(items, results, strict=True)), list[dict[str, Any]]()
        for labels, item in [*runs, *drawn]:
            # A traced trial has a row per iterate.
            result = known[item] or []
            own = result if isinstance(result, list) else [result if isinstance(result, dict) else result.row(item)]
            rows += [{**labels, **row} for row in own]
        table = pd.DataFrame(rows + refused)
        ran = table[table["refused"].fillna("") == ""] if "refused" in table else table
        parts = []
        for panel in preset.panels:
            own = ran[ran["panel"] == panel["title"]]
            if len(own):
                parts.append(_panel(preset, panel, [one for one in placed if one.panel == panel], own))
        return assembled(parts, table)

    return Plan(_function(preset, placed, items), items, finish)


def _function(preset: Preset, placed: Sequence[Placed], items: Sequence[Any]) -> Callable[[Any], Any]:
    """Return the function that computes an item."""
    looks = [look_of(preset, one.panel) for one in placed]
    if iterates(preset) or any("quantity" in look for look in looks):
        return run_traced
    if any(look.get("measure") in COSTS for look in looks):
        return cost
    return run_trial if all(isinstance(item, Trial) for item in items) else computed


def iterates(preset: Preset) -> bool:
    """Return whether the figure shows every iterate."""
    figure = preset.content["figure"]
    return bool(figure.get("steps")) or figure.get("against") in TIMES


def look_of(preset: Preset, panel: Toml) -> Toml:
    """Return the keys of the figure, updated by a panel."""
    return {**preset.content["figure"], **panel}


def rate_of(preset: Preset, one: Placed) -> Success | None:
    """Return the definition of success in a series, None if it shows a metric."""
    if "fewest" in one.series or "quantity" in one.series:
        return None
    if "below" in one.series:
        return Success(look_of(preset, one.panel)["measure"], below=one.series["below"])
    return make_success(preset.content["success"]) if "success" in preset.content else None


def _panel(preset: Preset, panel: Toml, placed: Sequence[Placed], rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    look, title, first = look_of(preset, panel), panel["title"], placed[0]
    success = next((rate for one in placed if (rate := rate_of(preset, one))), None)
    rows = best_of_grid(
        rows, ["series"] if iterates(preset) else ["series", first.axis], success.metric if success else CHOSEN_BY
    )
    without_estimate = 0
    if iterates(preset):
        points, values = median_traces(rows, look["measure"]), filled_traces(rows, look["measure"])
        points = points.assign(x=points[look.get("against", STEPS)])
    else:
        tables = [_values(preset, one, rows[rows["series"] == one.series["label"]]) for one in placed]
        # While trials arrive, some series have none.
        drawn = [(one, table) for one, table in zip(placed, tables, strict=True) if len(table)]
        without_estimate = sum(int(table["failed"].sum()) for _, table in drawn)
        if "ratio" in panel:
            drawn = [(first, _ratio(panel["ratio"], [table for _, table in drawn]))]
        values = pd.concat([table for _, table in drawn], ignore_index=True)
        points = pd.concat([_points(table, rate_of(preset, one) is not None) for one, table in drawn])
    lines = lines_of(preset, panel, placed, points)
    figure = draw(
        points,
        axis_title=_axis_title(look, first),
        value_title=" over ".join(panel.get("ratio", [TIMED.get(panel.get("quantity", "")) or look["measure_title"]])),
        log_x=look.get("log_x", False),
        log_y=look.get("log_y", iterates(preset)),
        bands="statement" in look,
        marks=marks_of(preset, panel, first.spec),
        limits=lines[lines["series"].isna()],
        theory=lines.dropna().assign(kind="predicted", low=np.nan, high=np.nan),
    )
    if "published" in panel:
        figure.add_hline(y=panel["published"], line={"dash": "dot"}, annotation_text=f"paper: {panel['published']:g}")
    if iterates(preset):
        judged = [_on_runs(claim, rows, values, lines, look, panel, preset) for claim in claims.of_panel(preset, title)]
        words = _ends(points)
    else:
        whole = [values, *bounds_at(preset, panel, values, lines)]
        samples = samples_of(pd.concat(whole), "x", "value")
        judged = claims.verdicts(preset, title, samples)
        rates = [rate_of(preset, one) is not None for one in placed]
        words = " ".join(STATISTICS[one] for one in dict.fromkeys(rates))
        if success and "success" in preset.content:
            halves = half_words({name: half(samples, name) for name in samples.values})
            words += f" {halves[:1].upper()}{halves[1:]}."
    words += f" {without_estimate} trials ended without a finite estimate." if without_estimate else ""
    costs = {key: samples_of(rows, first.axis, key) for key in COSTS if key in rows}
    measured = costs or {"": samples_of(values, "x", "value")}
    summaries, said, more = claims.exponents(preset, panel, first.axis, measured)
    judged = [*judged, *more]
    words += said + grid_words(rows) + assumptions(preset, panel) + claims.caption(judged)
    table = pd.concat([points, lines.rename(columns={"name": "line"})]).drop(columns=["failed"], errors="ignore")
    table = table.rename(columns={"x": first.axis if first.axis != STEPS else "x"})
    own = [*summaries, *claims.rows(judged[: len(judged) - len(more)])]
    return Panel(title, figure, words, judged), panel_table(title, first.spec.model, table, own)


def _axis_title(look: Toml, one: Placed) -> str:
    against = look.get("against", STEPS if one.axis == STEPS else "")
    return look.get("against_title") or TIMES.get(against) or PLACES.get(one.axis) or axes(type(one.spec))[one.axis]


def _values(preset: Preset, one: Placed, rows: pd.DataFrame) -> pd.DataFrame:
    """Return series, trial, x, value and failed for each trial of a series."""
    look, rate = look_of(preset, one.panel), rate_of(preset, one)
    if "quantity" in one.panel and len(rows):
        rows = times_of_runs(rows, one.axis, one.panel["quantity"], look)
        column = "time"
    else:
        column = one.series["part"] if "quantity" in one.series else rate.metric if rate else look["measure"]
        column = MEASUREMENTS if "fewest" in one.series else column
    value = rows[column] if column in rows else pd.Series(np.nan, rows.index, dtype=float)
    failed = value.isna()
    if rate:
        # A trial without an estimate counts as a failure, and so does a local minimum, which the truth fits better.
        below = value < rate.below if rate.below is not None else value > rate.above
        value = (below & ~failed & (rows["stop"] != Stop.LOCAL_MINIMUM.name)).astype(float)
    x = rows[one.axis] if one.axis in rows else pd.Series(dtype=float)
    if "against" in look:
        x = x.map({value: BOUNDS[look["against"]](one.at(value)) for value in one.values})
    number = rows["trial"] if "trial" in rows else pd.Series(dtype=float)
    return pd.DataFrame({"series": one.series["label"], "trial": number, "x": x, "value": value, "failed": failed})


def _points(table: pd.DataFrame, rate: bool) -> pd.DataFrame:
    """Return a row per series and x: statistics, y and the ends of its bar."""
    own = summarize(table, ["series", "x"], "value", above=0.5 if rate else None)
    parts = ("share", "low", "high") if rate else ("median", "lower_quartile", "upper_quartile")
    if own.empty:
        return pd.DataFrame(columns=["series", "x", "y", "low", "high", "trials"], dtype=float)
    own = own.assign(**{name: own[part] for name, part in zip(("y", "low", "high"), parts, strict=True)})
    return own.replace([np.inf, -np.inf], np.nan).dropna(subset=["y"])


def _ratio(labels: Sequence[str], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the ratio of two series in the same trial, at each x."""
    both = {str(table["series"].iloc[0]): table.set_index(["x", "trial"])["value"] for table in tables}
    if len(both) < 2:
        return tables[0].iloc[:0]
    ratio = (both[labels[0]] / both[labels[1]]).dropna().rename("value").reset_index()
    return ratio.assign(series=" over ".join(labels), failed=False)


def times_of_runs(rows: pd.DataFrame, axis: str, quantity: str, look: Toml) -> pd.DataFrame:
    """Return the time of every trial: columns series, axis, trial, time; infinite if it misses the accuracy."""
    times = []
    for (name, x, trial), run in rows.sort_values("iteration").groupby(["series", axis, "trial"], sort=False):
        seconds = run["seconds"].to_numpy(float)
        if quantity == "iteration":
            # The first includes the initialization.
            time = float(np.median(np.diff(seconds))) if len(seconds) > 1 else np.nan
        else:
            reached = run[look["measure"]].to_numpy(float) < look["level"]
            time = float(seconds[reached.argmax()]) if reached.any() else np.inf
        times.append({"series": name, axis: x, "trial": trial, "time": time})
    return pd.DataFrame(times).dropna(subset=["time"])


def filled_traces(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return series, trial, x and value of every iteration of each trial; an ended run keeps its last value."""
    table = rows.pivot_table(index=["series", "trial"], columns=STEPS, values=metric, aggfunc="last", sort=False)
    table = table.reindex(columns=range(1, int(rows[STEPS].max()) + 1) if len(rows) else []).ffill(axis=1)
    ends = rows.groupby("series")[STEPS].max()
    long = table.melt(ignore_index=False, var_name="x").reset_index()
    return long[long["x"] <= long["series"].map(ends)].reset_index(drop=True)


def median_traces(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return one row per series and iteration: median and quartiles of a metric and of seconds, trials.

    An ended run keeps its last value, so that the median does not depend on slow runs only.
    """
    parts = {}
    for column, names in ((metric, ("low", "y", "high")), ("seconds", ("seconds_low", "seconds", "seconds_high"))):
        groups = filled_traces(rows, column).groupby(["series", "x"], sort=False)["value"]
        for share, name in zip(QUARTILES, names, strict=True):
            parts[name] = groups.quantile(share)
        parts.setdefault("trials", groups.count())
    table = pd.DataFrame(parts).reset_index().rename(columns={"x": STEPS}).astype({STEPS: int})
    order = {name: k for k, name in enumerate(rows["series"].unique())}
    return table.sort_values(["series", STEPS], key=lambda c: c.map(order) if c.name == "series" else c)


def _ends(points: pd.DataFrame) -> str:
    last = points.groupby("series", sort=False).tail(1)
    ends = ", ".join(f"{row.series} {row.y:.2g} ({row.seconds:.3g} s)" for row in last.itertuples())
    return f"Medians of the trials, with quartiles. At the end: {ends}."


def _on_runs(
    claim: Toml, rows: pd.DataFrame, values: pd.DataFrame, lines: pd.DataFrame, look: Toml, panel: Toml, preset: Preset
) -> Any:
    """Return the verdict on a claim about all iterations, the ends of runs, or the time until a level."""
    if look.get("steps"):
        whole = [values, *bounds_at(preset, panel, values, lines)]
        return claims.verdict(claim, samples_of(pd.concat(whole), "x", "value"))
    return claims.verdict(claim, ends_of_runs(rows, look["measure"], look["against"], claim.get("level")))


def ends_of_runs(rows: pd.DataFrame, metric: str, against: str, level: float | None) -> Samples:
    """Return the last value of every trial; with a level, the first time at it, infinite if a trial misses it."""
    ended = rows.groupby(["series", "trial"], sort=False).tail(1)
    if level is None:
        return samples_of(ended.assign(place="at the end"), "place", metric)
    first = rows[rows[metric] <= level].groupby(["series", "trial"])[against].min().rename("reached")
    times = ended.merge(first, on=["series", "trial"], how="left").fillna({"reached": float("inf")})
    times = times.assign(place=f"{TIMES[against]} until {level:g}")
    return samples_of(times, "place", "reached")._replace(durations=samples_of(times, "place", against).values)
