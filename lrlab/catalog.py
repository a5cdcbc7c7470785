"""The catalogue: models and solvers by name, those of the package and those of plugins."""

import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np

import lrlab.models
import lrlab.solvers
from lrlab import plugin_modules
from lrlab.catalog_checks import CatalogError
from lrlab.collecting import Collected, modules_of, sound_modules, with_plugins
from lrlab.model_entry import Family, ModelEntry, Range
from lrlab.parameters import InputError, Parameter, declared, nearest, require_known
from lrlab.plugin_modules import Plugin
from lrlab.protocol import Spec
from lrlab.solver_entry import SolverEntry

POSITIONS = 60
"""Of a slider, at most about so many."""

_failed: list[CatalogError] = []
_models = modules_of(lrlab.models)
_solvers = sound_modules(_models, lrlab.solvers)
_lock = threading.RLock()

PLUGINS: tuple[Plugin, ...] = ()
LEFT_OUT: tuple[str, ...] = ()
"""What is wrong with the plugins that are left out, a sentence each."""
FAMILIES: tuple[Family, ...]
MODEL_ENTRIES: Mapping[str, ModelEntry]
MODELS: Mapping[str, type[Spec]]
SOLVERS: Mapping[str, tuple[SolverEntry, ...]]
ENTRIES: tuple[SolverEntry, ...]
NAMES: tuple[str, ...]


def _publish(collected: Collected) -> None:
    global FAMILIES, MODEL_ENTRIES, MODELS, SOLVERS, ENTRIES, NAMES
    FAMILIES, MODEL_ENTRIES, SOLVERS = collected
    MODELS = {name: entry.spec for name, entry in MODEL_ENTRIES.items()}
    ENTRIES = tuple({id(e): e for made_for in SOLVERS.values() for e in made_for}.values())
    NAMES = tuple(dict.fromkeys(entry.name for entry in ENTRIES))


def add(plugins: Sequence[Plugin]) -> list[CatalogError]:
    """Add plugins, and return what is wrong with each left out.

    They take the place of those before with a name of theirs, or of the same file.
    """
    global PLUGINS
    with _lock:
        replaced = frozenset[str]().union(*(plugin.names for plugin in plugins))
        files = {plugin.file for plugin in plugins if plugin.file}
        held = [plugin for plugin in PLUGINS if not plugin.names & replaced and plugin.file not in files]
        collected, sound, wrong = with_plugins(_models, _solvers, [*held, *plugins])
        _publish(collected)
        PLUGINS = tuple(sound)
    return wrong


def leave_out(errors: Iterable[CatalogError]) -> None:
    """Add to `LEFT_OUT` what is wrong with plugins."""
    global LEFT_OUT
    LEFT_OUT = tuple(dict.fromkeys((*LEFT_OUT, *map(str, errors))))


def spec(model: str, **parameters: object) -> Spec:
    """Return the checked spec of a model, with defaults where nothing is given.

    Raises InputError for an unknown model or parameter, a value out of bounds, or values that contradict each other.
    """
    require_model(model)
    return MODELS[model]().replace(**parameters)


def require_model(name: str) -> None:
    """Raise InputError unless there is a model of that name."""
    require_known(name, MODELS, what="model")


def model_entry(model: str) -> ModelEntry:
    """Return the entry of a model; InputError where there is none of that name."""
    require_model(model)
    return MODEL_ENTRIES[model]


def family(model: str) -> Family:
    """Return the family of a model; InputError where there is no model of that name."""
    return model_entry(model).family


def solver(name: str, model: str = "") -> SolverEntry:
    """Return the entry of a solver; of those that share a name, the one made for a model, or else the first."""
    if name not in NAMES and LEFT_OUT:
        raise InputError("solver", "one that can be used here", name, " ".join(LEFT_OUT))
    require_known(name, NAMES, what="solver")
    entries = [entry for entry in ENTRIES if entry.name == name]
    return next((entry for entry in entries if model in entry.models), entries[0])


def solvers_for(model: str) -> list[SolverEntry]:
    """Return the solvers made for a model, in the order of pages; InputError where there is no such model."""
    require_model(model)
    return list(SOLVERS[model])


def given(names: Iterable[str], model: str) -> str:
    """Return what each solver of a comparison knows beyond the data, as a sentence; nothing where none does."""
    entries = [solver(name, model) for name in names]
    known = [f"{', '.join(entry.knows)} ({entry.title})" for entry in entries if entry.knows]
    return f"Given beyond the data: {'; '.join(known)}." if known else ""


def positions(model: str, name: str) -> tuple[float, ...]:
    """Return the values of a parameter's slider: round, within its bounds, the default among them, whole if it is.

    They are in its first range, or reach up to twice the default.
    """
    entry = model_entry(model)
    return _positions(declared(entry.spec)[name], entry.first_range(name))


@cache
def _positions(parameter: Parameter, first: Range) -> tuple[float, ...]:
    (low, high, scale), default, whole = first, float(parameter.default), parameter.kind is int
    low, high = max(parameter.low, min(low, default)), min(parameter.high, max(high, 2.0 * default))
    grid = (np.geomspace if scale == "log" else np.linspace)(low, high, POSITIONS)
    values = {float(f"{round(value) if whole else value:.2g}") for value in grid.tolist()} | {default}
    inside = sorted(value for value in values if parameter.low <= value <= parameter.high)
    return tuple(int(value) if whole else value for value in inside)


def compatible(spec: Spec, name: str) -> SolverEntry:
    """Return the entry of a solver that is made for the spec's model; InputError names those that are."""
    entry = solver(name, spec.model)
    if spec.model not in entry.models:
        names = tuple(e.name for e in solvers_for(spec.model))
        remedy = nearest(name, names) or f"take one of these, or one of the models {', '.join(entry.models)}"
        raise InputError("solver", f"made for {spec.model} ({', '.join(names)})", name, remedy)
    return entry


_failed += add(list(plugin_modules.configured(_failed)))
leave_out(_failed)
for mistake in _failed:
    warnings.warn(f"{mistake} (left out)", stacklevel=2)
