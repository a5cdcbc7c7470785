"""The catalogue: which models there are, and which solvers each of them has."""

from collections.abc import Mapping

from lrlab.catalog import (
    altmin,
    low_rank,
    multilabel,
    multilabel_embeddings,
    multilabel_rivals,
    network,
    one_bit_multilabel,
    phase,
    refinements,
    rivals,
    single_index,
)
from lrlab.parameters import InputError, nearest, require_known
from lrlab.protocol import Spec
from lrlab.solver_entry import SolverEntry

MODELS: Mapping[str, type[Spec]] = {
    spec.model: spec
    for family in (single_index, low_rank, phase, multilabel, one_bit_multilabel)
    for spec in family.MODELS
}
ENTRIES: tuple[SolverEntry, ...] = tuple(
    entry
    for family in (
        single_index,
        refinements,
        rivals,
        low_rank,
        altmin,
        network,
        phase,
        multilabel,
        multilabel_embeddings,
        multilabel_rivals,
        one_bit_multilabel,
    )
    for entry in family.SOLVERS
)
NAMES: tuple[str, ...] = tuple(dict.fromkeys(entry.name for entry in ENTRIES))


def spec(model: str, **parameters: object) -> Spec:
    """Return the checked spec of a model, with defaults where nothing is given.

    Raises InputError for an unknown model or parameter, a value out of bounds, or values that contradict each other.
    """
    require_model(model)
    return MODELS[model]().replace(**parameters)


def require_model(name: str) -> None:
    """Raise InputError unless there is a model of that name."""
    require_known(name, MODELS, what="model")


def solver(name: str, model: str = "") -> SolverEntry:
    """Return the entry of a solver; of those that share a name, the one made for a model, or else the first."""
    require_known(name, NAMES, what="solver")
    entries = [entry for entry in ENTRIES if entry.name == name]
    return next((entry for entry in entries if model in entry.models), entries[0])


def solvers_for(model: str) -> list[SolverEntry]:
    """Return the solvers made for a model, in the catalogue's order."""
    require_model(model)
    return [entry for entry in ENTRIES if model in entry.models]


def compatible(spec: Spec, name: str) -> SolverEntry:
    """Return the entry of a solver that is made for the spec's model; InputError names those that are."""
    entry = solver(name, spec.model)
    if spec.model not in entry.models:
        names = tuple(e.name for e in solvers_for(spec.model))
        remedy = nearest(name, names) or f"take one of these, or one of the models {', '.join(entry.models)}"
        raise InputError("solver", f"made for {spec.model} ({', '.join(names)})", name, remedy)
    return entry
