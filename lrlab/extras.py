"""What `pip install lrlab` leaves out: one sentence with the command that brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from lrlab.parameters import InputError

EXTRAS = {
    "streamlit": ("streamlit", "the pages", "app"),
    "distributed": ("dask[distributed]", "sweeps and runs on workers", "engine"),
    "sklearn": ("scikit-learn", "fits to your data, images of digits and some solvers", "fit"),
    "PIL": ("pillow", "images", "fit"),
}
"""By module: its distribution, its purpose, and the smallest extra of lrlab that brings it."""


@contextmanager
def named() -> Iterator[None]:
    """Raise InputError instead of ModuleNotFoundError if an extra brings the module."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(error) from None


def missing(error: ModuleNotFoundError) -> Exception:
    """Return the InputError that names the extra which brings a module, or the error itself if none does."""
    name = (error.name or "").partition(".")[0]
    if name not in EXTRAS:
        return error
    distribution, purpose, extra = EXTRAS[name]
    return InputError(distribution, f"installed for {purpose}", "no such package", f"pip install 'lrlab[{extra}]'")
