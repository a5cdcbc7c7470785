"""Figures of low-rank matrices: heat maps of truth, estimate and difference, and singular values."""

import textwrap
from collections.abc import Sequence

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, merged, trace
from lrlab.figures.picture import tiles
from lrlab.figures.recovery import Recovery, frames
from lrlab.lowrank import LowRank

SIDE = 48
"""Most rows and columns of a heat map; of larger matrices an evenly spaced subset is drawn."""
DIVERGING = "RdBu_r"
ROUNDING = 1e-14
"""Values below this share of the largest are rounding errors."""
TITLE_LINE, BAR = 24, 34
"""Pixels of a title, and of the colour bar below."""


def part(W: LowRank) -> Array:
    """Return the drawn rows and columns of a matrix, in single precision."""
    rows, columns = (np.linspace(0, n - 1, min(n, SIDE)).round().astype(int) for n in W.shape)
    return (W.left[rows] @ W.V[columns].T).astype(np.float32)


def matrices(truth: LowRank, runs: Sequence[Recovery], *, height: int = 430) -> Figure:
    """Return heat maps of the truth and of each run's estimate, in two columns, with one colour bar below."""
    maps = [part(truth), *(_estimate(truth, run.estimate) for run in runs)]
    titles = ["truth", *(_title(run) if run.estimate is not None else f"{_title(run)}: waiting" for run in runs)]
    return _drawn(truth, maps, titles, ["truth", *(run.title for run in runs)], height)


def differences(truth: LowRank, runs: Sequence[Recovery], *, height: int = 260) -> Figure:
    """Return heat maps of estimate less truth, one for each run, on the scale of the truth."""
    maps = [_estimate(truth, run.estimate) - part(truth) for run in runs]
    return _drawn(truth, maps, [_title(run) for run in runs], [run.title for run in runs], height, columns=4)


def _drawn(
    truth: LowRank, maps: Sequence[Array], titles: Sequence[str], names: Sequence[str], height: int, columns: int = 2
) -> Figure:
    scale = float(np.abs(part(truth)).max())
    drawn = [
        trace("heatmap", z=z, name=name, hovertemplate="row %{y}, column %{x}: %{z:.3g}", hoverongaps=False)
        for name, z in zip(names, maps, strict=True)
    ]
    figure = tiles(drawn, titles, min(columns, len(maps)), height=height, head=TITLE_LINE)
    for one in figure.data:
        merged(one, {"coloraxis": "coloraxis", "showscale": None})
    bar = {"orientation": "h", "thickness": 9, "len": 0.8, "y": 0, "yref": "container", "yanchor": "bottom"}
    look = {"colorscale": DIVERGING, "cmin": -scale, "cmax": scale, "colorbar": {**bar, "nticks": 5, "ticklen": 3}}
    return figure.update_layout(coloraxis=look, margin={"l": 4, "r": 4, "t": TITLE_LINE, "b": BAR})


def _title(run: Recovery) -> str:
    return textwrap.shorten(run.title.partition(" (")[0], 22, placeholder="…")


def _estimate(truth: LowRank, estimate: LowRank | None) -> Array:
    if estimate is None:
        return np.full([min(SIDE, size) for size in truth.shape], np.nan, dtype=np.float32)
    return part(estimate)


def matrix_frames(truth: LowRank, runs: Sequence[Recovery]) -> list[Node]:
    """Return the frames of `matrices`, one for each stored iteration."""
    return frames(runs, lambda estimates: [trace("heatmap", z=_estimate(truth, estimate)) for estimate in estimates])


def singular_values(truth: LowRank | None, runs: Sequence[Recovery], *, height: int = 260) -> Figure:
    """Return singular values on a log axis, those of the truth, if any, as dashes.

    Of symmetric matrices the sizes of their eigenvalues; those that are negative have open markers.
    """
    figure = Figure()
    true = np.empty(0) if truth is None else truth.s
    # Eigenvalues of either sign are drawn by size; an estimate may hold them in another order than the truth.
    signed = truth is not None and (bool((true < 0).any()) or truth.U is truth.V)
    values = [np.empty(0) if run.estimate is None else _by_size(run.estimate.s) for run in runs]
    longest = max([len(true), 1, *map(len, values)])
    longest = min(longest, 4 * len(true) + 8) if len(true) else longest
    largest = max([float(np.abs(s).max(initial=0.0)) for s in (true, *values)])
    figure.add_scatter(
        x=np.arange(1, len(true) + 1),
        y=np.abs(_by_size(true)),
        mode="markers",
        name="truth",
        hovertemplate="%{y:.4g}",
        showlegend=len(true) > 0,
        marker={"color": theme.INK, "symbol": "line-ew-open", "size": 18, "line": {"width": 2}},
    )
    for k, (run, s) in enumerate(zip(runs, values, strict=True)):
        offset, s = 0.0 if len(runs) == 1 else 0.5 * (k / (len(runs) - 1) - 0.5), s[:longest]
        # Rounding errors are no values.
        sizes = np.where(np.abs(s) > ROUNDING * largest, np.abs(s), np.nan)
        symbols = [run.symbol + ("-open" if value < 0 else "") for value in s]
        figure.add_scatter(
            x=np.arange(1, len(s) + 1) + offset,
            y=sizes,
            mode="markers",
            name=run.title,
            customdata=s,
            hovertemplate="%{customdata:.4g}",
            showlegend=False,
            marker={"color": run.colour, "symbol": symbols or run.symbol, "size": 7},
        )
    word = "size of the eigenvalue" if signed else "singular value"
    figure.update_xaxes(range=[0.4, longest + 0.6], dtick=1 if longest <= 12 else None)
    figure.update_yaxes(type="log")
    return theme.style(figure, f"{word}, largest first", word, height=height)


def _by_size(s: Array) -> Array:
    return s[np.argsort(-np.abs(s), kind="stable")]
