"""Figures of estimates: entries next to the ground truth, singular values, heat maps; frames over the iterates."""

import math
import textwrap
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from lrlab.arrays import Array, Intervals
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, grid, trace
from lrlab.lowrank import LowRank
from lrlab.protocol import View

STEMS = 64
"""Longest vector drawn entry by entry; longer ones appear as estimate against ground truth."""
MOST_POINTS, MOVING_POINTS, MOVING_MARKS = 1500, 300, 100
"""Most points of a run at rest; while a run grows or a slider is dragged, most points of its curve, and most marks of
its estimate: Plotly takes as long for a mark as for ten points of a curve."""
MOST_FRAMES = 80
LEAST_RATIO = 10.0
"""Least ratio of the ends of the axis of singular values: equal ones lie on a line, not on their rounding errors."""
LINE = 16
"""Height of a line of a title, in pixels."""
FOOT = 34
"""Height of the color bar below heat maps, in pixels."""
SIDE = 48
"""Most rows and columns of a matrix; a larger one shows an evenly spaced subset."""
KINDS = len(theme.PALETTE)
SCALES: dict[str, dict[str, Any]] = {
    "signed": {"colorscale": "RdBu_r"},
    "bits": {"colorscale": [[0.0, theme.PALETTE[1]], [1.0, theme.PALETTE[0]]], "zmin": -1, "zmax": 1},
    "labels": {"colorscale": [[0.0, "#c3c8d1"], [1.0, theme.PALETTE[0]]], "zmin": 0, "zmax": 1},
    "sizes": {"colorscale": theme.SEQUENTIAL},
    "gray": {"colorscale": [[0.0, "#000000"], [1.0, "#ffffff"]], "zmin": 0, "zmax": 1},
    "bytes": {"colorscale": [[0.0, "#000000"], [1.0, "#ffffff"]], "zmin": 0, "zmax": 255},
    "kinds": {
        "colorscale": [[(k + end) / KINDS, theme.PALETTE[k]] for k in range(KINDS) for end in (0, 1)],
        "zmin": -0.5,
        "zmax": KINDS - 0.5,
    },
}


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
        bars: dict[str, Any] | None = None
        if stems and run.intervals is not None and run.estimate is not None:
            reach = {"array": run.intervals.high - y, "arrayminus": y - run.intervals.low}
            bars = {**theme.BARS, "width": 2, "visible": True, "color": run.color, **reach}
        figure.add_scatter(
            x=(shown + 1.0 + offset(k, len(runs)) if stems else truth[shown]).astype(np.float32),
            y=y.astype(np.float32),
            mode="markers",
            name=run.title,
            marker=look,
            hovertemplate="%{x:.3g}: %{y:.3g}",
            error_y=bars,
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
        frame = Node(name=name, data=[], traces=list(traces))
        for one in drawn.data[traces.start :]:
            # A frame without intervals hides the figure's intervals.
            dots = {"y": one.y, "error_y": one.error_y or {"visible": False}}
            frame["data"].append(trace(one.type, **({"z": one.z} if one.type == "heatmap" else dots)))
        if notes := drawn.layout.get("annotations"):
            frame["layout"] = {"annotations": [{"text": note["text"]} for note in notes]}
        result.append(frame)
    return result


def heat(values: Any, scale: str, reach: float = 0.0, name: str | None = None) -> Node:
    """Return a heat map; reach: the end of the colors of signed numbers, by default their largest size."""
    look = dict(SCALES[scale])
    if scale == "signed":
        reach = reach or float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
        look |= {"zmin": -reach, "zmax": reach}
    z = values if values.dtype == np.uint8 else values.astype(np.float32)
    hover = "row %{y}, column %{x}: %{z:.3g}<extra></extra>"
    return trace("heatmap", z=z, name=name, showscale=False, hoverongaps=False, hovertemplate=hover, **look)


def views(view: Callable[[Any], Any], runs: Sequence[Recovery], *, height: int, columns: int = 2) -> Figure:
    """Return the view of the ground truth, view(None), and of each run's newest estimate, on the same scale."""
    true: View = view(None)
    missing = np.full(true.values.shape, np.nan)
    shown = [true.values, *(missing if run.estimate is None else view(run.estimate).values for run in runs)]
    reach = float(np.nanmax(np.abs(true.values)))
    named = zip(["ground truth", *(run.title for run in runs)], shown, strict=True)
    maps = [heat(values, true.scale, reach, name) for name, values in named]
    columns = max(1, min(columns, len(maps)))
    figure = tiles(maps, ["ground truth", *map(caption, runs)], columns, height=height, foot=FOOT)
    ticks: dict[str, Any] = {"visible": True, "showgrid": False, "ticks": "", "tickmode": "array", "tickfont_size": 9}
    for k in range(len(maps)) if true.columns else ():
        # Names do not fit between tiles.
        if k % columns == 0:
            figure.update_yaxes(k, **ticks, tickvals=[*range(len(true.rows))], ticktext=list(true.rows))
        if k + columns >= len(maps):
            names: dict[str, Any] = {"tickvals": [*range(len(true.columns))], "ticktext": list(true.columns)}
            figure.update_xaxes(k, **ticks, tickangle=-60, **names)
    return figure


def pictures(truth: Array, runs: Sequence[Recovery], *, columns: int = 4, height: int = 400) -> Figure:
    """Return the true image and each run's newest one, all in the gray levels of the ground truth.

    truth: unit vector of side * side gray levels. Estimates are unit vectors, too, and share its scale: black at 0 and
    white at its brightest pixel. Values outside of it appear black or white.
    """
    return views(lambda b: View(gray(truth if b is None else b, truth), "bytes"), runs, height=height, columns=columns)


def matrices(truth: LowRank, runs: Sequence[Recovery], *, height: int = 430) -> Figure:
    """Return heat maps of the ground truth and of each run's estimate, in two columns, with one color bar below."""
    figure = views(lambda W: View(part(W or truth), "signed"), runs, height=height)
    scale = figure.data[0].zmax
    for one in figure.data:
        one |= {"coloraxis": "coloraxis"}
    bar = {"orientation": "h", "thickness": 9, "len": 0.8, "y": 0, "yref": "container", "yanchor": "bottom"}
    look = {"colorscale": "RdBu_r", "cmin": -scale, "cmax": scale, "colorbar": {**bar, "nticks": 5, "ticklen": 3}}
    return figure.update_layout(coloraxis=look)


def part(W: LowRank) -> Array:
    """Return the drawn rows and columns of a matrix."""
    rows, columns = (np.linspace(0, n - 1, min(n, SIDE)).round().astype(int) for n in W.shape)
    return W.left[rows] @ W.V[columns].T


def tiles(maps: Sequence[Node], titles: Sequence[str], columns: int, *, height: int, foot: int = 4) -> Figure:
    """Return heat maps of square pixels in rows of `columns`, each below its title; foot: pixels below them."""
    rows, head = math.ceil(len(maps) / columns), 8 + LINE * max(1 + title.count("<br>") for title in titles)
    figure = grid(rows, columns, titles, 0.02, head / (height - head - foot) if rows > 1 else 0)
    for k, one in enumerate(maps):
        figure.add_trace(one, k)
        high, wide = one.z.shape
        # Explicit ranges: by itself, plotly reverses some axes when estimates replace empty maps.
        common: dict[str, Any] = {"visible": False, "constrain": "domain"}
        figure.update_xaxes(k, range=[-0.5, wide - 0.5], **common)
        anchor: dict[str, Any] = {"scaleanchor": f"x{k + 1}" if k else "x", "constraintoward": "top"}
        figure.update_yaxes(k, range=[high - 0.5, -0.5], **anchor, **common)
    for note in figure.layout.get("annotations", ()):
        note["font"] = {"size": 12}
    return theme.style(figure, height=height).update_layout(margin={"l": 4, "r": 4, "t": head, "b": foot})


def gray(estimate: Array, truth: Array) -> Any:
    """Return an estimate as (side, side) gray levels 0..255, in bytes, on the truth's scale."""
    side = math.isqrt(len(truth))
    levels = np.asarray(estimate, dtype=float) / truth.max()
    return (255.0 * np.clip(levels, 0.0, 1.0)).round().astype(np.uint8).reshape(side, side)


def caption(run: Recovery) -> str:
    """Return the title of a picture: the solver without its abbreviation, and its error if it is known."""
    last = run.rows[-1] if run.rows else {}
    words = f"error {last['error']:.3g}" if "error" in last else "" if last else "waiting"
    return "<br>".join([*textwrap.wrap(run.title.partition(" (")[0], 24), words])


def measured(panels: Mapping[str, View], height: int) -> Figure:
    """Return pictures, by title, in one column."""
    maps = [heat(panel.values, panel.scale) for panel in panels.values()]
    drawn = tiles(maps, list(panels), 1, height=height)
    return drawn.update_layout(plot_bgcolor=theme.faint(theme.INK, 0.08))
