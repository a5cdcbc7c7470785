"""A library of sweeps, a definition file each, with a title, an explanation and a reference."""

from functools import cache
from importlib.resources import files

from lrlab.parameters import require_known
from lrlab.sweeps.toml import Titled, titled

FIRST = "donoho-tanner"


def names() -> list[str]:
    """Return the names of all sweeps of the library, the best-known diagram first."""
    all_names = [file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml")]
    return sorted(all_names, key=lambda name: (name != FIRST, name))


@cache
def load(name: str) -> Titled:
    """Return a sweep of the library; InputError for an unknown name."""
    require_known(name, tuple(names()), what="sweep")
    return titled(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
