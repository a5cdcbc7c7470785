"""Figures of fitted label models: reliability, a map of labels, bars of weights and contributions."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.labels import shorten

MOST_NAMES = 40


def reliability(table: pd.DataFrame, probability: bool) -> Figure:
    """Return the share of labels that are on over what is predicted, in bins; the diagonal for probabilities."""
    figure = Figure()
    if probability:
        theme.dashed(figure, [0, 1], [0, 1], theme.INK, name="calibrated", hover="calibrated")
    figure.add_scatter(
        x=table["predicted"], y=table["share"], mode="lines+markers", name="test rows", customdata=table["count"],
        line={"color": theme.PALETTE[0]}, marker={"color": theme.PALETTE[0], "size": 8},
        hovertemplate="predicted %{x:.3g}: %{y:.3g} on, of %{customdata:,}<extra></extra>",
    )  # fmt: skip
    return theme.style(figure, "predicted" if probability else "score", "share that is on", height=380)


def label_map(names: Sequence[str], places: Array, counts: Array, chosen: int) -> Figure:
    """Return labels as points, larger where more rows have them; names of the most frequent ones and of the chosen."""
    figure, L = Figure(), len(names)
    named = {*np.argsort(-counts, kind="stable")[:MOST_NAMES].tolist(), chosen}
    sizes = 6 + 14 * np.sqrt(counts / max(1, counts.max(initial=0)))
    figure.add_scatter(
        x=places[:, 0], y=places[:, 1], mode="markers+text", name="labels", showlegend=False,
        text=[shorten(names[j]) if j in named else "" for j in range(L)], textposition="top center",
        marker={"size": sizes, "color": [theme.PALETTE[1] if j == chosen else theme.PALETTE[0] for j in range(L)]},
        customdata=[[names[j], int(counts[j])] for j in range(L)],
        hovertemplate="%{customdata[0]}: %{customdata[1]:,} rows<extra></extra>",
    )  # fmt: skip
    return theme.style(figure, "first component", "second component", height=480)


def bars(names: Sequence[str], values: Array, title: str) -> Figure:
    """Return one bar for each name, the first at the top: one colour above 0, another one below."""
    figure, places = Figure(), np.arange(len(names))
    figure.add_bar(
        x=values, y=places, orientation="h", showlegend=False, name=title, customdata=list(names),
        marker={"color": [theme.PALETTE[0] if value >= 0 else theme.PALETTE[1] for value in values]},
        hovertemplate="%{customdata}: %{x:.3g}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(tickvals=places, ticktext=[shorten(name) for name in names], autorange="reversed")
    return theme.style(figure, title, "", height=120 + 24 * len(names))
