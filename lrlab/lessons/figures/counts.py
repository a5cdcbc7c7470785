"""Numbers of the spec along the slider: unknowns, measurements, bytes; without simulations."""

from lrlab.figures import build, theme
from lrlab.figures.numbers import rounded
from lrlab.lessons.definition import Figure
from lrlab.lessons.figures import require_keys, spec_at
from lrlab.lessons.figures.scores import finished
from lrlab.parameters import InputError
from lrlab.protocol import Spec


def check(figure: Figure) -> None:
    """Refuse attributes that the spec has not."""
    require_keys(figure, "attributes")
    for label, _ in figure.get("attributes"):
        numbers(figure, figure.slider.start)[label]


def names(figure: Figure) -> list[str]:
    """Return the labels of the attributes."""
    return [label for label, _ in figure.get("attributes")]


def numbers(figure: Figure, at: float) -> dict[str, float]:
    """Return each attribute of the spec at a position: a name, or several to be multiplied, as `d1 * d2`."""
    spec = spec_at(figure, at)
    return {label: _product(spec, words) for label, words in figure.get("attributes")}


def _product(spec: Spec, words: str) -> float:
    product = 1.0
    for name in (part.strip() for part in words.split("*")):
        if not name.isdigit() and not hasattr(spec, name):
            raise InputError("attributes", f"of a spec of {spec.model}", name, "take a parameter or property of it")
        product *= float(name if name.isdigit() else getattr(spec, name))
    return product


def draw(figure: Figure, at: float, alone: bool = False) -> build.Figure:
    """Return the numbers along the slider, or at one position, with marks at `at`."""
    drawn, labels, values = build.Figure(), names(figure), (at,) if alone else figure.slider.values
    colors, symbols, result = theme.colors(labels), theme.symbols(labels), [numbers(figure, v) for v in values]
    for label in labels:
        drawn.add_scatter(
            x=values,
            y=[one[label] for one in result],
            name=label,
            mode="lines+markers",
            line={"color": colors[label]},
            marker={"symbol": symbols[label], "size": [13 if v == at else 6 for v in values], "color": colors[label]},
        )
    drawn = finished(drawn, figure, "number")
    if figure.get("log_y"):
        drawn.update_yaxes(dtick=1, range=None, autorange=True)
    return drawn


def sentence(figure: Figure, at: float) -> str:
    """Return the numbers at the slider's position."""
    return "; ".join(f"{label}: {rounded(number)}" for label, number in numbers(figure, at).items()) + "."
