"""Presets of kind `lines`: a metric along an axis, with bands, bounds, traces and slopes.

A series is a metric of finished runs (`solver`), or a `part` of a `quantity` of simulated data (see `quantities`),
which may have an axis in PLACES. With `below`, a series is the fraction of runs below a level, and with `fewest` the
fewest measurements for that (`items.Search`). Points are medians with quartiles. Fractions, also with `success`, have
95% Wilson intervals; a run without an estimate or at a local minimum counts as a failure. `ratio` of a panel divides
two series trial by trial.

With `against` = "iteration" or "seconds" a figure shows every iterate, and claims judge the end of runs, or the time
until a `level`; with `steps` they judge every iteration. Any other `against` is a bound: its value at a spec is the
position on the axis. `quantity` of a panel is `iteration` (seconds of an iteration) or `accuracy` (seconds until
figure.measure is below figure.level). The metrics `processor` and `megabytes` are costs of runs.

A line of theory is a `bound` of `bounds`, a `slope` through the last point of its series, a fit through the `origin` to
all points up to `to`, or a `mark`: a vertical line at a number of the spec. The line holds under the assumption `if`. A
line that is `exact` for its series has the color of the series.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.figures.convergence import TIMES
from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.presets import claims
from lrlab.presets.bounds import BOUNDS, STEP_BOUNDS
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.items import COSTS, MEASUREMENTS, computed, cost
from lrlab.presets.placed import CHOSEN_BY, STEPS, Placed, best_of_grid, grid_words, items_of, iterates, placed_in
from lrlab.presets.quantities import PLACES
from lrlab.presets.result import Panel, Plan, Result, panel_table
from lrlab.presets.rules import half, half_words
from lrlab.protocol import Stop
from lrlab.runs.run import Trial, run_traced, run_trial
from lrlab.sweeps.statistics import summarize

STATISTICS = {False: "Dots: medians of the trials, with quartiles.", True: "Fractions: with 95% Wilson intervals."}
"""Caption of points: of numbers, and of fractions."""
TIMED = {"iteration": "seconds per iteration", "accuracy": "seconds until the accuracy is reached"}
"""Quantities of panels, with their titles."""
CURVE_POINTS = 61


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the items of all panels, each once; all solvers see the same data in a trial.

    The first trial of every point comes before any second one, so that a growing figure has all lines early.
    """
    placed = placed_in(preset)
    planned = [(labels, item) for one in placed for labels, item in items_of(preset, one, trials)]
    refused = [{**labels, "trial": 0, "refused": item} for labels, item in planned if isinstance(item, str)]
    runs: list[tuple[dict[str, Any], Any]] = [one for one in planned if not isinstance(one[1], str)]
    runs.sort(key=lambda one: not isinstance(one[1], Trial))
    items = sorted(dict.fromkeys(item for _, item in runs), key=lambda item: item.number)

    def finish(results: Sequence[Any]) -> Result:
        known, rows = dict(zip(items, results, strict=True)), list[dict[str, Any]]()
        for labels, item in runs:
            # A traced trial has a row per iterate.
            result = known[item] or []
            own = result if isinstance(result, list) else [result if isinstance(result, dict) else result.row(item)]
            rows += [{**labels, **row} for row in own]
        table, ran = pd.DataFrame(rows + refused), pd.DataFrame(rows)
        parts = []
        for panel in preset.panels if rows else ():
            own = ran[ran["panel"] == panel["title"]]
            if len(own):
                parts.append(
                    _panel(preset, panel, [one for one in placed if one.panel["title"] == panel["title"]], own)
                )
        return Result([panel for panel, _ in parts], pd.concat([own for _, own in parts], ignore_index=True), table)

    function: Callable[[Any], Any] = computed
    if iterates(preset) or any("quantity" in one.panel for one in placed):
        function = run_traced
    elif any(one.panel.get("measure") in COSTS for one in placed):
        function = cost
    elif all(isinstance(item, Trial) for item in items):
        function = run_trial
    return Plan(function, items, finish)


