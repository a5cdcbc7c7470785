"""What `pip install lrlab` leaves out: one sentence with the command that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from lrlab.parameters import InputError

EXTRAS = {
    "streamlit": ("streamlit", "the pages", "app"),
    "distributed": ("dask[distributed]", "sweeps and runs on workers", "engine"),
    "sklearn": ("scikit-learn", "fits to your data, images of digits and some solvers", "fit"),
    "PIL": ("pillow", "images", "fit"),
    "anywidget": ("anywidget", "figures that move in notebooks", "notebook"),
}
"""By module: its distribution, its purpose, and the smallest extra of lrlab that brings it."""


@contextmanager
def named() -> Iterator[None]:
    """Raise InputError, with the extra that brings the module, instead of ModuleNotFoundError."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in EXTRAS:
            raise
        distribution, purpose, extra = EXTRAS[name]
        remedy = f"pip install 'lrlab[{extra}]'"
        raise InputError(distribution, f"installed for {purpose}", "no such package", remedy) from None
