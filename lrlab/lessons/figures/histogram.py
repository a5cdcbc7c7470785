"""All eigenvalues of a pairwise moment at the slider's position, with the bulk, its edge and the spike of theory."""

from typing import Any

from lrlab.figures import build
from lrlab.figures.numbers import rounded
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import spec_at
from lrlab.spectra import pairwise

MOST_RATIO = 1e6
"""A threshold above this number of measurements per unknown is none: the gap is zero to rounding of t."""


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the largest eigenvalue, the edge of the bulk, the overlap, and what theory says of them."""
    spec, moment = spec_at(figure, at), figure.moment
    (values, overlap), limit = pairwise.eigenvalues(spec, moment), pairwise.prediction(spec, moment)
    return {
        "largest": float(values[-1]),
        "edge": limit.second,
        "gap": float(values[-1]) - limit.second,
        "overlap": overlap,
        "limit of overlap": limit.overlap,
        "limit of largest": limit.top,
        "threshold": limit.threshold,
        "ratio": spec.n / spec.p,
        "phi": spec.link_function.moments.phi,
    }


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the histogram, with the overlap of the leading eigenvector; its axis is the same for all positions."""
    spec, moment = spec_at(figure, at), figure.moment
    drawn = pairwise.histogram(spec, moment, [spec_at(figure, value) for value in figure.slider.values])
    _, overlap = pairwise.eigenvalues(spec, moment)
    words = f"squared overlap of the leading eigenvector: {rounded(overlap)}"
    end: dict[str, Any] = {"xref": "paper", "yref": "paper", "x": 1, "y": 1.02, "xanchor": "right", "yanchor": "bottom"}
    return drawn.add_annotation(text=words, **end)


def sentence(figure: Figure, at: float) -> str:
    """Return overlap, ratio and threshold."""
    result = numbers(figure, at)
    overlap = f"Squared overlap {rounded(result['overlap'])}, asymptotically {rounded(result['limit of overlap'])}"
    if result["threshold"] > MOST_RATIO:
        return f"{overlap}: this matrix has no gap here, whatever n/p."
    side = "above" if result["ratio"] > result["threshold"] else "below"
    threshold = f"the asymptotic threshold {rounded(result['threshold'])}"
    return f"{overlap}: n/p = {rounded(result['ratio'])} is {side} {threshold}."
