"""Misprints of the papers: what is printed, what is right and why, and a figure, computed on demand, that shows it.

misprints.toml has the texts; LaTeX in `printed` and `right`. Its `figure` is a function of `formulas` or `runs`, which
are imported when the first figure is drawn.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files

from lrlab.figures.build import Figure
from lrlab.parameters import require_known
from lrlab.presets.papers import PAPERS, Paper
from lrlab.sweeps.toml_source import Keys, Source

_TEXTS = ("paper", "place", "printed", "right", "why", "figure")
_FILE = Keys({"misprints": [Keys(dict.fromkeys(_TEXTS, str), _TEXTS)]}, ("misprints",))
_MODULES = ("formulas", "runs")


@dataclass(frozen=True)
class Shown:
    """A figure, the sentence that names its numbers, and the two: (that of what is printed, that of what is right)."""

    figure: Figure
    caption: str
    numbers: tuple[float, float]


@dataclass(frozen=True)
class Misprint:
    """A misprint. paper: key of the paper; place: where it stands; printed, right: LaTeX; figure: its function."""

    paper: str
    place: str
    printed: str
    right: str
    why: str
    figure: str


@cache
def show(misprint: Misprint) -> Shown:
    """Compute the figure of a misprint, once; under two seconds."""
    modules = (import_module(f"{__name__}.{name}") for name in _MODULES)
    functions = {name: function for module in modules for name, function in module.FIGURES.items()}
    require_known(misprint.figure, functions, what="figure")
    shown: Shown = functions[misprint.figure]()
    return shown


@cache
def misprints() -> tuple[Misprint, ...]:
    """Return the misprints of the file, in its order."""
    source = Source(files(__name__).joinpath("misprints.toml").read_text("utf-8"), "misprints", "misprints.toml")
    source.check(_FILE, "the list of misprints")
    entries = tuple(
        Misprint(**{key: text.strip() for key, text in table.items()}) for table in source.content["misprints"]
    )
    for number, misprint in enumerate(entries):
        with source.locate(("misprints", number)):
            require_known(misprint.paper, PAPERS, what="paper")
    return entries


def by_paper() -> dict[Paper, list[Misprint]]:
    """Return the papers that have misprints, each with its own."""
    return {paper: own for key, paper in PAPERS.items() if (own := [m for m in misprints() if m.paper == key])}
