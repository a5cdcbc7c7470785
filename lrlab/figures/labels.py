"""Figures of labels and of ratings, and of fits to them: frequencies, correlations, scores, weights of features."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd

from lrlab.arrays import Array, Indices
from lrlab.figures import theme
from lrlab.figures.build import Figure, trace
from lrlab.figures.convergence import curves
from lrlab.figures.ends import name_ends
from lrlab.figures.factors import DIVERGING
from lrlab.figures.recovery import Recovery
from lrlab.models.multilabel import FAMILY

MOST_NAMES, MOST_POINT_NAMES = 32, 40
"""Most labels with names on an axis, and among points."""
NAME_LENGTH = 16
"""Characters of a name on an axis; the full name appears on hover."""
BASELINES = {
    "rmse_biases": ("biases alone", "dash"),
    "rmse_mean": ("the mean", "dot"),
    "recall@10_popularity": ("popularity", "dash"),
}


def frequencies(names: Sequence[str], counts: Indices, rows: int) -> Figure:
    """Return how many of the rows have each label, the most frequent first; on a logarithmic axis where that helps."""
    order = np.argsort(-counts, kind="stable")
    ordered, place = counts[order], np.arange(1, len(counts) + 1)
    figure = Figure()
    figure.add_bar(
        x=place,
        y=ordered,
        marker={"color": theme.PALETTE[0], "line": {"width": 0}},
        name="labels",
        customdata=[[as_text(names[j]), 100 * counts[j] / max(rows, 1)] for j in order],
        hovertemplate="%{customdata[0]}: %{y} rows, %{customdata[1]:.2g}%<extra></extra>",
    )
    # From two powers of ten on: a shorter logarithmic axis would have hardly a label.
    wide = ordered[0] >= 100 * max(1, ordered[-1])
    figure.update_yaxes(type="log" if wide else "linear", dtick=1 if wide else None)
    figure.update_xaxes(range=[0.4, len(counts) + 0.6])
    named = len(counts) <= MOST_NAMES
    if named:
        figure.update_xaxes(tickvals=place, ticktext=[shorten(names[j]) for j in order], tickangle=-50)
    title = "label" if named else "label, most frequent first"
    return theme.style(figure.update_layout(bargap=0.15), title, "rows with it", height=420)


def correlations(names: Sequence[str], phi: Array) -> Figure:
    """Return the correlations of labels as a heat map: red where two go together, blue where one excludes the other."""
    off_diagonal = phi.copy()
    # A label's correlation with itself is 1 and would set the scale.
    np.fill_diagonal(off_diagonal, np.nan)
    largest = float(np.nanmax(np.abs(off_diagonal))) if np.isfinite(off_diagonal).any() else 1.0
    place = np.arange(len(names))
    texts = [as_text(name) for name in names]
    pairs = [[[a, b] for b in texts] for a in texts]
    figure = Figure(
        trace(
            "heatmap",
            x=place,
            y=place,
            z=off_diagonal,
            zmin=-largest,
            zmax=largest,
            colorscale=DIVERGING,
            customdata=pairs,
            hoverongaps=False,
            colorbar={"title": {"text": "correlation", "side": "right"}, "thickness": 12},
            hovertemplate="%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>",
        )
    )
    ticktext = [shorten(name) for name in names]
    for update, look in ((figure.update_xaxes, {"tickangle": -50}), (figure.update_yaxes, {"autorange": "reversed"})):
        update(tickvals=place, ticktext=ticktext, tickfont_size=12, showgrid=False, **look)
    return theme.style(figure, "label", "label", height=480)


def both_sides(runs: Sequence[Recovery], measure: str, time: str) -> Figure:
    """Return a measure of every run on test rows and, dotted in the same colour, on its training rows."""
    sides = [replace(run, rows=[_of_training(row, measure) for row in run.rows], dash="dot") for run in runs]
    figure = curves([*runs, *sides], measure, time, measures=FAMILY.measures)
    # After the runs' own lines come those of training rows, each of which is one line, or a marker with a line.
    in_legend = set[str]()
    for one in figure.data:
        if one.name in in_legend:
            one["showlegend"] = False
        in_legend.update([one.name] if one.showlegend else [])
    return name_ends(figure, [run.title for run in runs])


def _of_training(row: Mapping[str, float], measure: str) -> dict[str, float]:
    return {"iteration": row["iteration"], "seconds": row["seconds"], measure: row.get(f"train_{measure}", math.nan)}


def as_text(name: str) -> str:
    """Return a name from outside as plotly shows it, which reads links and styles in texts, as HTML does."""
    return escape(name, quote=False)


def shorten(name: str) -> str:
    """Return a name for an axis, at most 16 characters; of a longer one both ends, for names often begin alike."""
    return as_text(name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH // 2]}…{name[1 - NAME_LENGTH // 2 :]}")


def reliability(table: pd.DataFrame, probability: bool) -> Figure:
    """Return the share of labels that are on over what is predicted, in bins; the diagonal for probabilities."""
    figure = Figure()
    if probability:
        theme.dashed(figure, [0, 1], [0, 1], theme.INK, name="calibrated", hover="calibrated")
    figure.add_scatter(
        x=table["predicted"],
        y=table["share"],
        mode="lines+markers",
        name="test rows",
        customdata=table["count"],
        line={"color": theme.PALETTE[0]},
        marker={"color": theme.PALETTE[0], "size": 8},
        hovertemplate="predicted %{x:.3g}: %{y:.3g} on, of %{customdata:,}<extra></extra>",
    )
    return theme.style(figure, "predicted" if probability else "score", "share that is on", height=380)


def label_map(names: Sequence[str], places: Array, counts: Array, chosen: int) -> Figure:
    """Return labels as points, larger where more rows have them; names of the most frequent ones and of the chosen."""
    figure, L = Figure(), len(names)
    named = {*np.argsort(-counts, kind="stable")[:MOST_POINT_NAMES].tolist(), chosen}
    sizes = 6 + 14 * np.sqrt(counts / max(1, counts.max(initial=0)))
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers+text",
        name="labels",
        showlegend=False,
        text=[shorten(names[j]) if j in named else "" for j in range(L)],
        textposition="top center",
        marker={"size": sizes, "color": [theme.PALETTE[1] if j == chosen else theme.PALETTE[0] for j in range(L)]},
        customdata=[[as_text(names[j]), int(counts[j])] for j in range(L)],
        hovertemplate="%{customdata[0]}: %{customdata[1]:,} rows<extra></extra>",
    )
    return theme.style(figure, "first component", "second component", height=480)


def bars(names: Sequence[str], values: Array, title: str) -> Figure:
    """Return one bar for each name, the first at the top: one colour above 0, another one below."""
    figure, places = Figure(), np.arange(len(names))
    figure.add_bar(
        x=values,
        y=places,
        orientation="h",
        showlegend=False,
        name=title,
        customdata=[as_text(name) for name in names],
        marker={"color": [theme.PALETTE[0] if value >= 0 else theme.PALETTE[1] for value in values]},
        hovertemplate="%{customdata}: %{x:.3g}<extra></extra>",
    )
    figure.update_yaxes(tickvals=places, ticktext=[shorten(name) for name in names], autorange="reversed")
    return theme.style(figure, title, "", height=120 + 24 * len(names))


def rating_errors(runs: Mapping[str, Sequence[Mapping[str, float]]], baselines: Mapping[str, float]) -> Figure:
    """Return the error of each run on test ratings by iteration, and dashed lines for the errors of known baselines.

    Of pairs without ratings it is the recall.
    """
    figure, measure = Figure(), "recall@10" if "recall@10_popularity" in baselines else "rmse"
    last = max([2, *(len(rows) for rows in runs.values())])
    colours, dashes = theme.colours(list(runs)), theme.dashes(list(runs))
    for name, rows in runs.items():
        figure.add_scatter(
            x=[row["iteration"] for row in rows],
            y=[row[measure] for row in rows],
            name=name,
            mode="lines+markers",
            line={"color": colours[name], "dash": dashes[name]},
            marker={"size": 5},
            hovertemplate=f"{name}, iteration %{{x}}: {measure} %{{y:.4f}}<extra></extra>",
        )
    for key, (words, dash) in BASELINES.items():
        if key not in baselines:
            continue
        value, look = baselines[key], {**theme.THEORY, "color": theme.INK, "dash": dash}
        figure.add_scatter(
            x=[1, last],
            y=[value, value],
            mode="lines",
            line=look,
            name=f"{words} ({value:.4f})",
            hovertemplate=f"{words}: {value:.4f}<extra></extra>",
        )
    return theme.style(figure, "iteration", f"{measure} on test ratings", height=380)
