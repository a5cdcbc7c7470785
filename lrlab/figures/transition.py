"""A phase transition as a map: what was measured in each cell, what was not yet, and where theory draws the line."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from lrlab.figures import theme

Array = NDArray[Any]


class Scale(NamedTuple):
    """An axis of the map: its title, the values of its cells in rising order, and "linear" or "log"."""

    title: str
    values: Sequence[float]
    spacing: str = "linear"

    @property
    def edges(self) -> Array:
        """Where cells meet: halfway between values, on the axis' own scale, (len(values) + 1,)."""
        v = np.log(self.values) if self.spacing == "log" else np.asarray(self.values, dtype=float)
        if len(v) == 1:
            inner = np.array([v[0] - 0.5, v[0] + 0.5])
        else:
            middle = (v[1:] + v[:-1]) / 2.0
            inner = np.concatenate([[2 * v[0] - middle[0]], middle, [2 * v[-1] - middle[-1]]])
        return np.exp(inner) if self.spacing == "log" else inner


def transition(
    cells: pd.DataFrame, x: Scale, y: Scale, lines: pd.DataFrame | None = None, *, measure: str = "mean overlap"
) -> go.Figure:
    """Return the map of a mean score, or of a share of successes, in 0..1 over two axes.

    cells: one row a measured cell, with columns x, y, mean, spread (standard deviation over trials), trials, and low
    and high, the interval of a share. A cell without a row, or without trials, is marked as not measured. lines: named
    points line, x, y of what theory draws, each line's points in order, apart by a row of nan.
    """
    shape = (len(y.values), len(x.values))
    mean, told = np.full(shape, np.nan), np.empty((*shape, 7))
    told[..., 0], told[..., 1] = np.meshgrid(x.values, y.values)
    told[..., 2:], told[..., 4] = np.nan, 0
    column, row = ({value: k for k, value in enumerate(axis.values)} for axis in (x, y))
    for cell in cells.itertuples():
        if cell.trials:
            place = row[cell.y], column[cell.x]
            mean[place] = cell.mean
            interval = getattr(cell, "low", np.nan), getattr(cell, "high", np.nan)
            told[place][2:] = cell.mean, cell.spread, cell.trials, *interval
    figure = go.Figure()
    _add_cells(figure, mean, told, x, y, measure)
    _add_unmeasured(figure, told)
    if lines is not None and len(lines):
        _add_lines(figure, lines)
    for axis, update in ((x, figure.update_xaxes), (y, figure.update_yaxes)):
        ends = np.log10(axis.edges[[0, -1]]) if axis.spacing == "log" else axis.edges[[0, -1]]
        update(title_text=axis.title, type=axis.spacing, range=list(ends), showgrid=False)
    return theme.style(figure, height=520, revision=f"{x.title} {y.title}")


def _add_lines(figure: go.Figure, lines: pd.DataFrame) -> None:
    for k, (name, points) in enumerate(lines.groupby("line", sort=False)):
        look = {"x": points["x"], "y": points["y"], "mode": "lines", "name": name}
        figure.add_scatter(**look, line={"color": "#ffffff", "width": 5}, showlegend=False, hoverinfo="skip")
        figure.add_scatter(
            **look, line={"color": theme.PALETTE[1 + 2 * k], "width": 2.5, "dash": theme.DASHES[k % len(theme.DASHES)]},
            hovertemplate=f"{name} at %{{x:.4g}}, %{{y:.4g}}<extra></extra>", showlegend=True,
        )  # fmt: skip


def _add_cells(figure: go.Figure, mean: Array, told: Array, x: Scale, y: Scale, measure: str) -> None:
    title = {"text": measure, "side": "right", "font": {"size": 13}}
    share = bool(np.isfinite(told[..., 5]).any())
    spread = "95% interval %{customdata[5]:.2f} to %{customdata[6]:.2f}" if share else "spread %{customdata[3]:.3f}"
    figure.add_heatmap(
        x=x.edges, y=y.edges, z=mean, customdata=told, zmin=0.0, zmax=1.0, colorscale=theme.SEQUENTIAL, name="measured",
        hoverongaps=False, xgap=1, ygap=1,
        colorbar={"title": title, "thickness": 12, "outlinewidth": 0},
        hovertemplate=f"{measure} %{{customdata[2]:.3f}}<br>{spread} over "
        "%{customdata[4]} trials<br>at %{customdata[0]:.4g}, %{customdata[1]:.4g}<extra></extra>",
    )  # fmt: skip


def _add_unmeasured(figure: go.Figure, told: Array) -> None:
    waiting = told[told[..., 4] == 0]
    figure.add_scatter(
        x=waiting[:, 0], y=waiting[:, 1], mode="markers", name="not measured yet", showlegend=len(waiting) > 0,
        marker={"symbol": "x-thin", "size": 5, "line": {"width": 1, "color": theme.INK}},
        hovertemplate="not measured yet<extra></extra>",
    )  # fmt: skip
