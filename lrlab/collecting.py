"""Collects the models and solvers that files end with: those of `lrlab.models` and `lrlab.solvers`, and of plugins.

A file of either ends with its `ENTRY`, or `ENTRIES` where it has several. What is missing or contradictory is one
sentence, a `CatalogError`: raised at import where it is a model's, a warning where it is a solver's, which is left out.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from lrlab.catalog_checks import CatalogError, check_families, check_models, check_solvers, entries_of
from lrlab.model_entry import Family, ModelEntry
from lrlab.plugin_modules import Plugin, imported
from lrlab.solver_entry import SolverEntry

FAMILY_ORDER = (
    "single-index",
    "low-rank",
    "one-bit-completion",
    "phase-retrieval",
    "coded-diffraction",
    "multilabel",
    "one-bit-multilabel",
)
"""Families in the order of pages; others follow by name."""

E = TypeVar("E", ModelEntry, SolverEntry)
BOTH = ModelEntry, SolverEntry


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
                modules.append(imported(".".join((package.__name__, *file.relative_to(root).with_suffix("").parts))))
            except CatalogError as error:
                if failed is None:
                    raise
                failed.append(error)
    return modules


def sound_modules(models: Sequence[ModuleType], package: ModuleType) -> list[ModuleType]:
    """Return the modules of a package of solvers without those that have a mistake.

    A warning says of each what is wrong. CatalogError where it is a family's own, or no file of a solver is at fault.
    """
    failed: list[CatalogError] = []
    solvers = modules_of(package, failed)
    while True:
        try:
            collect(models, solvers)
            break
        except CatalogError as error:
            at_fault = [module for module in solvers if str(error).startswith(f"{module.__name__}: ")]
            if not at_fault:
                raise (failed or [error])[0] from error
            failed.append(error)
            solvers.remove(at_fault[0])
    for mistake in failed:
        warnings.warn(f"{mistake} (left out)", stacklevel=2)
    return solvers


def with_plugins(
    models: Sequence[ModuleType], solvers: Sequence[ModuleType], plugins: Sequence[Plugin]
) -> tuple[Collected, list[Plugin], list[CatalogError]]:
    """Return what sound modules and plugins have, the plugins in it, and what is wrong with each of the others."""
    sound, errors = list(plugins), list[CatalogError]()
    while True:
        try:
            return collect(models, solvers, [plugin.module for plugin in sound]), sound, errors
        except CatalogError as error:
            sentence = str(error)
            if not sound:
                raise
            at_fault = next((plugin for plugin in sound if _is_at_fault(plugin, sentence)), sound[-1])
            sound.remove(at_fault)
            for plugin in plugins:
                sentence = sentence.replace(plugin.module.__name__, plugin.label)
            errors.append(CatalogError(sentence))


def _is_at_fault(plugin: Plugin, sentence: str) -> bool:
    models = [entry for entry in plugin.entries if isinstance(entry, ModelEntry)]
    own = [f"the {what}: " for m in models for what in (f"model {m.spec.model!r}", f"family {m.family.name!r}")]
    return sentence.startswith((f"{plugin.module.__name__}: ", *own))


def collect(
    model_modules: Sequence[ModuleType], solver_modules: Sequence[ModuleType], plugins: Sequence[ModuleType] = ()
) -> Collected:
    """Return what modules of models and solvers end with; CatalogError where something is missing or contradictory.

    plugins: modules that may end with both.
    """
    both: dict[str, Sequence[Any]] = {module.__name__: entries_of(module, *BOTH) for module in plugins}
    by_module = _entries(model_modules, ModelEntry) | _of_kind(both, ModelEntry)
    check_models([*model_modules, *plugins], by_module)
    models = [entry for several in by_module.values() for entry in several]
    # Two may be equal, or have one name: that is for the checks to say.
    families = list({id(entry.family): entry.family for entry in models}.values())
    families.sort(key=lambda family: _place(FAMILY_ORDER, family.name))
    order = [id(family) for family in families]
    models.sort(key=lambda entry: (order.index(id(entry.family)), _place(entry.family.model_order, entry.spec.model)))
    solvers_by_module = {
        where: [_resolved(entry, models) for entry in several]
        for where, several in (_entries(solver_modules, SolverEntry) | _of_kind(both, SolverEntry)).items()
    }
    check_solvers([*solver_modules, *plugins], solvers_by_module, models)
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


def _of_kind(entries: Mapping[str, Sequence[Any]], kind: type[E]) -> dict[str, Sequence[E]]:
    return {where: [entry for entry in several if isinstance(entry, kind)] for where, several in entries.items()}


def _place(order: Sequence[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order)), name


def _resolved(entry: SolverEntry, models: Iterable[ModelEntry]) -> SolverEntry:
    """Return the entry with the models of its families among its models."""
    wanted = set(entry.families)
    served = (m.spec.model for m in models if wanted.intersection((m.family.name, *m.family.solvers_of)))
    return replace(entry, models=tuple(dict.fromkeys((*entry.models, *served))))
