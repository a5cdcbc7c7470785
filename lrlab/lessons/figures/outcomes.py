"""The final errors of many draws at the slider's position, smallest first: who succeeds, and who ends elsewhere."""

import math

from lrlab.catalog import family
from lrlab.figures import build, theme
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import trial_values

HEIGHT, LEAST = 400, 1e-16


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return the number of draws of each series that end below the level."""
    level = figure.level
    return {one.label: float(sum(v < level for v in trial_values(figure, one, at))) for one in figure.series}


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return a marker for each draw, on a log axis, and the level of success."""
    drawn, level, looks = build.Figure(), figure.level, theme.looks(figure.labels)
    for one in figure.series:
        values = sorted(max(v, LEAST) if math.isfinite(v) else math.inf for v in trial_values(figure, one, at))
        drawn.add_scatter(
            x=list(range(1, len(values) + 1)),
            y=values,
            mode="markers",
            name=one.label,
            marker={"color": looks[one.label].color, "symbol": looks[one.label].symbol, "size": 9},
            hovertemplate=f"{one.label}: %{{y:.2g}}<extra></extra>",
        )
    theme.dashed(drawn, [0, figure.trials + 1], [level, level], name=f"success: below {level:g}")
    drawn.update_yaxes(type="log", range=[-16.5, 1.5])
    drawn.update_xaxes(range=[0, figure.trials + 1])
    metric = family(figure.spec.model).measures[figure.metric].title
    return theme.style(drawn, "trials, the best first", metric, height=HEIGHT)


def sentence(figure: Figure, at: float) -> str:
    """Return how many draws succeed."""
    result = numbers(figure, at)
    return "Success. " + "; ".join(f"{label}: {n:.0f} of {figure.trials}" for label, n in result.items()) + "."
