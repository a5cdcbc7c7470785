"""What kinds of figures ask of a lesson's figure: one sentence where it is missing."""

from lrlab.lessons.definition import Figure
from lrlab.parameters import InputError


def require_series(figure: Figure) -> None:
    """Raise InputError where a figure has no series."""
    if not figure.series:
        raise InputError("series", "given", "nothing", "add a list of tables with label and solver to the figure")


def require_keys(figure: Figure, *keys: str) -> None:
    """Raise InputError where a figure lacks a key."""
    for key in keys:
        if figure.get(key) is None:
            raise InputError(key, "given", "nothing", f"add {key} to the figure")
