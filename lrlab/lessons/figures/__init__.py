"""The kinds of live figures, a module each.

A module has `check(figure)`, which raises InputError where the kind lacks something; `names(figure)`, the numbers that
`numbers(figure, at)` computes at a position of the slider; `draw(figure, at)`, the figure there; `sentence(figure,
at)`, what it shows there in words; and, where `draw` shows other positions, too, `alone(figure, at)`, which does not.
"""

from importlib.resources import files

KINDS = tuple(
    sorted(
        file.name.removesuffix(".py")
        for file in files(__name__).iterdir()
        if file.name.endswith(".py") and not file.name.startswith("_")
    )
)