def _panel(preset: Preset, panel: Toml, placed: Sequence[Placed], rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    first, title, every_step = placed[0], panel["title"], iterates(preset)
    look, success = first.panel, next((one.success for one in placed if one.success), None)
    by = ["series"] if every_step else ["series", first.axis]
    rows, words = best_of_grid(rows, by, success.metric if success else CHOSEN_BY), ""
    if every_step:
        points, values = median_traces(rows, look["measure"]), filled_traces(rows, look["measure"])
        points = points.assign(x=points[look.get("against", STEPS)])
    else:
        tables = [_values(one, rows[rows["series"] == one.series["label"]]) for one in placed]
        # While trials arrive, some series have none.
        drawn = [(one, table) for one, table in zip(placed, tables, strict=True) if len(table)]
        failed = sum(int(table["failed"].sum()) for _, table in drawn)
        words = f" {failed} trials ended without a finite estimate." if failed else ""
        if "ratio" in panel:
            drawn = [(first, _ratio(panel["ratio"], [table for _, table in drawn]))]
        values = pd.concat([table for _, table in drawn], ignore_index=True)
        points = pd.concat([_points(table, one.success is not None) for one, table in drawn])
    theory = [line for line in preset.content.get("lines", ()) if line.get("panel", title) == title]
    titles = axes(type(first.spec))
    lines = lines_of(theory, placed, points)
    against = look.get("against", STEPS if first.axis == STEPS else "")
    figure = draw(
        points,
        axis_title=look.get("against_title") or TIMES.get(against) or PLACES.get(first.axis) or titles[first.axis],
        value_title=" over ".join(panel.get("ratio", [TIMED.get(panel.get("quantity", "")) or look["measure_title"]])),
        log_x=look.get("log_x", False),
        log_y=look.get("log_y", every_step),
        bands="statement" in look,
        marks={line["label"]: float(getattr(first.spec, line["mark"])) for line in theory if "mark" in line},
        limits=lines[lines["series"].isna()],
        theory=lines.dropna().assign(kind="predicted", low=np.nan, high=np.nan),
    )
    if "published" in panel:
        figure.add_hline(y=panel["published"], line={"dash": "dot"}, annotation_text=f"paper: {panel['published']:g}")
    summaries, exponents = list[dict[str, Any]](), list[Any]()
    if every_step and not look.get("steps"):
        judged = [
            claims.verdict(claim, ends_of_runs(rows, look["measure"], look["against"], claim.get("level")))
            for claim in claims.of_panel(preset, title)
        ]
    else:
        samples = samples_of(pd.concat([values, *bounds_at(theory, values, lines)]), "x", "value")
        judged = claims.verdicts(preset, title, samples)
    if every_step:
        ends = points.groupby("series", sort=False).tail(1).itertuples()
        said = ", ".join(f"{row.series} {row.y:.2g} ({row.seconds:.3g} s)" for row in ends)
        words = f"Medians of the trials, with quartiles. At the end: {said}.{words}"
    else:
        said = " ".join(dict.fromkeys(STATISTICS[one.success is not None] for one in placed))
        if success and "success" in preset.content:
            halves = half_words({name: half(samples, name) for name in samples.values})
            said += f" {halves[:1].upper()}{halves[1:]}."
        costs = {key: samples_of(rows, first.axis, key) for key in COSTS if key in rows}
        summaries, growth, exponents = claims.exponents(preset, panel, first.axis, costs or {"": samples})
        words = said + words + growth
    words += grid_words(rows)
    for line in theory:
        of = f"Theory of {line['series']}: " if line.get("exact") else ""
        words += f" {of}{line['label']}: {line['if']}."
    words += claims.caption([*judged, *exponents])
    table = pd.concat([points, lines.rename(columns={"name": "line"})]).drop(columns=["failed"], errors="ignore")
    table = table.rename(columns={"x": first.axis if first.axis != STEPS else "x"})
    summary = panel_table(title, first.spec.model, table, [*summaries, *claims.rows(judged)])
    return Panel(title, figure, words, [*judged, *exponents]), summary


def _values(one: Placed, rows: pd.DataFrame) -> pd.DataFrame:
    """Return series, trial, x, value and failed for each trial of a series."""
    look, success = one.panel, one.success
    if "quantity" in look and len(rows):
        rows = times_of_runs(rows, one.axis, look["quantity"], look)
        column = "time"
    else:
        column = one.series["part"] if "quantity" in one.series else success.metric if success else look["measure"]
        column = MEASUREMENTS if "fewest" in one.series else column
    value = rows[column] if column in rows else pd.Series(np.nan, rows.index, dtype=float)
    failed = value.isna()
    if success:
        # A trial without an estimate counts as a failure, and so does a local minimum, which the truth fits better.
        good = value < success.below if success.below is not None else value > success.above
        value = (good & ~failed & (rows["stop"] != Stop.LOCAL_MINIMUM.name)).astype(float)
    x = rows[one.axis] if one.axis in rows else pd.Series(dtype=float)
    if "against" in look:
        x = x.map({value: BOUNDS[look["against"]](one.at(value)) for value in one.values})
    number = rows["trial"] if "trial" in rows else pd.Series(dtype=float)
    return pd.DataFrame({"series": one.series["label"], "trial": number, "x": x, "value": value, "failed": failed})


def _points(table: pd.DataFrame, rate: bool) -> pd.DataFrame:
    """Return a row per series and x: statistics, y and the ends of its bar."""
    own = summarize(table, ["series", "x"], "value", above=0.5 if rate else None)
    if own.empty:
        return pd.DataFrame(columns=["series", "x", "y", "low", "high", "trials"], dtype=float)
    parts = ("share", "low", "high") if rate else ("median", "lower_quartile", "upper_quartile")
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
        for fraction, name in zip((0.25, 0.5, 0.75), names, strict=True):
            parts[name] = groups.quantile(fraction)
        parts.setdefault("trials", groups.count())
    table = pd.DataFrame(parts).reset_index().rename(columns={"x": STEPS}).astype({STEPS: int})
    order = {name: k for k, name in enumerate(rows["series"].unique())}
    return table.sort_values(["series", STEPS], key=lambda c: c.map(order) if c.name == "series" else c)


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
    for line in (line for line in theory if "mark" not in line):
        own = [one for one in placed if one.series["label"] == line.get("series", one.series["label"])]
        dots = points[points["series"].isin([one.series["label"] for one in own])]
        if dots.empty:
            continue
        ends = dots["x"].min(), min(dots["x"].max(), line.get("to", np.inf))
        x = np.geomspace(*ends, CURVE_POINTS) if ends[0] > 0.0 else np.linspace(*ends, CURVE_POINTS)
        if "bound" in line:
            x, y = _bound(line["bound"], own, x, dots["x"].to_numpy(float))
        elif "slope" in line:
            last = dots.iloc[-1]
            y = last["y"] * (x / last["x"]) ** line["slope"]
        else:
            used = dots[dots["x"] <= ends[1]]
            y = float(used["x"] @ used["y"]) / float(used["x"] @ used["x"]) * x
        exact = line["series"] if line.get("exact") else np.nan
        table = pd.DataFrame({"name": line["label"], "x": x, "y": y, "series": exact})
        # A bound of 0 is empty, and has no position on a logarithmic axis.
        parts.append(table[table["y"] > 0].sort_values("x").drop_duplicates())
    return pd.concat(parts, ignore_index=True)


def _bound(name: str, own: Sequence[Placed], x: Array, dots: Array) -> tuple[Array, Array]:
    """Return x and y of a bound, also between the dots if the axis is a parameter of the spec."""
    axis, spec, against = own[0].axis, own[0].spec, BOUNDS.get(own[0].panel.get("against", ""))
    if axis == STEPS or axis in PLACES:
        x = dots if axis == STEPS else x
        return x, np.array([STEP_BOUNDS[name](spec, value) for value in x])
    if against:
        specs = [one.at(value) for one in own for value in one.values]
        x = np.array([against(spec) for spec in specs], float)
    else:
        specs = [own[0].at(value) for value in x]
        x = np.array([spec.values().get(axis, value) for spec, value in zip(specs, x, strict=True)], float)
    return x, np.array([BOUNDS[name](spec) for spec in specs])


def bounds_at(theory: Sequence[Toml], values: pd.DataFrame, lines: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the bounds of single series as tables of trials, for rules that compare series with bounds."""
    tables = []
    for line in (line for line in theory if "bound" in line and "series" in line):
        table, own = values[values["series"] == line["series"]], lines[lines["name"] == line["label"]]
        if len(table) and len(own):
            at, x = table["x"].to_numpy(float), own["x"].to_numpy(float)
            scale = np.log if min(at.min(), x.min()) > 0.0 else np.asarray
            bound = np.exp(np.interp(scale(at), scale(x), np.log(own["y"])))
            tables.append(table.assign(series=line["label"], value=bound))
    return tables
