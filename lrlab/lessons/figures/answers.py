"""The responses of a single-index model against the projection <x, b>, with the mean response: the link."""

import numpy as np

from lrlab.figures import build, theme
from lrlab.figures.numbers import rounded
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import spec_at

SHOWN, REACH, BINS, HEIGHT = 300, 3.0, 13, 380


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the mean of y <x, b>, its expectation mu_1, and the fraction of responses that are not sign<x, b>."""
    spec = spec_at(figure, at)
    problem = spec.build()
    index = problem.X @ problem.truth
    wrong = float(np.mean(np.sign(index) != problem.y))
    return {"correlation": float(np.mean(problem.y * index)), "mu1": spec.link_function.moments.mu1, "wrong": wrong}


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the first responses as marks, their means in bins, and the link function."""
    spec, drawn = spec_at(figure, at), build.Figure()
    problem = spec.build()
    index, z = problem.X @ problem.truth, np.linspace(-REACH, REACH, 241)
    jitter = 0.06 * np.random.default_rng(0).standard_normal(SHOWN)
    drawn.add_scatter(
        x=index[:SHOWN],
        y=problem.y[:SHOWN] + jitter[: spec.n],
        mode="markers",
        name="responses yᵢ",
        hoverinfo="skip",
        marker={"size": 4, "color": theme.faint(theme.PALETTE[0], 0.5)},
    )
    ends = np.linspace(-REACH, REACH, BINS + 1)
    places = np.digitize(index, ends)
    bins = [(k, problem.y[places == k]) for k in range(1, BINS + 1)]
    drawn.add_scatter(
        x=[(ends[k - 1] + ends[k]) / 2 for k, y in bins if len(y)],
        y=[float(y.mean()) for _, y in bins if len(y)],
        mode="markers",
        name=f"means of all {spec.n:,} responses",
        marker={"size": 9, "color": theme.PALETTE[1]},
    )
    theme.dashed(drawn, z, spec.link_function(z), name="link f, the expected response")
    drawn.update_xaxes(range=[-REACH, REACH])
    drawn.update_yaxes(range=[-1.25, 1.25], tickvals=[-1, 0, 1])
    return theme.style(drawn, "projection ⟨x, b⟩", "response y", height=HEIGHT)


def sentence(figure: Figure, at: float) -> str:
    """Return the mean of y <x, b> and its expectation."""
    result = numbers(figure, at)
    return f"Mean of y⟨x, b⟩: {rounded(result['correlation'])}, expected {rounded(result['mu1'])}."
