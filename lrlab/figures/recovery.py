"""Figures of a run: the estimate against the ground truth, singular values, and animation frames over the iterates."""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from lrlab.arrays import Array, Intervals
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, trace
from lrlab.lowrank import LowRank

STEMS = 64
"""Longest vector drawn entry by entry; longer ones appear as estimate against ground truth."""
MOST_POINTS, MOVING_POINTS, MOVING_MARKS = 1500, 300, 100
"""Most points of a run at rest; while a run grows or a slider is dragged, most points of its curve, and most marks of
its estimate: Plotly takes as long for a mark as for ten points of a curve."""
MOST_FRAMES = 80
LEAST_RATIO = 10.0
"""Least ratio of the ends of the axis of singular values: equal ones lie on a line, not on their rounding errors."""


@dataclass(frozen=True)
class Recovery:
    """One solver's run with its style.

    title, color, dash, symbol: its style. rows: one per iterate, with iteration, seconds and metrics. predictions:
    `predicted_...` and `best_...` numbers of theory. expected: overlaps that theory predicts for the first iterates.
    history: stored (iteration, estimate), before `comparable` aligns them with the ground truth. estimate, intervals:
    the newest one and the intervals of its entries, aligned.
    """

    title: str
    color: str = theme.PALETTE[0]
    dash: str = "solid"
    symbol: str = "circle"
    rows: Sequence[Mapping[str, float]] = ()
    predictions: Mapping[str, float] = field(default_factory=dict)
    expected: Sequence[float] = ()
    history: Sequence[tuple[int, Any]] = ()
    estimate: Any = None
    intervals: Intervals | None = None
    comparable: Callable[[Any], Any] = lambda estimate: estimate

    def bars(self) -> dict[str, Any]:
        """Return 95% intervals of the entries as a trace's error bars."""
        if self.intervals is None or self.estimate is None:
            return {}
        ends = {"array": self.intervals.high - self.estimate, "arrayminus": self.estimate - self.intervals.low}
        look = {"symmetric": False, "visible": True, "width": 2, "thickness": 1.2, "color": self.color}
        return {"error_y": {**{end: reach.astype(np.float32) for end, reach in ends.items()}, **look}}


