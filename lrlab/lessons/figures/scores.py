"""A score of several solvers along the slider: means of trials up to its position, beside exact predictions."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.figures import build, theme
from lrlab.figures.convergence import prediction
from lrlab.lessons.definition import Figure, rounded
from lrlab.lessons.figures import require_series
from lrlab.lessons.trials import job, scores
from lrlab.parameters import display_name

HEIGHT, FINE = 400, 60
check = require_series


def names(figure: Figure) -> list[str]:
    """Return the labels of the series, of the lines of theory, and how far the first is above each of the others."""
    labels = figure.labels
    return [*labels, *(f"predicted {label}" for label in labels), "best", *(f"lead over {label}" for label in labels)]


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the mean score of each series, what theory predicts for it and for the best possible, and the leads."""
    result = {one.label: fmean(scores(figure, one, at)) for one in figure.series}
    result |= {f"lead over {one.label}": result[figure.series[0].label] - result[one.label] for one in figure.series}
    theory = _predicted(figure, at)
    return result | {name: value for name, value in theory.items() if not math.isnan(value)}


def _predicted(figure: Figure, at: float) -> dict[str, float]:
    measure, result = figure.get("measure", "error"), dict[str, float]()
    for one in figure.series:
        known = job(figure, one, at).predictions
        for name, prefix in ((f"predicted {one.label}", "predicted"), ("best", "best")):
            value = prediction(known, measure, prefix)
            result[name] = math.nan if value is None else value
    return result


@lru_cache(maxsize=64)
def _lines(figure: Figure) -> pd.DataFrame:
    """Return the predictions along the slider, finely where there are any and its positions are numbers of an axis."""
    values = figure.slider.values
    coarse = pd.DataFrame([{"at": at, **_predicted(figure, at)} for at in values])
    if figure.slider.setting or coarse.drop(columns="at").isna().all(axis=None):
        return coarse
    ends = float(min(values)), float(max(values))
    fine = (np.geomspace if figure.get("log_x") else np.linspace)(*ends, FINE)
    return pd.DataFrame([{"at": at, **_predicted(figure, at)} for at in fine])


def draw(figure: Figure, at: float) -> build.Figure:
    """Return the lines of theory along the whole slider, and the measured means up to its position."""
    drawn, lines = build.Figure(), _lines(figure)
    for label, colour in theme.colours(figure.labels).items():
        if lines[f"predicted {label}"].notna().any():
            theme.dashed(drawn, lines["at"], lines[f"predicted {label}"], colour)
    _means(drawn, figure, figure.slider.values[: figure.slider.values.index(at) + 1])
    if lines["best"].notna().any():
        look = {**theme.POPULATION, "width": 2.5}
        drawn.add_scatter(x=lines["at"], y=lines["best"], mode="lines", line=look, name="no method can do better")
    if any(lines[f"predicted {label}"].notna().any() for label in figure.labels):
        theme.dashed(drawn, [None], [None], name="theory")
    return _finished(drawn, figure)


def alone(figure: Figure, at: float) -> build.Figure:
    """Return the means at one position, without theory."""
    drawn = build.Figure()
    _means(drawn, figure, (at,))
    return _finished(drawn, figure)


def _finished(drawn: build.Figure, figure: Figure) -> build.Figure:
    return finished(drawn, figure, catalog.family(figure.spec.model).measures[figure.get("measure", "error")].title)


def _means(drawn: build.Figure, figure: Figure, shown: Sequence[Any]) -> None:
    colours, symbols = theme.colours(figure.labels), theme.symbols(figure.labels)
    for one in figure.series:
        results = [scores(figure, one, place) for place in shown]
        spread = [stdev(values) if len(values) > 1 else 0.0 for values in results]
        drawn.add_scatter(
            x=shown, y=[fmean(values) for values in results], name=one.label, mode="lines+markers",
            line={"width": 1, "dash": "dot", "color": colours[one.label]},
            error_y=None if figure.get("log_y") else {**theme.BARS, "array": spread},
            marker={"symbol": symbols[one.label], "color": colours[one.label],
                    "size": [8] * (len(shown) - 1) + [13], "opacity": 1},
            hovertemplate=f"{one.label}: %{{y:.3g}}<extra></extra>",
        )  # fmt: skip


def finished(drawn: build.Figure, figure: Figure, title: str) -> build.Figure:
    """Return a figure along the slider with axes that hold still whatever its position."""
    low, high = (f(figure.slider.values) for f in (min, max))
    scale = (lambda v: math.log10(v)) if figure.get("log_x") else float  # noqa: E731
    if not figure.slider.setting or not isinstance(low, str):
        margin = 0.04 * (scale(high) - scale(low))
        drawn.update_xaxes(range=[scale(low) - margin, scale(high) + margin])
        drawn.update_xaxes(tickvals=list(figure.slider.values) if len(figure.slider.values) <= 10 else None)
    drawn.update_xaxes(type=None if isinstance(low, str) else "log" if figure.get("log_x") else "linear")
    most = figure.get("most")
    if figure.get("log_y"):
        drawn.update_yaxes(type="log", range=[-16, math.log10(most or 100.0)])
    elif most:
        drawn.update_yaxes(range=[0, 1.03 * most])
    return theme.style(drawn.update_layout(showlegend=True), figure.slider.label, title, height=HEIGHT)


def sentence(figure: Figure, at: float) -> str:
    """Return the means at the slider's position."""
    result, name = numbers(figure, at), display_name(figure.get("measure", "error"))
    parts = []
    for one in figure.series:
        theory = result.get(f"predicted {one.label}")
        words = f" (predicted {rounded(theory)})" if theory else ""
        parts.append(f"{one.label}: {rounded(result[one.label])}{words}")
    draws = f", mean of {figure.trials} draws" if figure.trials > 1 else ""
    return f"{name[0].upper()}{name[1:]}{draws}. " + "; ".join(parts) + "."
