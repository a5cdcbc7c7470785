"""The error of each iterate of several solvers, at the slider's position."""

import math

from lrlab.catalog import family
from lrlab.figures import build, convergence, theme
from lrlab.figures.numbers import rounded
from lrlab.figures.recovery import Recovery
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import job, run
from lrlab.parameters import counted

HEIGHT = 400


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the metric of each series' last iterate, and the number of its iterates."""
    result: dict[str, float] = {}
    metric = figure.metric
    for one in figure.series:
        rows = run(job(figure, one, at)).rows
        result |= {one.label: rows[-1][metric], f"iterations {one.label}": float(len(rows))}
    return result


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the metric against the iteration."""
    looks = theme.looks(figure.labels)
    runs = [Recovery(one.label, *looks[one.label], rows=run(job(figure, one, at)).rows) for one in figure.series]
    metric, measures = figure.metric, family(figure.spec.model).measures
    drawn = convergence.curves(runs, metric, measures=measures, log_y=True, height=HEIGHT)
    longest = max((int(dict(one.settings).get("max_iter", 0)) for one in figure.series), default=0)
    if longest:
        drawn.update_xaxes(range=[0, longest + 1])
    drawn.update_layout(showlegend=True).update_yaxes(range=[-16, math.log10(figure.most or 1e3)])
    return theme.name_ends(drawn, figure.labels)


def sentence(figure: Figure, at: float) -> str:
    """Return how each run ended."""
    parts = []
    for one in figure.series:
        trace = run(job(figure, one, at))
        stop = trace.stop.name.replace("_", " ").replace("MAX ITER", "iteration limit").lower() if trace.stop else ""
        last = rounded(trace.rows[-1][figure.metric])
        parts.append(f"{one.label}: {last} after {counted(trace.iterations, 'iteration')} ({stop})")
    return "; ".join(parts) + "."
