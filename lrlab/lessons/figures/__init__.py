"""The kinds of live figures, a module each.

A module has `check(figure)`, which raises InputError if the kind lacks something; `numbers(figure, at)`, computed at a
position of the slider; `draw(figure, at, alone)`, the plot there, with or without other positions; `sentence(figure,
at)`, its message in words; and `names(figure)`, the names of the numbers, if these are not the labels of the series.
"""

from pkgutil import iter_modules

from lrlab.lessons.definition import Figure
from lrlab.parameters import InputError

KINDS = tuple(sorted(module.name for module in iter_modules(__path__)))


def require_series(figure: Figure) -> None:
    """Raise InputError if a figure has no series."""
    if not figure.series:
        raise InputError("series", "given", "nothing", "add a list of tables with label and solver to the figure")


def require_keys(figure: Figure, *keys: str) -> None:
    """Raise InputError if a figure lacks a key."""
    for key in keys:
        if figure.get(key) is None:
            raise InputError(key, "given", "nothing", f"add {key} to the figure")
