"""The error of each iterate of several solvers, at the slider's position."""

import math

from lrlab.catalog import family
from lrlab.figures import build, convergence, theme
from lrlab.figures.ends import name_ends
from lrlab.figures.numbers import rounded
from lrlab.figures.recovery import Recovery
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import job, require_series, run

HEIGHT = 400
check = require_series


def names(figure: Figure) -> list[str]:
    """Return the labels of the series, and `iterations LABEL`."""
    return [*figure.labels, *(f"iterations {label}" for label in figure.labels)]


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the measure of each series' last iterate, and the number of its iterates."""
    result: dict[str, float] = {}
    measure = figure.get("measure", "error")
    for one in figure.series:
        rows = run(job(figure, one, at)).rows
        result |= {one.label: rows[-1][measure], f"iterations {one.label}": float(len(rows))}
    return result


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the measure against the iteration."""
    colors, symbols = theme.colors(figure.labels), theme.symbols(figure.labels)
    runs = [
        Recovery(one.label, colors[one.label], symbol=symbols[one.label], rows=run(job(figure, one, at)).rows)
        for one in figure.series
    ]
    measure, measures = figure.get("measure", "error"), family(figure.spec.model).measures
    log_y = bool(figure.get("log_y", True))
    drawn = convergence.curves(runs, measure, measures=measures, log_y=log_y, height=HEIGHT)
    longest = max((int(dict(one.settings).get("max_iter", 0)) for one in figure.series), default=0)
    if longest:
        drawn.update_xaxes(range=[0, longest + 1])
    drawn.update_layout(showlegend=True)
    if log_y:
        drawn.update_yaxes(range=[-16, math.log10(figure.get("most", 1e3))])
    elif figure.get("most"):
        drawn.update_yaxes(range=[0, figure.get("most")])
    return name_ends(drawn, figure.labels)


def sentence(figure: Figure, at: float) -> str:
    """Return how each run ended."""
    parts = []
    for one in figure.series:
        trace = run(job(figure, one, at))
        stop = trace.stop.name.replace("_", " ").replace("MAX ITER", "iteration limit").lower() if trace.stop else ""
        last = rounded(trace.rows[-1][figure.get("measure", "error")])
        parts.append(f"{one.label}: {last} after {trace.iterations} iterations ({stop})")
    return "; ".join(parts) + "."
