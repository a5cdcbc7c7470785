"""Figures of lines: metrics of runs against iteration or time, statistics of trials, a paper's numbers next to ours."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.recovery import MOST_POINTS, MOVING_POINTS, Recovery
from lrlab.linalg import errors_of
from lrlab.model_entry import Measure
from lrlab.models.single_index import FAMILY

if TYPE_CHECKING:
    # Pages of runs do not wait for it.
    import pandas as pd

FIRST_POINTS = 100
"""Points at the beginning of a curve that all stay."""
EMPTY = 100.0
"""End of the axis of an empty figure."""
TIMES = {"iteration": "iteration", "seconds": "solver time (s)"}
BOUNDS = {"best": "Bayes-optimal", "bound": "Cramér-Rao bound: the least error without bias"}
LIMITS = {
    "limit_best": "information-theoretic limit",
    "limit_best_fast": "limit of polynomial-time methods",
}
"""The meaning of the `best_...`, `bound_...` and `limit_best_...` numbers among predictions."""
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
"""Ends of held axes, times a power of ten."""


def prediction(predictions: Mapping[str, float], measure: str, prefix: str = "predicted") -> float | None:
    """Return the prediction of a measure, or None; the error follows from the overlap of unit vectors."""
    if f"{prefix}_{measure}" in predictions:
        return predictions[f"{prefix}_{measure}"]
    overlap = f"{prefix}_{measure.replace('error', 'overlap')}"
    if measure in ("error", "start_error") and overlap in predictions:
        return float(errors_of(predictions[overlap]))
    return None


def curves(
    runs: Sequence[Recovery],
    measure: str = "error",
    time: str = "iteration",
    *,
    measures: Mapping[str, Measure] = FAMILY.measures,
    log_x: bool = False,
    log_y: bool = False,
    height: int = 400,
    hold: bool = False,
    growing: bool = False,
) -> Figure:
    """Return a measure of every run against `time` ("iteration" or "seconds"), with its prediction dashed.

    A run of one iterate is a marker, with a thin line that carries its level over to the others. hold: whether the axes
    end at round numbers, so that they stand still while a run grows. growing: whether it still does.
    """
    figure = Figure()
    rows = [thinned(run.rows, MOVING_POINTS if growing else MOST_POINTS) for run in runs]
    points = [[(r[time], r[measure]) for r in few if math.isfinite(r.get(measure, math.nan))] for few in rows]
    values = [value for few in points for _, value in few]
    # A logarithmic axis cannot show negative objectives; it leaves out a zero that is reached at the end.
    log_y = log_y and all(value >= 0 for value in values) and (any(values) or not values)
    last = max((run.rows[-1][time] for run in runs if run.rows), default=EMPTY)
    for run, few in zip(runs, points, strict=True):
        _add_curve(figure, run, few, last)
    first = min((few[0][time] for few in rows if few), default=0.0 if time == "seconds" else 1.0)
    theory = _add_theory(figure, runs, measure, (first, max(last, 2.0 * first)), log_y)
    for run in runs if measure in ("error", "overlap") and time == "iteration" else ():
        if run.expected:
            y = run.expected if measure == "overlap" else errors_of(np.asarray(run.expected))
            hover = f"theory of {run.title} after %{{x}} iterations: %{{y:.4g}}"
            look: dict[str, Any] = {"legendgroup": "theory", "showlegend": False, "hover": hover}
            theme.dashed(figure, np.arange(1, 1 + len(run.expected)), y, run.color, **look)
    if any(kind == "predicted" for kind, _ in theory):
        theme.dashed(figure, [None], [None], name="finite-size theory, 80% of trials", legendgroup="theory")
    if any(kind in ("limit", *LIMITS) for kind, _ in theory):
        theme.asymptote(figure, [None], [None], name="asymptotic limits", legend=True)
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(type="log" if log_y else "linear")
    if not values:
        values = [0.01, math.sqrt(2.0) if measure == "error" else 1.0]
        hold, first, last = True, 1.0, EMPTY
    if hold:
        levels = [value for kind, value in theory if kind != "start"]
        figure.update_xaxes(range=held([first, last], log_x)).update_yaxes(range=held([*values, *levels], log_y))
    revision = f"{measure} {time} {log_x} {log_y}"
    return theme.style(figure, TIMES[time], measures[measure].title, height=height, revision=revision)


def held(values: Sequence[float], log: bool) -> list[float] | None:
    """Return the range of an axis with round ends; None for negative values."""
    if log:
        positive = [value for value in values if value > 0]
        low, high = 1.0 / rounded_up(1.0 / min(positive)), rounded_up(max(positive))
        return [math.log10(low) - 0.03, math.log10(high) + 0.03]
    return [0.0, 1.02 * rounded_up(max(values))] if min(values) >= 0 else None


def rounded_up(value: float) -> float:
    """Return the next of 1, 1.5, 2, 3, 4, 6, 8, 10 ... times a power of ten."""
    if not 0 < value < math.inf:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return next(step * unit for step in STEPS if step * unit >= 0.999999 * value)


def thinned(rows: Sequence[Mapping[str, float]], most: int) -> Sequence[Mapping[str, float]]:
    """Return at most so many rows: the first 100, then every second, fourth, eighth ..., and the last one.

    Rows that are shown stay when others follow, so that a live figure changes little.
    """
    stride = 2 ** math.ceil(math.log2(max(1.0, (len(rows) - 1) / (most - FIRST_POINTS - 1))))
    early = -(-FIRST_POINTS // stride) * stride
    return rows if stride == 1 else [*rows[:FIRST_POINTS], *rows[early:-1:stride], rows[-1]]


def _add_curve(figure: Figure, run: Recovery, points: Sequence[tuple[float, float]], last: float) -> None:
    x, y = ([point[side] for point in points] for side in (0, 1))
    once = len(points) == 1
    mode = "markers" if once else "lines" if len(points) > 40 else "lines+markers"
    marker = {"color": run.color, "symbol": run.symbol, "size": 9 if once else 5}
    look: dict[str, Any] = {"legendgroup": run.title, "showlegend": True, "meta": "run", "hover": None}
    look |= {"mode": mode, "marker": marker, "hovertemplate": "%{x:.4g}: %{y:.4g}"}
    theme.line(figure, x, y, run.color, name=run.title, dash=run.dash, **look)
    if once and last > x[0]:
        theme.line(figure, [x[0], last], [y[0], y[0]], run.color, width=1, opacity=0.45, legendgroup=run.title)


def _add_theory(
    figure: Figure, runs: Sequence[Recovery], measure: str, extent: tuple[float, float], log_y: bool
) -> list[tuple[str, float]]:
    """Add the levels of theory of each run, then of all methods; return their kinds and values.

    Dashed or dotted, with the band of 80% of the simulations, at this n and p; thin and dotted for asymptotic limits.
    """
    wanted = [(kind, run) for run in runs for kind in ("predicted", "limit", "start")]
    added = list[tuple[str, float]]()
    for kind, run in wanted + [(kind, run) for run in runs[:1] for kind in (*BOUNDS, *LIMITS)]:
        name, prefix = (f"start_{measure}", "predicted") if kind == "start" else (measure, kind)
        value = prediction(run.predictions, name, prefix)
        if value is None or (log_y and value <= 0):
            continue
        added.append((kind, value))
        level, color, title = [value, value], run.color, run.title
        low, high = (run.predictions.get(f"{prefix}_{name}_{end}", math.nan) for end in ("low", "high"))
        if math.isfinite(low + high) and (low > 0 or not log_y):
            theme.band(figure, extent, [low, low], [high, high], theme.INK if kind in BOUNDS else color)
        if kind == "predicted":
            look: dict[str, Any] = {"name": f"theory: {title}", "legendgroup": "theory", "showlegend": False}
            hover = f"theory of {title} at this n and p: mean %{{y:.4g}}"
            theme.dashed(figure, extent, level, color, hover=hover, **look)
        elif kind == "start":
            marker = {"symbol": "star-open", "size": 13, "color": color, "line": {"width": 2}}
            words = f"asymptotic theory of the initialization: %{{y:.4g}}<extra>{title}</extra>"
            look = {"legendgroup": "theory", "mode": "markers", "marker": marker, "hovertemplate": words}
            theme.line(figure, extent[:1], [value], color, hover=None, **look)
        elif kind == "limit":
            theme.asymptote(figure, extent, level, color, f"asymptotic limit of {title}", legend=False)
        elif kind in BOUNDS:
            words = BOUNDS[kind]
            hover = f"{words}, finite-size prediction: %{{y:.4g}}"
            theme.line(figure, extent, level, name=words, hover=hover, dash="dot", width=2.5)
        else:
            theme.asymptote(figure, extent, level, name=LIMITS[kind], legend=False)
    return added


def series(
    points: "pd.DataFrame",
    *,
    axis_title: str,
    value_title: str,
    log_x: bool = False,
    log_y: bool = False,
    bands: bool = False,
    marks: dict[str, float] | None = None,
    theory: "pd.DataFrame | None" = None,
    limits: "pd.DataFrame | None" = None,
    looks: Sequence[Recovery] = (),
) -> Figure:
    """Return one line per series.

    points: columns series, x, y, low, high (ends of the bars, or of `bands`), trials. marks: upright lines, by name.
    theory: kind ("predicted" or "limit" for large sizes), series, x, y, low, high (the band of draws at the size of a
    point, or nan). limits: name, x, y of lines of all methods. looks: styles that series of these titles have. A
    point's customdata is trials, low, high, series, x.
    """
    figure = Figure()
    theory_names = [] if theory is None else theory["series"]
    names = list(dict.fromkeys([*points["series"], *theory_names]))
    styled = theme.looks(names) | {one.title: theme.Look(one.color, one.dash, one.symbol) for one in looks}
    for name in names:
        color, dash, symbol = styled[name]
        rows = points[points["series"] == name]
        many, banded = len(rows) > 40, bands or len(rows) > 40
        ends = {"array": rows["high"] - rows["y"], "arrayminus": rows["y"] - rows["low"]}
        figure.add_scatter(
            x=rows["x"],
            y=rows["y"],
            name=name,
            mode="lines" if many else "lines+markers",
            line={"color": color, "dash": dash},
            marker={"color": color, "symbol": symbol, "size": 6},
            customdata=rows[["trials", "low", "high", "series", "x"]],
            error_y=None if banded else {**theme.BARS, "symmetric": False, **ends},
            hovertemplate=f"{name}<br>%{{x:,.6~g}}: %{{y:.3g}}, %{{customdata[1]:.3g}} to %{{customdata[2]:.3g}}<br>"
            "trials: %{customdata[0]}<extra></extra>",
        )
        if banded:
            theme.band(figure, rows["x"], rows["low"], rows["high"], color)
        if theory is not None:
            _add_predictions(figure, theory[theory["series"] == name], name, color)
    for k, (name, limit) in enumerate(() if limits is None else limits.groupby("name", sort=False)):
        hover, dash = f"{name}<br>%{{x:.5g}}: %{{y:.3g}}", ("dash", "dot", "dashdot", "longdash")[k % 4]
        theme.line(figure, limit["x"], limit["y"], name=name, hover=hover, dash=dash, width=2.5)
    extent = [float(points["low"].min()), float(points["high"].max())] if len(points) else [0.0, 1.0]
    for name, x in (marks or {}).items():
        theme.dashed(figure, [x, x], extent, name=f"{name} ({x:.4g})", hover=f"{name}: %{{x:.4g}}")
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(type="log" if log_y else "linear")
    return theme.style(figure, axis_title, value_title, height=480)


def _add_predictions(figure: Figure, theory: "pd.DataFrame", name: str, color: str) -> None:
    """Add the predictions of a series at the n and p of its points, with their band, and its asymptotic limit."""
    line, words = theory[theory["kind"] == "predicted"], f"theory, {name}"
    banded = line.dropna()
    # Simulated predictions have a band; formulas have none, and may be asymptotic.
    hover = f"{words}{', finite-size prediction' if len(banded) else ''}<br>%{{x:.5g}}: %{{y:.3g}}"
    theme.dashed(figure, line["x"], line["y"], color, name=words, hover=hover, showlegend=len(line) > 0)
    if len(banded):
        theme.band(figure, banded["x"], banded["low"], banded["high"], color)
    limit = theory[theory["kind"] == "limit"]
    if len(limit):
        theme.asymptote(figure, limit["x"], limit["y"], color, f"asymptotic limit of {name}", legend=False)


def beside(
    points: "pd.DataFrame", *, axis_title: str, value_title: str, log_x: bool = False, categories: bool = False
) -> Figure:
    """Return a figure with one line per series, filled markers for ours and open ones for the paper's.

    points: columns series, x, ours, spread (standard deviation, nan of one trial), trials, paper (nan if it printed
    none). A series whose x is nan does not depend on it: a level line. categories: x are names, which no line joins.
    """
    figure = Figure()
    looks = theme.looks(list(dict.fromkeys(points["series"])))
    known = points["x"].dropna()
    ends = [] if categories or known.empty else [known.min(), known.max()]
    for name, look in looks.items():
        rows = points[points["series"] == name]
        if rows["x"].isna().all() and ends:
            rows = rows.iloc[[0, 0]].assign(x=ends)
        for column, who, dash, width in (("ours", "here", "solid", 2), ("paper", "paper", "dot", 1.4)):
            # Points follow the axis. A paper may repeat a number, for example for a method without a rank.
            present = rows.dropna(subset=[column]).drop_duplicates(["x", column])
            present = present if categories else present.sort_values("x")
            if present.empty:
                continue
            ours, words = column == "ours", f"{name}, {who}"
            figure.add_scatter(
                x=present["x"],
                y=present[column],
                name=words,
                mode="markers" if categories else "lines+markers",
                line={"color": look.color, "dash": dash, "width": width},
                marker={"color": look.color, "symbol": look.symbol + ("" if ours else "-open"), "size": 9},
                error_y={**theme.BARS, "array": present["spread"]} if ours else None,
                customdata=present["trials"] if ours else None,
                hovertemplate=f"{words}<br>%{{x}}: %{{y:.4g}}{'<br>%{customdata} fits' * ours}<extra></extra>",
            )
    figure.update_xaxes(type="category" if categories else "log" if log_x else "linear")
    # A legend of more than eight lines of 24 px would scroll, since it takes half of the height at most.
    more = max(0, len(figure.data) - 8)
    return theme.style(figure, axis_title, value_title, height=480 + 24 * more)
