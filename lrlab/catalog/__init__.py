"""The catalogue: which models there are, and which solvers each of them has."""

from collections.abc import Mapping

from lrlab.catalog import refinements, rivals, single_index
from lrlab.catalog.entry import SolverEntry
from lrlab.parameters import InputError, nearest, require_known
from lrlab.protocol import Spec

MODELS: Mapping[str, type[Spec]] = {spec.model: spec for spec in single_index.MODELS}
SOLVERS: Mapping[str, SolverEntry] = {
    entry.name: entry for family in (single_index, refinements, rivals) for entry in family.SOLVERS
}


def spec(model: str, **parameters: object) -> Spec:
    """Return the checked spec of a model, with defaults where nothing is given.

    Raises InputError for an unknown model or parameter, a value out of bounds, or values that contradict each other.
    """
    require_model(model)
    return MODELS[model]().replace(**parameters)


def require_model(name: str) -> None:
    """Raise InputError unless there is a model of that name."""
    require_known(name, MODELS, what="model")


def solver(name: str) -> SolverEntry:
    """Return the entry of a solver."""
    require_known(name, SOLVERS, what="solver")
    return SOLVERS[name]


def solvers_for(model: str) -> list[SolverEntry]:
    """Return the solvers made for a model, in the catalogue's order."""
    require_model(model)
    return [entry for entry in SOLVERS.values() if model in entry.models]


def compatible(spec: Spec, name: str) -> SolverEntry:
    """Return the entry of a solver that is made for the spec's model; InputError names those that are."""
    entry = solver(name)
    if spec.model not in entry.models:
        names = tuple(e.name for e in solvers_for(spec.model))
        remedy = nearest(name, names) or f"take one of these, or one of the models {', '.join(entry.models)}"
        raise InputError("solver", f"made for {spec.model} ({', '.join(names)})", name, remedy)
    return entry
