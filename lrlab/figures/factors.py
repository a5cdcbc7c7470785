"""Figures of low-rank matrices: heat maps of truth, estimate and difference, and singular values."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, trace
from lrlab.figures.picture import tiles
from lrlab.figures.recovery import Recovery, frames
from lrlab.lowrank import LowRank

SIDE = 48
"""Most rows and columns of a heat map; of larger matrices an evenly spaced subset is drawn."""

DIVERGING = "RdBu_r"
NAMES = ("truth", "estimate", "difference")
ROW = 168
TITLE_LINE = 26


def part(W: LowRank) -> Array:
    """Return the drawn rows and columns of a matrix, in single precision."""
    rows, columns = (np.linspace(0, n - 1, min(n, SIDE)).round().astype(int) for n in W.shape)
    return (W.left[rows] @ W.V[columns].T).astype(np.float32)


def matrices(truth: LowRank, runs: Sequence[Recovery]) -> Figure:
    """Return heat maps: truth, estimate and difference, one row per run, all on one scale symmetric about zero."""
    true_part, count = part(truth), max(1, len(runs))
    height = count * (ROW + TITLE_LINE) + 8
    titles = [title for run in runs for title in _titles(run, run.estimate is not None)] or ["truth", "", ""]
    scale = float(np.abs(true_part).max())
    look = {"zmin": -scale, "zmax": scale, "colorscale": DIVERGING, "hoverongaps": False}
    maps = [
        trace("heatmap", z=z, name=name, hovertemplate="row %{y}, column %{x}: %{z:.3g}", **look)
        for run in runs or [Recovery("")]
        for name, z in zip(NAMES, [true_part, *_estimate(truth, run.estimate)], strict=True)
    ]
    return tiles(maps, titles, len(NAMES), height=height, head=TITLE_LINE)


def _titles(run: Recovery, has_estimate: bool) -> tuple[str, str, str]:
    name = textwrap.shorten(run.title.partition(" (")[0], 22, placeholder="…")
    return "truth", name, "difference" if has_estimate else "waiting"


def _estimate(truth: LowRank, estimate: LowRank | None) -> tuple[Array, Array]:
    if estimate is None:
        nothing = np.full((min(SIDE, truth.shape[0]), min(SIDE, truth.shape[1])), np.nan, dtype=np.float32)
        return nothing, nothing
    z = part(estimate)
    return z, z - part(truth)


def matrix_frames(truth: LowRank, runs: Sequence[Recovery]) -> list[Node]:
    """Return the frames of `matrices`, one for each stored iteration."""

    def draw(estimates: Sequence[Any], iteration: int) -> dict[str, Any]:
        drawn = [trace("heatmap", z=z) for estimate in estimates for z in _estimate(truth, estimate)]
        return {"data": drawn, "traces": [3 * k + j for k in range(len(runs)) for j in (1, 2)]}

    return frames(runs, draw)


def singular_values(truth: LowRank | None, runs: Sequence[Recovery]) -> Figure:
    """Return singular values, those of the truth, if any, as dashes; signed eigenvalues of symmetric matrices."""
    figure = Figure()
    true = np.empty(0) if truth is None else truth.s
    # Eigenvalues of either sign are drawn with their sign; an estimate may hold them in another order than the truth.
    signed = truth is not None and (bool((true < 0).any()) or truth.U is truth.V)
    longest = max([len(true), 1, *(len(run.estimate.s) for run in runs if run.estimate is not None)])
    longest = min(longest, 4 * len(true) + 8) if len(true) else longest
    figure.add_scatter(
        x=np.arange(1, len(true) + 1), y=np.sort(true)[::-1], mode="markers", name="truth", hovertemplate="%{y:.4g}",
        marker={"color": theme.INK, "symbol": "line-ew-open", "size": 18, "line": {"width": 2}},
        showlegend=len(true) > 0,
    )  # fmt: skip
    for k, run in enumerate(runs):
        offset = 0.0 if len(runs) == 1 else 0.5 * (k / (len(runs) - 1) - 0.5)
        s = np.empty(0) if run.estimate is None else np.sort(run.estimate.s)[::-1][:longest]
        figure.add_scatter(
            x=np.arange(1, len(s) + 1) + offset, y=s, mode="markers", name=run.title, hovertemplate="%{y:.4g}",
            marker={"color": run.colour, "symbol": run.symbol, "size": 7}, showlegend=False,
        )  # fmt: skip
    word = "eigenvalue" if signed else "singular value"
    figure.update_xaxes(range=[0.4, longest + 0.6], dtick=1 if longest <= 12 else None)
    drawn = [0.0, *true, *(float(s) for run in runs if run.estimate is not None for s in run.estimate.s)]
    room = 0.08 * (max(drawn) - min(drawn))
    # From zero, lest differences of rounding fill the figure.
    figure.update_yaxes(range=[min(drawn) - room, max(drawn) + room])
    return theme.style(figure, f"{word}, largest first", word, height=260)
