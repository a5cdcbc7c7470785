"""lrlab: see how structured signals are recovered from few, quantised or missing measurements."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lrlab.catalog import spec
    from lrlab.data.estimators import (
        BilinearRegressor,
        LabelEstimator,
        LowRankImputer,
        QuadraticNetworkRegressor,
        SingleIndexClassifier,
    )
    from lrlab.data.label_models import load_model, save_model
    from lrlab.data.recover import recover
    from lrlab.data.tasks import fit
    from lrlab.engine.solve import solve
    from lrlab.figures.runs import compare
    from lrlab.figures.sweeps import map
    from lrlab.parameters import InputError, Parameter, choice, number
    from lrlab.plugins import register
    from lrlab.protocol import Iterate, Spec, Stop
    from lrlab.runs.trace import Trace
    from lrlab.solver_entry import solver
    from lrlab.sweeps.run import sweep
    from lrlab.widget import live

__all__ = [
    "BilinearRegressor",
    "InputError",
    "Iterate",
    "LabelEstimator",
    "LowRankImputer",
    "Parameter",
    "QuadraticNetworkRegressor",
    "SingleIndexClassifier",
    "Spec",
    "Stop",
    "Trace",
    "choice",
    "compare",
    "fit",
    "live",
    "load_model",
    "map",
    "models",
    "number",
    "recover",
    "register",
    "save_model",
    "solve",
    "solver",
    "solvers",
    "spec",
    "sweep",
]
__version__ = "0.3.0"

_HOMES = {
    "BilinearRegressor": "lrlab.data.estimators",
    "InputError": "lrlab.parameters",
    "Iterate": "lrlab.protocol",
    "LabelEstimator": "lrlab.data.estimators",
    "LowRankImputer": "lrlab.data.estimators",
    "Parameter": "lrlab.parameters",
    "QuadraticNetworkRegressor": "lrlab.data.estimators",
    "SingleIndexClassifier": "lrlab.data.estimators",
    "Spec": "lrlab.protocol",
    "Stop": "lrlab.protocol",
    "Trace": "lrlab.runs.trace",
    "choice": "lrlab.parameters",
    "compare": "lrlab.figures.runs",
    "fit": "lrlab.data.tasks",
    "live": "lrlab.widget",
    "load_model": "lrlab.data.label_models",
    "map": "lrlab.figures.sweeps",
    "mimebundle": "lrlab.figures.runs",
    "number": "lrlab.parameters",
    "recover": "lrlab.data.recover",
    "register": "lrlab.plugins",
    "save_model": "lrlab.data.label_models",
    "solve": "lrlab.engine.solve",
    "solver": "lrlab.solver_entry",
    "spec": "lrlab.catalog",
    "sweep": "lrlab.sweeps.run",
}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that the home page and `models` do not wait for scipy and pandas."""
    if name == "fit_ratings":
        raise AttributeError("lrlab.fit_ratings was removed in 0.3: use lrlab.fit(file)")
    if name in ("models", "solvers"):
        return import_module(f"lrlab.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lrlab import extras

    with extras.named():
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
