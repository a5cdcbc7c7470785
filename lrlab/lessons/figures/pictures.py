"""The true image next to the solvers' estimates, at the slider's position."""

from lrlab.figures import build
from lrlab.figures.numbers import rounded
from lrlab.figures.picture import pictures
from lrlab.figures.recovery import Recovery
from lrlab.figures.runs import aligned
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import job, run, spec_at

HEIGHT = 300


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the error of each series."""
    return {one.label: run(job(figure, one, at)).rows[-1]["error"] for one in figure.series}


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the pictures in one row."""
    spec = spec_at(figure, at)
    truth = spec.build().truth
    traces = [(one.label, run(job(figure, one, at))) for one in figure.series]
    comparable = aligned(spec, truth)
    runs = [Recovery(label, rows=trace.rows, estimate=comparable(trace.estimate)) for label, trace in traces]
    return pictures(truth, runs, columns=len(runs) + 1, height=HEIGHT)


def sentence(figure: Figure, at: float) -> str:
    """Return the errors."""
    result = numbers(figure, at)
    return "Error. " + "; ".join(f"{label}: {rounded(result[label])}" for label in result) + "."
