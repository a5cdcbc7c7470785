"""Figures of a run: the estimate against the truth, and animation frames over the iterates."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from lrlab.arrays import Array, Indices, Intervals
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, trace

STEMS = 64
"""Longest vector drawn entry by entry; longer ones appear as estimate against ground truth."""
MOST_POINTS = 1500
MOST_FRAMES = 80


@dataclass(frozen=True)
class Recovery:
    """One solver's run with its style.

    title, color, dash, symbol: its style. rows: one an iterate: iteration, seconds and scores. predictions:
    `predicted_...` and `best_...` numbers of theory. expected: overlaps that theory predicts for the first iterates.
    history: stored (iteration, estimate), each still to be made `comparable` to the truth; estimate: the newest one,
    which is, as the intervals of its entries are.
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
        y, (low, high) = self.estimate, self.intervals[:2]
        reach = {"array": (high - y).astype(np.float32), "arrayminus": (y - low).astype(np.float32)}
        return {
            "error_y": {
                **reach,
                "symmetric": False,
                "visible": True,
                "width": 2,
                "thickness": 1.2,
                "color": self.color,
            }
        }


def recovery(
    truth: Array, runs: Sequence[Recovery], *, symbol: str = "b", legend: bool = True, height: int = 400
) -> Figure:
    """Return the estimates against the truth.

    Up to 64 entries: ground truth as stems and estimates as markers, entry by entry, with 95% intervals if a solver has
    them. Longer: estimate against ground truth; the diagonal is exact. symbol: of the signal.
    """
    figure = Figure()
    indices, stems = entries(truth), len(truth) <= STEMS
    if stems:
        _add_stems(figure, truth, symbol)
    else:
        ends = [float(truth.min()), float(truth.max())]
        figure.add_scatter(x=ends, y=ends, mode="lines", line=theme.POPULATION, name="exact", hoverinfo="skip")
    for k, run in enumerate(runs):
        look = {"color": run.color, "symbol": run.symbol, "size": 7 if stems else 5, "opacity": 0.9 if stems else 0.6}
        figure.add_scatter(
            x=places(truth, indices, k, len(runs)),
            y=heights(indices, run.estimate),
            mode="markers",
            name=run.title,
            marker=look,
            hovertemplate="%{x:.3g}: %{y:.3g}",
            showlegend=run.estimate is not None,
            **(run.bars() if stems else {}),
        )
    entry, estimate = f"{symbol}ⱼ", f"{symbol}\u0302ⱼ"
    titles = ("entry j", f"{entry} and estimate {estimate}")
    titles = titles if stems else (f"true entry  {entry}", f"estimated entry  {estimate}")
    return theme.style(figure.update_layout(showlegend=legend), *titles, height=height)


def _add_stems(figure: Figure, truth: Array, symbol: str) -> None:
    j = np.arange(1, len(truth) + 1)
    lines = np.stack([truth, np.zeros_like(truth), np.full_like(truth, np.nan)], axis=1).ravel()
    figure.add_scatter(
        x=np.repeat(j, 3),
        y=lines,
        mode="lines",
        line={"color": theme.INK, "width": 1.2},
        showlegend=False,
        hoverinfo="skip",
        connectgaps=False,
    )
    figure.add_scatter(
        x=j,
        y=truth,
        mode="markers",
        name=f"truth {symbol}",
        hovertemplate="%{x}: %{y:.3g}",
        marker={"color": theme.INK, "symbol": "line-ew-open", "size": 11, "line": {"width": 2}},
    )


def entries(truth: Array) -> Indices:
    """Return the indices of drawn entries: all of a short vector, an even subset by size of a long one."""
    if len(truth) <= MOST_POINTS:
        return np.arange(len(truth))
    order = np.argsort(-np.abs(truth))
    return np.sort(order[np.linspace(0, len(truth) - 1, MOST_POINTS).astype(int)])


def places(truth: Array, indices: Indices, number: int, runs: int) -> Array:
    """Return x of the markers of the run of this number; markers of one entry stand side by side."""
    if len(truth) > STEMS:
        return truth[indices].astype(np.float32)
    offset = 0.0 if runs == 1 else 0.5 * (number / (runs - 1) - 0.5)
    return (indices + 1.0 + offset).astype(np.float32)


def heights(indices: Indices, estimate: Array | None) -> Array:
    """Return y of the markers of a run, nan without an estimate."""
    y = np.full(len(indices), np.nan) if estimate is None else estimate[indices]
    return y.astype(np.float32)


def frame_iterations(runs: Sequence[Recovery]) -> list[int]:
    """Return the iterations of the frames: all that any run has stored, and its last, evenly thinned to 80."""
    stored = {iteration for run in runs for iteration, _ in run.history}
    # A long run stores every second, fourth, eighth ... iterate; the last iterate may not be among them.
    iterations = sorted(stored | {int(run.rows[-1]["iteration"]) for run in runs if run.history and run.rows})
    if len(iterations) > MOST_FRAMES:
        iterations = [iterations[k] for k in np.linspace(0, len(iterations) - 1, MOST_FRAMES).round().astype(int)]
    return iterations


def moments(runs: Sequence[Recovery], time: str = "iteration") -> list[tuple[str, list[int]]]:
    """Return the name of each frame, and the iteration of each run at it; time: the clock, "iteration" or "seconds"."""
    if time == "iteration":
        return [(f"iteration {k}", [k] * len(runs)) for k in frame_iterations(runs)]
    last = max((run.rows[-1]["seconds"] for run in runs if run.rows), default=0.0)
    # Even steps of time, the first and the last one among them: the solvers race.
    clock = [*np.linspace(0.0, last, MOST_FRAMES)[1:]] if last > 0.0 else []
    return [(f"{now:.3g} s", [_iteration_at(run, now) for run in runs]) for now in clock]


def _iteration_at(run: Recovery, seconds: float) -> int:
    return int(max((row["iteration"] for row in run.rows if row["seconds"] <= seconds), default=0))


def run_at(run: Recovery, iteration: int) -> Recovery:
    """Return a run as it was after an iteration; at its end with its last estimate and the intervals of its entries."""
    if run.rows and iteration >= run.rows[-1]["iteration"]:
        return run
    count = bisect_right(run.history, iteration, key=itemgetter(0))
    estimate = run.comparable(run.history[count - 1][1]) if count else None
    rows = run.rows[: bisect_right(run.rows, iteration, key=itemgetter("iteration"))]
    return replace(run, rows=rows, estimate=estimate, intervals=None)


def frames(
    figure: Callable[[Sequence[Recovery]], Figure], runs: Sequence[Recovery], time: str = "iteration"
) -> list[Node]:
    """Return a frame for each of `moments`: the last traces, one per run, of the figure of the runs at that moment."""
    result = []
    for name, at in moments(runs, time):
        drawn = figure([run_at(run, k) for run, k in zip(runs, at, strict=True)])
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
