"""Figures of low-rank matrices: heat maps of truth, estimate and difference, and singular values."""

import math
import textwrap
from collections.abc import Sequence

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, merged, trace
from lrlab.figures.picture import tiles
from lrlab.figures.recovery import Recovery
from lrlab.lowrank import LowRank

SIDE = 48
"""Most rows and columns of a heat map; a larger matrix shows an evenly spaced subset."""
DIVERGING = "RdBu_r"
ROUNDING = 1e-14
"""Values below this share of the largest are rounding errors."""
AT_ROUNDING = 1e-12
"""Differences below this share of the largest entry are what rounding leaves of an exact recovery."""
LEAST_RATIO = 10.0
"""Least ratio of the ends of the axis of singular values: equal ones then lie on a line, rather than on their rounding
errors."""
TITLE_LINE, TITLE_GAP, BAR = 16, 8, 34
"""Pixels of a line of a title, of the gap below it, and of the color bar below."""
COLUMNS = {2: 24, 4: 13}
"""Characters of a line of a title, by the number of columns."""


def part(W: LowRank) -> Array:
    """Return the drawn rows and columns of a matrix, in single precision."""
    return _part(W).astype(np.float32)


def _part(W: LowRank) -> Array:
    rows, columns = (np.linspace(0, n - 1, min(n, SIDE)).round().astype(int) for n in W.shape)
    return W.left[rows] @ W.V[columns].T


def matrices(truth: LowRank, runs: Sequence[Recovery], *, height: int = 430) -> Figure:
    """Return heat maps of the truth and of each run's estimate, in two columns, with one color bar below."""
    maps = [part(truth), *(_estimate(truth, run.estimate) for run in runs)]
    titles = ["truth", *(f"{_title(run)}{': waiting' * (run.estimate is None)}" for run in runs)]
    figure = _drawn(maps, titles, ["truth", *(run.title for run in runs)], height, columns=2)
    scale = float(np.abs(maps[0]).max())
    for one in figure.data:
        merged(one, {"coloraxis": "coloraxis", "showscale": None})
    bar = {"orientation": "h", "thickness": 9, "len": 0.8, "y": 0, "yref": "container", "yanchor": "bottom"}
    look = {"colorscale": DIVERGING, "cmin": -scale, "cmax": scale, "colorbar": {**bar, "nticks": 5, "ticklen": 3}}
    return figure.update_layout(coloraxis=look, margin={"b": BAR})


def differences(truth: LowRank, runs: Sequence[Recovery], *, height: int = 260) -> Figure:
    """Return heat maps of estimate less truth, one for each run, each on its own scale, which its title names."""
    true = _part(truth)
    # In double precision, which shows the rounding errors.
    maps = [_part(run.estimate) - true if run.estimate else _estimate(truth, None) for run in runs]
    reaches = [float(np.abs(z).max()) for z in maps]
    sizes = [_reach(reach, float(np.abs(true).max())) for reach in reaches]
    figure = _drawn(maps, [_title(run) for run in runs], [run.title for run in runs], height, columns=4, below=sizes)
    for one, reach in zip(figure.data, reaches, strict=True):
        scale = reach if reach > 0 else 1.0
        merged(one, {"colorscale": DIVERGING, "zmin": -scale, "zmax": scale})
    return figure


def _drawn(
    maps: Sequence[Array],
    titles: Sequence[str],
    names: Sequence[str],
    height: int,
    *,
    columns: int,
    below: Sequence[str] = (),
) -> Figure:
    """Return heat maps, each below its whole title, and a line below that."""
    lines = [textwrap.wrap(title, COLUMNS[columns]) for title in titles]
    lines = [[*one, *below[k : k + 1]] for k, one in enumerate(lines)]
    head = TITLE_LINE * max(map(len, lines)) + TITLE_GAP
    drawn = [
        trace("heatmap", z=z, name=name, hovertemplate="row %{y}, column %{x}: %{z:.3g}", hoverongaps=False)
        for name, z in zip(names, maps, strict=True)
    ]
    return tiles(drawn, ["<br>".join(one) for one in lines], min(columns, len(maps)), height=height, head=head)


def _title(run: Recovery) -> str:
    return run.title.partition(" (")[0]


def _reach(reach: float, true: float) -> str:
    """Return the largest difference of an estimate in words; or call it a rounding error."""
    if not reach >= 0:
        return "waiting"
    return f"at rounding: {reach:.0e}" if reach < AT_ROUNDING * true else f"up to {reach:.1g}"


def _estimate(truth: LowRank, estimate: LowRank | None) -> Array:
    if estimate is None:
        return np.full([min(SIDE, size) for size in truth.shape], np.nan, dtype=np.float32)
    return part(estimate)


def singular_values(truth: LowRank | None, runs: Sequence[Recovery], *, height: int = 260) -> Figure:
    """Return singular values on a log axis, with the ground truth's, if any, as dashes.

    Of symmetric matrices the sizes of their eigenvalues; those that are negative have open markers.
    """
    figure = Figure()
    true = np.empty(0) if truth is None else truth.s
    # Eigenvalues of either sign are sorted by size; an estimate may order them differently from the truth.
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
        # Rounding errors do not count as values.
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
            marker={"color": run.color, "symbol": symbols or run.symbol, "size": 7},
        )
    word = "size of the eigenvalue" if signed else "singular value"
    figure.update_xaxes(range=[0.4, longest + 0.6], dtick=1 if longest <= 12 else None)
    shown = [size for one in figure.data for size in one.y if size > 0]
    if shown and max(shown) < LEAST_RATIO * min(shown):
        middle = (math.log10(min(shown)) + math.log10(max(shown))) / 2
        figure.update_yaxes(range=[middle - math.log10(LEAST_RATIO) / 2, middle + math.log10(LEAST_RATIO) / 2])
    figure.update_yaxes(type="log")
    return theme.style(figure, f"{word}, largest first", word, height=height)


def _by_size(s: Array) -> Array:
    return s[np.argsort(-np.abs(s), kind="stable")]
