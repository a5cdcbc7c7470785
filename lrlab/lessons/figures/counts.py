"""Numbers of the spec along the slider: unknowns, measurements, bytes; without simulations."""

from lrlab.figures import build, theme
from lrlab.figures.numbers import rounded
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import spec_at
from lrlab.lessons.figures.scores import finished
from lrlab.protocol import Spec


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return each attribute of the spec at a position: a name, or several to be multiplied, as `d1 * d2`."""
    spec = spec_at(figure, at)
    return {label: _product(spec, words) for label, words in figure.attributes}


def _product(spec: Spec, words: str) -> float:
    product = 1.0
    for name in (part.strip() for part in words.split("*")):
        product *= float(name if name.isdigit() else getattr(spec, name))
    return product


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the numbers along the slider, or at one position, with marks at `at`."""
    drawn, labels = build.Figure(), [label for label, _ in figure.attributes]
    values = (at,) if alone else figure.slider.values
    result = [numbers(figure, value) for value in values]
    for label, look in theme.looks(labels).items():
        drawn.add_scatter(
            x=values,
            y=[one[label] for one in result],
            name=label,
            mode="lines+markers",
            line={"color": look.color},
            marker={"symbol": look.symbol, "size": [13 if v == at else 6 for v in values], "color": look.color},
        )
    drawn = finished(drawn, figure, "number")
    if figure.log_y:
        drawn.update_yaxes(dtick=1, range=None, autorange=True)
    return drawn


def sentence(figure: Figure, at: float) -> str:
    """Return the numbers at the slider's position."""
    return "; ".join(f"{label}: {rounded(number)}" for label, number in numbers(figure, at).items()) + "."
