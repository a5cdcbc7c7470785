"""Collects the models and solvers that the files of `lrlab.models` and `lrlab.solvers` end with.

A file of either ends with its `ENTRY`, or `ENTRIES` where it has several. What is missing or contradictory is one
sentence, a `CatalogError`: raised at import where it is a model's, a warning where it is a solver's, which is left out.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import lrlab.models
import lrlab.solvers
from lrlab.catalog_checks import CatalogError, check_families, check_models, check_solvers, entries_of, incomplete
from lrlab.model_entry import Family, ModelEntry
from lrlab.parameters import InputError, nearest, require_known
from lrlab.protocol import Spec
from lrlab.solver_entry import SolverEntry

FAMILY_ORDER = ("single-index", "low-rank", "phase-retrieval", "multilabel", "one-bit-multilabel")
"""Families in the order of pages; others follow by name."""

E = TypeVar("E", ModelEntry, SolverEntry)


class Collected(NamedTuple):
    """Families, models by name and solvers by model, each in the order of pages."""

    families: tuple[Family, ...]
    models: Mapping[str, ModelEntry]
    solvers: Mapping[str, tuple[SolverEntry, ...]]


def modules_of(package: ModuleType, failed: list[CatalogError] | None = None) -> list[ModuleType]:
    """Import and return all modules below a package, by name; its folders need no `__init__.py`.

    Raises CatalogError for a file that does not import; with `failed` that is put there, and the file is left out.
    """
    modules = []
    for root in map(Path, package.__path__):
        for file in sorted(file for file in root.rglob("*.py") if file.name != "__init__.py"):
            try:
                modules.append(_imported(".".join((package.__name__, *file.relative_to(root).with_suffix("").parts))))
            except CatalogError as error:
                if failed is None:
                    raise
                failed.append(error)
    return modules


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except Exception as error:
        sentence = incomplete(error) if isinstance(error, TypeError) else ""
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise CatalogError(f"{name}: {sentence or f'does not import ({reason}): correct the file'}") from error


def collect_sound(models: Sequence[ModuleType], package: ModuleType) -> Collected:
    """Return what models and a package of solvers end with, without those files of solvers that have a mistake.

    A warning says of each what is wrong. CatalogError where it is a family's own, or no file of a solver is at fault.
    """
    failed: list[CatalogError] = []
    solvers = modules_of(package, failed)
    while True:
        try:
            collected = collect(models, solvers)
            break
        except CatalogError as error:
            at_fault = [module for module in solvers if str(error).startswith(f"{module.__name__}: ")]
            if not at_fault:
                raise (failed or [error])[0] from error
            failed.append(error)
            solvers.remove(at_fault[0])
    for mistake in failed:
        warnings.warn(f"{mistake} (left out)", stacklevel=2)
    return collected


def collect(model_modules: Sequence[ModuleType], solver_modules: Sequence[ModuleType]) -> Collected:
    """Return what modules of models and solvers end with; CatalogError where something is missing or contradictory."""
    by_module = _entries(model_modules, ModelEntry)
    check_models(model_modules, by_module)
    models = [entry for several in by_module.values() for entry in several]
    # Two may be equal, or have one name: that is for the checks to say.
    families = list({id(entry.family): entry.family for entry in models}.values())
    families.sort(key=lambda family: _place(FAMILY_ORDER, family.name))
    order = [id(family) for family in families]
    models.sort(key=lambda entry: (order.index(id(entry.family)), _place(entry.family.model_order, entry.spec.model)))
    solvers_by_module = {
        where: [_resolved(entry, models) for entry in several]
        for where, several in _entries(solver_modules, SolverEntry).items()
    }
    check_solvers(solver_modules, solvers_by_module, models)
    solvers = [entry for several in solvers_by_module.values() for entry in several]
    check_families(families, models, solvers)
    by_model = {entry.spec.model: entry for entry in models}
    made_for: dict[str, tuple[SolverEntry, ...]] = {}
    for model, entry in by_model.items():
        own = (solver for solver in solvers if model in solver.models)
        made_for[model] = tuple(sorted(own, key=lambda solver: _place(entry.family.order, solver.name)))
    return Collected(tuple(families), by_model, made_for)


def _entries(modules: Iterable[ModuleType], kind: type[E]) -> dict[str, Sequence[E]]:
    return {module.__name__: entries_of(module, kind) for module in modules}


def _place(order: Sequence[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order)), name


def _resolved(entry: SolverEntry, models: Iterable[ModelEntry]) -> SolverEntry:
    """Return the entry with the models of its families among its models."""
    wanted = set(entry.families)
    served = (m.spec.model for m in models if wanted.intersection((m.family.name, *m.family.solvers_of)))
    return replace(entry, models=tuple(dict.fromkeys((*entry.models, *served))))


FAMILIES, MODEL_ENTRIES, SOLVERS = collect_sound(modules_of(lrlab.models), lrlab.solvers)
MODELS: Mapping[str, type[Spec]] = {name: entry.spec for name, entry in MODEL_ENTRIES.items()}
ENTRIES: tuple[SolverEntry, ...] = tuple({id(e): e for made_for in SOLVERS.values() for e in made_for}.values())
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


def model_entry(model: str) -> ModelEntry:
    """Return the entry of a model; InputError where there is none of that name."""
    require_model(model)
    return MODEL_ENTRIES[model]


def family(model: str) -> Family:
    """Return the family of a model; InputError where there is no model of that name."""
    return model_entry(model).family


def solver(name: str, model: str = "") -> SolverEntry:
    """Return the entry of a solver; of those that share a name, the one made for a model, or else the first."""
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


def compatible(spec: Spec, name: str) -> SolverEntry:
    """Return the entry of a solver that is made for the spec's model; InputError names those that are."""
    entry = solver(name, spec.model)
    if spec.model not in entry.models:
        names = tuple(e.name for e in solvers_for(spec.model))
        remedy = nearest(name, names) or f"take one of these, or one of the models {', '.join(entry.models)}"
        raise InputError("solver", f"made for {spec.model} ({', '.join(names)})", name, remedy)
    return entry