def recovery(
    truth: Array, runs: Sequence[Recovery], *, symbol: str = "b", height: int = 400, most: int = MOST_POINTS
) -> Figure:
    """Return the estimates against the ground truth.

    Up to 64 entries: ground truth as stems and estimates as markers, entry by entry, with 95% intervals if a solver has
    them. Longer: estimate against ground truth for at most so many entries; the diagonal is exact. symbol: of the
    signal.
    """
    figure, stems = Figure(), len(truth) <= STEMS
    few = min(len(truth), most)
    # The largest entries, which a sparse signal consists of, and an even subset of the others by size.
    ranks = np.r_[: few // 2, np.linspace(few // 2, len(truth) - 1, few - few // 2).astype(int)]
    shown = np.sort(np.argsort(-np.abs(truth))[ranks])
    if stems:
        j = np.arange(1, len(truth) + 1)
        lines = np.stack([truth, np.zeros_like(truth), np.full_like(truth, np.nan)], axis=1).ravel()
        theme.line(figure, np.repeat(j, 3), lines, width=1.2)
        _add_dashes(figure, j, truth, f"ground truth {symbol}", 11)
    else:
        ends = [float(truth.min()), float(truth.max())]
        theme.line(figure, ends, ends, name="exact", dash="dot", width=1.6)
    for k, run in enumerate(runs):
        look = {"color": run.color, "symbol": run.symbol, "size": 7 if stems else 5, "opacity": 0.9 if stems else 0.6}
        y = np.full(few, np.nan) if run.estimate is None else run.estimate[shown]
        figure.add_scatter(
            x=(shown + 1.0 + offset(k, len(runs)) if stems else truth[shown]).astype(np.float32),
            y=y.astype(np.float32),
            mode="markers",
            name=run.title,
            marker=look,
            hovertemplate="%{x:.3g}: %{y:.3g}",
            **(run.bars() if stems else {}),
        )
    entry, estimate = f"{symbol}ⱼ", f"{symbol}\u0302ⱼ"
    titles = ("entry j", f"{entry} and estimate {estimate}")
    titles = titles if stems else (f"true entry  {entry}", f"estimated entry  {estimate}")
    return theme.style(figure.update_layout(showlegend=False), *titles, height=height)


def offset(number: int, runs: int) -> float:
    """Return the horizontal shift of a run's markers: markers of one entry stand side by side."""
    return 0.0 if runs == 1 else 0.5 * (number / (runs - 1) - 0.5)


def _add_dashes(figure: Figure, x: Any, y: Array, name: str, size: int) -> None:
    """Add the values of the ground truth as short level lines."""
    look = {"color": theme.INK, "symbol": "line-ew-open", "size": size, "line": {"width": 2}}
    hover = "%{x}: %{y:.4g}"
    figure.add_scatter(x=x, y=y, mode="markers", name=name, hovertemplate=hover, showlegend=len(x) > 0, marker=look)


def singular_values(truth: LowRank | None, runs: Sequence[Recovery], *, height: int = 260) -> Figure:
    """Return singular values on a log axis, with the ones of the ground truth, if known, as dashes.

    For symmetric matrices: absolute eigenvalues; negative ones have open markers.
    """
    figure = Figure()
    true = np.empty(0) if truth is None else _by_size(truth.s)
    signed = truth is not None and (bool((true < 0).any()) or truth.U is truth.V)
    values = [np.empty(0) if run.estimate is None else _by_size(run.estimate.s) for run in runs]
    longest = max([len(true), 1, *map(len, values)])
    longest = min(longest, 4 * len(true) + 8) if len(true) else longest
    largest = max([float(np.abs(s).max(initial=0.0)) for s in (true, *values)])
    _add_dashes(figure, np.arange(1, len(true) + 1), np.abs(true), "ground truth", 18)
    for k, (run, s) in enumerate(zip(runs, values, strict=True)):
        s = s[:longest]
        symbols = [run.symbol + ("-open" if value < 0 else "") for value in s]
        figure.add_scatter(
            x=np.arange(1, len(s) + 1) + offset(k, len(runs)),
            # Rounding errors do not count as values.
            y=np.where(np.abs(s) > 1e-14 * largest, np.abs(s), np.nan),
            mode="markers",
            name=run.title,
            customdata=s,
            hovertemplate="%{customdata:.4g}",
            showlegend=False,
            marker={"color": run.color, "symbol": symbols or run.symbol},
        )
    figure.update_xaxes(range=[0.4, longest + 0.6], dtick=1 if longest <= 12 else None)
    shown = [size for one in figure.data for size in one.y if size > 0]
    if shown and max(shown) < LEAST_RATIO * min(shown):
        middle = math.log10(min(shown) * max(shown)) / 2
        figure.update_yaxes(range=[middle - math.log10(LEAST_RATIO) / 2, middle + math.log10(LEAST_RATIO) / 2])
    figure.update_yaxes(type="log")
    word = "size of the eigenvalue" if signed else "singular value"
    return theme.style(figure, f"{word}, largest first", word, height=height)


def _by_size(s: Array) -> Array:
    return s[np.argsort(-np.abs(s), kind="stable")]


def moments(runs: Sequence[Recovery], time: str = "iteration") -> dict[str, float]:
    """Return the moment of each frame by its name, at most 80; time: the clock, "iteration" or "seconds".

    Iterations: all that any run has stored, and its last. Seconds: even steps of a common clock.
    """
    if time == "seconds":
        last = max((run.rows[-1]["seconds"] for run in runs if run.rows), default=0.0)
        return {f"{now:.3g} s": now for now in np.linspace(0.0, last, MOST_FRAMES)[1:] if now > 0.0}
    stored = {iteration for run in runs for iteration, _ in run.history}
    # A long run stores every second, fourth, eighth ... iterate; the last iterate may not be among them.
    known = sorted(stored | {int(run.rows[-1]["iteration"]) for run in runs if run.history and run.rows})
    shown = np.linspace(0, len(known) - 1, min(len(known), MOST_FRAMES)).round().astype(int)
    return {f"iteration {known[k]}": known[k] for k in shown}


def run_at(run: Recovery, now: float, time: str = "iteration") -> Recovery:
    """Return a run as it was at a time of a clock; at its end the run itself, with the intervals of its entries."""
    if run.rows and now >= run.rows[-1][time]:
        return run
    rows = run.rows[: bisect_right(run.rows, now, key=itemgetter(time))]
    iteration = rows[-1]["iteration"] if rows else 0
    count = bisect_right(run.history, iteration, key=itemgetter(0))
    estimate = run.comparable(run.history[count - 1][1]) if count else None
    return replace(run, rows=rows, estimate=estimate, intervals=None)


def frames(
    figure: Callable[[Sequence[Recovery]], Figure], runs: Sequence[Recovery], time: str = "iteration"
) -> list[Node]:
    """Return a frame for each of `moments`: the last traces, one per run, of the figure of the runs at that moment."""
    result = []
    for name, now in moments(runs, time).items():
        drawn = figure([run_at(run, now, time) for run in runs])
        traces = range(len(drawn.data) - len(runs), len(drawn.data))
        frame = Node(name=name, data=[_changing(drawn.data[k]) for k in traces], traces=list(traces))
        if notes := drawn.layout.get("annotations"):
            frame["layout"] = {"annotations": [{"text": note["text"]} for note in notes]}
        result.append(frame)
    return result


def _changing(one: Node) -> Node:
    """Return the values of a trace that change from frame to frame."""
    if one.type == "heatmap":
        return trace("heatmap", z=one.z)
    # A frame without intervals hides the figure's intervals.
    return trace("scatter", y=one.y, error_y=one.error_y or {"visible": False})
