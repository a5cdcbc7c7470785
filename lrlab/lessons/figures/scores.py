"""A score of several solvers along the slider: replicates and their means up to its position, and predictions."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.figures import build, theme
from lrlab.figures.convergence import prediction
from lrlab.figures.numbers import rounded
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import job, trial_values
from lrlab.parameters import display_name
from lrlab.runs import theory

HEIGHT, FINE = 400, 60
ALL_METHODS = "information-theoretic limit"
WHOLE = ("bits", "bits-at-budget")
"""Axes that have no positions between whole numbers."""


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the mean score of each series, what theory says of it and of all methods, and the leads."""
    result = {one.label: fmean(trial_values(figure, one, at)) for one in figure.series}
    result |= {f"lead over {one.label}": result[figure.series[0].label] - result[one.label] for one in figure.series}
    said = {**_limits(figure, at), **_predicted(figure, at)}
    return result | {name: value for name, value in said.items() if math.isfinite(value)}


def _limits(figure: Figure, at: float) -> dict[str, float]:
    """Return the asymptotic limits of each series and of all methods; nan without any."""
    metric, result = figure.metric, dict[str, float]()
    for one in figure.series:
        known = theory.predictions(job(figure, one, at), sampled=False)
        for name, prefix in ((f"limit of {one.label}", "limit"), (ALL_METHODS, "limit_best")):
            value = prediction(known, metric, prefix)
            result[name] = math.nan if value is None else value
    return result


def _predicted(figure: Figure, at: float) -> dict[str, float]:
    """Return mean and band of each series at the figure's own sizes; nan if unknown."""
    metric, result = figure.metric, dict[str, float]()
    for one in figure.series:
        known = theory.exact_predictions(job(figure, one, at))
        for end in ("", "_low", "_high"):
            result[f"predicted {one.label}{end}"] = known.get(f"predicted_{metric}{end}", math.nan)
    return result


@lru_cache(maxsize=64)
def _lines(figure: Figure) -> pd.DataFrame:
    """Return predictions at the slider's positions, and limits, finely if the positions are numbers of an axis."""
    values: Sequence[Any] = figure.slider.values
    predicted = [{"at": at, **_predicted(figure, at)} for at in values]
    if not figure.slider.setting and any(math.isfinite(v) for at in values for v in _limits(figure, at).values()):
        ends = float(min(values)), float(max(values))
        values = (np.geomspace if figure.log_x else np.linspace)(*ends, FINE).tolist()
        if figure.slider.name in WHOLE:
            values = list(range(int(ends[0]), int(ends[1]) + 1))
    return pd.DataFrame([*predicted, *({"at": at, **_limits(figure, at)} for at in values)])


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the lines of theory along the whole slider, and the measurements up to its position.

    It begins where the figure began before the question, so that the way from there to its answer is visible. alone:
    only the measurements at one position.
    """
    drawn, values = build.Figure(), figure.slider.values
    first, last = sorted((values.index(at), values.index(at if alone else figure.slider.before or values[0])))
    lines = pd.DataFrame() if alone else _lines(figure)
    known = {name: lines.dropna(subset=[name]) for name in lines if lines[name].notna().any()}
    for label, (color, *_) in theme.looks(figure.labels).items():
        predicted, limit = f"predicted {label}", f"limit of {label}"
        if predicted in known:
            x, middle, low, high = (
                known[predicted][name] for name in ("at", predicted, f"{predicted}_low", f"{predicted}_high")
            )
            theme.band(drawn, x, low, high, color)
            theme.dashed(drawn, x, middle, color)
        if limit in known:
            words = f"asymptotic limit of {label}"
            theme.asymptote(drawn, known[limit]["at"], known[limit][limit], color, words, legend=False)
    _means(drawn, figure, values[first : last + 1], at)
    if ALL_METHODS in known:
        all_methods = known[ALL_METHODS]
        look: dict[str, Any] = {"name": ALL_METHODS, "hover": f"{ALL_METHODS}: %{{y:.4g}}", "dash": "longdashdot"}
        theme.line(drawn, all_methods["at"], all_methods[ALL_METHODS], **look)
    if any(name.startswith("predicted") for name in known):
        theme.dashed(drawn, [None], [None], name="finite-size theory, 80% of trials")
    if any(name.startswith("limit of") for name in known):
        theme.asymptote(drawn, [None], [None], name="asymptotic limits", legend=True)
    return finished(drawn, figure, catalog.family(figure.spec.model).measures[figure.metric].title)


def _means(drawn: build.Figure, figure: Figure, shown: Sequence[Any], at: Any) -> None:
    """Add a small mark for each draw, and a large one for their mean, the largest at the slider's position."""
    looks = theme.looks(figure.labels)
    for one in figure.series:
        results, (color, _, symbol) = [trial_values(figure, one, place) for place in shown], looks[one.label]
        if figure.trials > 1:
            drawn.add_scatter(
                x=[place for place in shown for _ in range(figure.trials)],
                y=[value for values in results for value in values],
                mode="markers",
                legendgroup=one.label,
                showlegend=False,
                hoverinfo="skip",
                marker={"size": 4, "color": theme.faint(color, 0.6), "symbol": symbol},
            )
        drawn.add_scatter(
            x=shown,
            y=[fmean(values) for values in results],
            name=one.label,
            mode="lines+markers",
            legendgroup=one.label,
            line={"width": 1, "dash": "dot", "color": color},
            marker={
                "symbol": symbol,
                "color": color,
                "size": [13 if place == at else 8 for place in shown],
                "opacity": 1,
            },
            hovertemplate=f"{one.label}: %{{y:.3g}}<extra></extra>",
        )


def finished(drawn: build.Figure, figure: Figure, title: str) -> build.Figure:
    """Return a figure along the slider with axes that hold still whatever its position."""
    low, high = (f(figure.slider.values) for f in (min, max))
    scale = (lambda v: math.log10(v)) if figure.log_x else float  # noqa: E731
    if not figure.slider.setting or not isinstance(low, str):
        margin = 0.04 * (scale(high) - scale(low))
        drawn.update_xaxes(range=[scale(low) - margin, scale(high) + margin])
        drawn.update_xaxes(tickvals=list(figure.slider.values) if len(figure.slider.values) <= 10 else None)
    drawn.update_xaxes(type=None if isinstance(low, str) else "log" if figure.log_x else "linear")
    if figure.log_y:
        drawn.update_yaxes(type="log", range=[-16, math.log10(figure.most or 100.0)])
    elif figure.most:
        drawn.update_yaxes(range=[0, 1.03 * figure.most])
    theme.style(drawn.update_layout(showlegend=True), figure.slider.label, title, height=HEIGHT)
    return drawn if isinstance(low, str) else theme.name_ends(drawn, figure.labels)


def sentence(figure: Figure, at: float) -> str:
    """Return the means at the slider's position."""
    result, name = numbers(figure, at), display_name(figure.metric)
    parts = []
    for one in figure.series:
        predicted, limit = (result.get(f"{kind} {one.label}") for kind in ("predicted", "limit of"))
        words = f" (predicted {rounded(predicted)})" if predicted else ""
        words = f" (asymptotic limit {rounded(limit)})" if limit and not words else words
        parts.append(f"{one.label}: {rounded(result[one.label])}{words}")
    draws = f", mean of {figure.trials} trials (the small marks)" if figure.trials > 1 else ""
    return f"{name[0].upper()}{name[1:]}{draws}. " + "; ".join(parts) + "."
