"""Figures of a run: measures against iteration or time."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.recovery import MOST_POINTS, Recovery
from lrlab.metrics import error_of
from lrlab.model_entry import Measure
from lrlab.models.index_family import FAMILY

LIVE_POINTS, FIRST_POINTS = 400, 40
"""Most points of a growing curve: about as many as it has pixels; the first ones all stay."""
EMPTY = 100.0
"""End of the axis of an empty figure."""
TIMES = {"iteration": "iteration", "seconds": "solver time (s)"}
BOUNDS = {"best": "Bayes-optimal", "bound": "Cramér-Rao bound: the least error without bias"}
LIMITS = {
    "limit_best": "information-theoretic limit",
    "limit_best_fast": "limit of polynomial-time methods",
}
"""The meaning of the `best_...`, `bound_...` and `limit_best_...` numbers among predictions."""


def prediction(predictions: Mapping[str, float], measure: str, prefix: str = "predicted") -> float | None:
    """Return the prediction of a measure, or None; the error follows from the overlap of unit vectors."""
    if f"{prefix}_{measure}" in predictions:
        return predictions[f"{prefix}_{measure}"]
    for error, overlap in (("error", f"{prefix}_overlap"), ("start_error", f"{prefix}_start_overlap")):
        if measure == error and overlap in predictions:
            return error_of(predictions[overlap])
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
    rows = [thinned_while_growing(run.rows) if growing else thinned(run.rows) for run in runs]
    points = [[(r[time], r[measure]) for r in few if math.isfinite(r.get(measure, math.nan))] for few in rows]
    values = [value for few in points for _, value in few]
    # A logarithmic axis cannot show negative objectives; it leaves out a zero that is reached at the end.
    log_y = log_y and all(value >= 0 for value in values) and (any(values) or not values)
    last = max((run.rows[-1][time] for run in runs if run.rows), default=EMPTY)
    for run, few in zip(runs, points, strict=True):
        _add_curve(figure, run, few, last)
    first = min((few[0][time] for few in rows if few), default=0.0 if time == "seconds" else 1.0)
    _add_theory(figure, runs, measure, time, (first, max(last, 2.0 * first)), log_y)
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(type="log" if log_y else "linear")
    if hold and values:
        _hold(figure, [*values, *_levels(runs, measure)], last, log_x, log_y)
    if not values:
        top = math.sqrt(2.0) if measure == "error" else 1.0
        figure.update_xaxes(range=[0, math.log10(EMPTY)] if log_x else [0, EMPTY])
        figure.update_yaxes(range=[-2, math.log10(top) + 0.05] if log_y else [0, 1.05 * top])
    revision = f"{measure} {time} {log_x} {log_y}"
    return theme.style(figure, TIMES[time], measures[measure].title, height=height, revision=revision)


STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
"""Ends of held axes, times a power of ten."""


PREFIXES = ("predicted", "limit", *BOUNDS, *LIMITS)


def _levels(runs: Sequence[Recovery], measure: str) -> list[float]:
    """Return the levels of theory."""
    known = [prediction(run.predictions, measure, prefix) for run in runs for prefix in PREFIXES]
    return [level for level in known if level is not None]


def _hold(figure: Figure, values: Sequence[float], last: float, log_x: bool, log_y: bool) -> None:
    end = rounded_up(last)
    figure.update_xaxes(range=[0, math.log10(end)] if log_x and last > 1 else None if log_x else [0, 1.01 * end])
    if log_y:
        positive = [value for value in values if value > 0]
        low, high = 1.0 / rounded_up(1.0 / min(positive)), rounded_up(max(positive))
        figure.update_yaxes(range=[math.log10(low) - 0.03, math.log10(high) + 0.03])
    elif min(values) >= 0:
        figure.update_yaxes(range=[0, 1.02 * rounded_up(max(values))])


def rounded_up(value: float) -> float:
    """Return the next of 1, 1.5, 2, 3, 4, 6, 8, 10 ... times a power of ten."""
    if not 0 < value < math.inf:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return next((step * unit for step in STEPS if step * unit >= 0.999999 * value), 10.0 * unit)


def thinned(rows: Sequence[Mapping[str, float]]) -> Sequence[Mapping[str, float]]:
    """Return at most MOST_POINTS rows, both ends among them, that look the same on either scale of the axis."""
    if len(rows) <= MOST_POINTS:
        return rows
    even = np.linspace(0, len(rows) - 1, MOST_POINTS // 2)
    early = np.geomspace(1, len(rows), MOST_POINTS // 2) - 1
    return [rows[k] for k in np.unique(np.concatenate([even, early]).astype(int))]


def thinned_while_growing(rows: Sequence[Mapping[str, float]]) -> Sequence[Mapping[str, float]]:
    """Return a few hundred rows that stay when others follow: the first ones, then every second, fourth, eighth ...

    With each doubling of the run half of them are dropped; until then a tab receives only new points.
    """
    stride = max(1, 2 ** math.ceil(math.log2(max(1, len(rows)) / LIVE_POINTS)))
    return rows if stride == 1 else [*rows[:FIRST_POINTS], *rows[-(-FIRST_POINTS // stride) * stride :: stride]]


def _add_curve(figure: Figure, run: Recovery, points: Sequence[tuple[float, float]], last: float) -> None:
    x, y = (np.array(side) for side in zip(*points, strict=True)) if points else (np.empty(0), np.empty(0))
    once = len(points) == 1
    figure.add_scatter(
        x=x,
        y=y,
        name=run.title,
        mode="markers" if once else "lines" if len(points) > 40 else "lines+markers",
        line={"color": run.color, "dash": run.dash},
        legendgroup=run.title,
        showlegend=True,
        meta="run",
        marker={"color": run.color, "symbol": run.symbol, "size": 9 if once else 5},
        hovertemplate="%{x:.4g}: %{y:.4g}",
    )
    if once and last > x[0]:
        figure.add_scatter(
            x=[x[0], last],
            y=[y[0], y[0]],
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            opacity=0.45,
            line={"color": run.color, "width": 1},
            legendgroup=run.title,
        )


def _add_theory(
    figure: Figure, runs: Sequence[Recovery], measure: str, time: str, extent: tuple[float, float], log_y: bool
) -> None:
    """Add the lines of theory: at this size dashed, with the band of its draws; for large sizes thin and dotted."""
    shown = partial(_level, log_y=log_y)
    for run in runs:
        _add_levels(figure, run, measure, extent, log_y)
    _add_bounds(figure, runs[0].predictions if runs else {}, measure, extent, log_y)
    for run in runs:
        if run.expected and measure in ("error", "overlap") and time == "iteration":
            _add_expected(figure, run, measure)
    if any(shown(run.predictions, measure, "predicted") is not None for run in runs):
        theme.dashed(figure, [None], [None], name="finite-size theory, 80% of trials", legendgroup="theory")
    if any(shown(run.predictions, measure, prefix) is not None for run in runs for prefix in ("limit", *LIMITS)):
        theme.asymptote(figure, [None], [None], name="asymptotic limits", legend=True)


def _add_levels(figure: Figure, run: Recovery, measure: str, extent: tuple[float, float], log_y: bool) -> None:
    """Add what theory says of the end of a run and of its start."""
    shown, color = partial(_level, log_y=log_y), run.color
    level = shown(run.predictions, measure, "predicted")
    if level is not None:
        _add_band(figure, extent, run.predictions, f"predicted_{measure}", color, log_y)
        hover = f"theory of {run.title} at this n and p: mean %{{y:.4g}}"
        look: dict[str, Any] = {"hover": hover, "showlegend": False, "legendgroup": "theory"}
        theme.dashed(figure, extent, [level, level], color, name=f"theory: {run.title}", **look)
    limit = shown(run.predictions, measure, "limit")
    if limit is not None:
        words = f"asymptotic limit of {run.title}"
        theme.asymptote(figure, extent, [limit, limit], color, words, legend=False)
    start = shown(run.predictions, f"start_{measure}", "predicted")
    if start is not None:
        figure.add_scatter(
            x=extent[:1],
            y=[start],
            mode="markers",
            showlegend=False,
            legendgroup="theory",
            marker={"symbol": "star-open", "size": 13, "color": color, "line": {"width": 2}},
            hovertemplate="asymptotic theory of the initialization: %{y:.4g}<extra>" + run.title + "</extra>",
        )


def _add_expected(figure: Figure, run: Recovery, measure: str) -> None:
    """Add what theory says of each iterate."""
    expected = run.expected if measure == "overlap" else [error_of(overlap) for overlap in run.expected]
    hover = f"theory of {run.title} after %{{x}} iterations: %{{y:.4g}}"
    places = list(range(1, 1 + len(expected)))
    theme.dashed(figure, places, expected, run.color, legendgroup="theory", showlegend=False, hover=hover)


def _level(predictions: Mapping[str, float], measure: str, prefix: str, log_y: bool) -> float | None:
    """Return the level of a line, None without one or if it lies at 0 on a logarithmic axis."""
    level = prediction(predictions, measure, prefix)
    return None if level is None or (log_y and level <= 0) else level


def _add_band(
    figure: Figure, extent: tuple[float, float], predictions: Mapping[str, float], name: str, color: str, log_y: bool
) -> None:
    """Add the band that holds 80% of the simulations, if it is known."""
    low, high = predictions.get(f"{name}_low", math.nan), predictions.get(f"{name}_high", math.nan)
    if math.isfinite(low + high) and (low > 0 or not log_y):
        theme.band(figure, np.array(extent), np.array([low, low]), np.array([high, high]), color)


def _add_bounds(
    figure: Figure, predictions: Mapping[str, float], measure: str, extent: tuple[float, float], log_y: bool
) -> None:
    """Add the best on average and what noise allows at this size, and the information-theoretic limits."""
    for prefix, words in BOUNDS.items():
        level = _level(predictions, measure, prefix, log_y)
        if level is None:
            continue
        _add_band(figure, extent, predictions, f"{prefix}_{measure}", theme.INK, log_y)
        figure.add_scatter(
            x=extent,
            y=[level, level],
            mode="lines",
            name=words,
            line={**theme.POPULATION, "width": 2.5},
            hovertemplate=f"{words}, finite-size prediction: %{{y:.4g}}<extra></extra>",
        )
    for prefix, words in LIMITS.items():
        limit = _level(predictions, measure, prefix, log_y)
        if limit is not None:
            theme.asymptote(figure, extent, [limit, limit], theme.INK, words, legend=False)
