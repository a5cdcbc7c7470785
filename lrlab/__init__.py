"""lrlab: see how structured signals are recovered from few, quantized or missing measurements."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lrlab.catalog import register as register
    from lrlab.catalog import spec as spec
    from lrlab.data.estimators import BilinearRegressor as BilinearRegressor
    from lrlab.data.estimators import LabelEstimator as LabelEstimator
    from lrlab.data.estimators import LowRankImputer as LowRankImputer
    from lrlab.data.estimators import QuadraticNetworkRegressor as QuadraticNetworkRegressor
    from lrlab.data.estimators import SingleIndexClassifier as SingleIndexClassifier
    from lrlab.data.label_task import load_model as load_model
    from lrlab.data.label_task import save_model as save_model
    from lrlab.data.recover import fit as fit
    from lrlab.data.recover import recover as recover
    from lrlab.engine.solve import solve as solve
    from lrlab.figures.runs import compare as compare
    from lrlab.figures.sweeps import map as map
    from lrlab.parameters import InputError as InputError
    from lrlab.parameters import Parameter as Parameter
    from lrlab.parameters import choice as choice
    from lrlab.parameters import number as number
    from lrlab.protocol import Iterate as Iterate
    from lrlab.protocol import Spec as Spec
    from lrlab.protocol import Stop as Stop
    from lrlab.runs.trace import Trace as Trace
    from lrlab.solver_entry import solver as solver
    from lrlab.sweeps.run import sweep as sweep
    from lrlab.sweeps.tables import winners as winners
    from lrlab.widget import live as live

__version__ = "0.3.0"

_HOMES = {
    "catalog": "register spec",
    "data.estimators": "BilinearRegressor LabelEstimator LowRankImputer QuadraticNetworkRegressor "
    "SingleIndexClassifier",
    "data.label_task": "load_model save_model",
    "data.recover": "fit recover",
    "engine.solve": "solve",
    "figures.runs": "compare mimebundle",
    "figures.sweeps": "map",
    "parameters": "InputError Parameter choice number",
    "protocol": "Iterate Spec Stop",
    "runs.trace": "Trace",
    "solver_entry": "solver",
    "sweeps.run": "sweep",
    "sweeps.tables": "winners",
    "widget": "live",
}
"""Public names by their module, which is imported at the first use of one of them."""
_MODULES = {name: f"lrlab.{module}" for module, names in _HOMES.items() for name in names.split()}
__all__ = sorted({*_MODULES, "models", "solvers"} - {"mimebundle"})


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that the home page and `models` do not wait for scipy and pandas."""
    if name == "fit_ratings":
        raise AttributeError("lrlab.fit_ratings was removed in 0.3: use lrlab.fit(file)")
    if name in ("models", "solvers"):
        return import_module(f"lrlab.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lrlab import extras

    with extras.named():
        value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
