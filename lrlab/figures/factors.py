"""Figures of low-rank matrices: heat maps of truth, estimate and difference, and singular values."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lrlab.arrays import Array, Indices
from lrlab.figures import theme
from lrlab.figures.recovery import Recovery, frames
from lrlab.lowrank import LowRank

SIDE = 48
"""Most rows and columns of a heat map; of larger matrices an evenly spaced subset is drawn."""

DIVERGING = "RdBu_r"
ROW = 168
TITLE_LINE = 26


def drawn_indices(n: int) -> Indices:
    """Return the indices that are drawn of n rows or columns."""
    return np.arange(n) if n <= SIDE else np.linspace(0, n - 1, SIDE).round().astype(int)


def part(W: LowRank) -> Array:
    """Return the drawn rows and columns of a matrix, in single precision."""
    rows, columns = (drawn_indices(n) for n in W.shape)
    return (W.left[rows] @ W.V[columns].T).astype(np.float32)


def matrices(truth: LowRank, runs: Sequence[Recovery]) -> go.Figure:
    """Return heat maps: truth, estimate and difference, one row per run, all on one scale symmetric about zero."""
    true_part, count = part(truth), max(1, len(runs))
    height = count * (ROW + TITLE_LINE) + 8
    titles = [title for run in runs for title in _titles(run, run.estimate is not None)] or ["truth", "", ""]
    figure = make_subplots(
        count,
        3,
        subplot_titles=titles,
        horizontal_spacing=0.02,
        vertical_spacing=TITLE_LINE / height if count > 1 else 0,
    )
    scale = float(np.abs(true_part).max())
    for k, run in enumerate(runs or [Recovery("")]):
        for j, z in enumerate([true_part, *_estimate(truth, run.estimate)]):
            place = {"row": k + 1, "col": j + 1}
            figure.add_trace(_heatmap(z, scale, ("truth", "estimate", "difference")[j]), **place)
            rows, columns = true_part.shape
            # Ranges of their own: by itself, plotly reverses some axes when estimates replace the empty maps.
            figure.update_xaxes(visible=False, constrain="domain", range=[-0.5, columns - 0.5], **place)
            figure.update_yaxes(
                visible=False, constrain="domain", range=[rows - 0.5, -0.5],
                scaleanchor=f"x{3 * k + j + 1}" if k or j else "x", **place,
            )  # fmt: skip
    figure.update_annotations(font_size=12)
    theme.style(figure, height=height)
    return figure.update_layout(margin={"l": 4, "r": 4, "t": TITLE_LINE, "b": 4})


def _titles(run: Recovery, has_estimate: bool) -> tuple[str, str, str]:
    name = textwrap.shorten(run.title.partition(" (")[0], 22, placeholder="…")
    return "truth", name, "difference" if has_estimate else "waiting"


def _estimate(truth: LowRank, estimate: LowRank | None) -> tuple[Array, Array]:
    if estimate is None:
        nothing = np.full((min(SIDE, truth.shape[0]), min(SIDE, truth.shape[1])), np.nan, dtype=np.float32)
        return nothing, nothing
    z = part(estimate)
    return z, z - part(truth)


def _heatmap(z: Array, scale: float, name: str) -> go.Heatmap:
    return go.Heatmap(
        z=z, zmin=-scale, zmax=scale, colorscale=DIVERGING, showscale=False, name=name, hoverongaps=False,
        hovertemplate="row %{y}, column %{x}: %{z:.3g}",
    )  # fmt: skip


def matrix_frames(truth: LowRank, runs: Sequence[Recovery]) -> list[go.Frame]:
    """Return the frames of `matrices`, one for each stored iteration."""

    def draw(estimates: Sequence[Any], iteration: int) -> dict[str, Any]:
        drawn = [go.Heatmap(z=z) for estimate in estimates for z in _estimate(truth, estimate)]
        return {"data": drawn, "traces": [3 * k + j for k in range(len(runs)) for j in (1, 2)]}

    return frames(runs, draw)


def singular_values(truth: LowRank | None, runs: Sequence[Recovery], *, height: int = 260) -> go.Figure:
    """Return singular values, those of the truth, if any, as dashes; signed eigenvalues of symmetric matrices."""
    figure = go.Figure()
    true = np.empty(0) if truth is None else truth.s
    # Eigenvalues of either sign are drawn with their sign; an estimate may hold them in another order than the truth.
    signed = truth is not None and (bool((true < 0).any()) or truth.U is truth.V)
    longest = max([len(true), 1, *(len(run.estimate.s) for run in runs if run.estimate is not None)])
    longest = min(longest, 4 * len(true) + 8) if len(true) else longest
    figure.add_scatter(
        x=np.arange(1, len(true) + 1), y=ordered(true), mode="markers", name="truth", hovertemplate="%{y:.4g}",
        marker={"color": theme.INK, "symbol": "line-ew-open", "size": 18, "line": {"width": 2}},
        showlegend=len(true) > 0,
    )  # fmt: skip
    for k, run in enumerate(runs):
        offset = 0.0 if len(runs) == 1 else 0.5 * (k / (len(runs) - 1) - 0.5)
        s = np.empty(0) if run.estimate is None else ordered(run.estimate.s)[:longest]
        figure.add_scatter(
            x=np.arange(1, len(s) + 1) + offset, y=s, mode="markers", name=run.title, hovertemplate="%{y:.4g}",
            marker={"color": run.colour, "symbol": run.symbol, "size": 7}, showlegend=False,
        )  # fmt: skip
    word = "eigenvalue" if signed else "singular value"
    figure.update_xaxes(
        title_text=f"{word}, largest first", range=[0.4, longest + 0.6], dtick=1 if longest <= 12 else None
    )
    drawn = [0.0, *true, *(float(s) for run in runs if run.estimate is not None for s in run.estimate.s)]
    room = 0.08 * (max(drawn) - min(drawn))
    # From zero, lest differences of rounding fill the figure.
    figure.update_yaxes(title_text=word, range=[min(drawn) - room, max(drawn) + room])
    return theme.style(figure, height=height)


def ordered(s: Array) -> Array:
    """Return values, the largest first."""
    return np.sort(np.asarray(s, dtype=float))[::-1]
