"""lrlab: see how structured signals are recovered from few, quantised or missing measurements."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lrlab import extras

if TYPE_CHECKING:
    from lrlab.catalog import spec
    from lrlab.engine.solve import solve
    from lrlab.fits.estimator import LabelEstimator
    from lrlab.fits.fitted_model import load_model, save_model
    from lrlab.fits.fitting import fit
    from lrlab.fits.fitting_ratings import fit_ratings
    from lrlab.parameters import InputError
    from lrlab.protocol import Spec, Stop
    from lrlab.runs.trace import Trace
    from lrlab.sweeps.run import sweep

__all__ = [
    "InputError",
    "LabelEstimator",
    "Spec",
    "Stop",
    "Trace",
    "fit",
    "fit_ratings",
    "load_model",
    "save_model",
    "solve",
    "spec",
    "sweep",
]
__version__ = "0.2.0"

_HOMES = {
    "InputError": "lrlab.parameters",
    "LabelEstimator": "lrlab.fits.estimator",
    "Spec": "lrlab.protocol",
    "Stop": "lrlab.protocol",
    "Trace": "lrlab.runs.trace",
    "fit": "lrlab.fits.fitting",
    "fit_ratings": "lrlab.fits.fitting_ratings",
    "load_model": "lrlab.fits.fitted_model",
    "save_model": "lrlab.fits.fitted_model",
    "solve": "lrlab.engine.solve",
    "spec": "lrlab.catalog",
    "sweep": "lrlab.sweeps.run",
}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that the home page and `models` do not wait for scipy and pandas."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with extras.named():
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
