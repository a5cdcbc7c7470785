"""Says in one sentence what is missing from a file of a model or a solver, or contradicts another file."""

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from lrlab.model_entry import Family, ModelEntry
from lrlab.models.axes import axes
from lrlab.parameters import declared
from lrlab.protocol import Spec, drive_limits
from lrlab.solver_entry import SolverEntry

MODEL_HINT = "end the file with ENTRY = ModelEntry(spec=..., family=..., plane=(..., ...))"
SOLVER_HINT = "end the file with ENTRY = SolverEntry(name=..., title=..., summary=..., reference=..., run=..., ...)"


class CatalogError(Exception):
    """A model or a solver cannot be collected: one sentence that names the file, what is wrong and what to do."""


def require(condition: object, where: str, sentence: str) -> None:
    """Raise CatalogError with the file and a sentence unless the condition holds."""
    if not condition:
        raise CatalogError(f"{where}: {sentence}")


def require_known(names: Iterable[str], known: Collection[str], where: str, what: str) -> None:
    """Raise CatalogError for the first name that is not known."""
    for name in names:
        require(name in known, where, f"{what} {name!r} is unknown: take some of {', '.join(known)}")


def check_models(modules: Iterable[ModuleType], entries: Mapping[str, Sequence[ModelEntry]]) -> None:
    """Check the specs that modules define and their entries, by module."""
    first: dict[str, str] = {}
    for where, several in entries.items():
        for entry in several:
            require(getattr(entry.spec, "model", ""), where, f'{entry.spec.__name__} has no name: add model = "..."')
            name = entry.spec.model
            require(name not in first, where, f"the model {name!r} is in {first.get(name)}, too: rename one of them")
            first[name] = where
            _check_model(where, entry)
    for module in modules:
        for spec in vars(module).values():
            own = inspect.isclass(spec) and issubclass(spec, Spec) and spec.__module__ == module.__name__
            if own and not inspect.isabstract(spec):
                listed = getattr(spec, "model", None) in first
                require(listed, module.__name__, f"{spec.__name__} has no ModelEntry: {MODEL_HINT}")


def _check_model(where: str, entry: ModelEntry) -> None:
    spec, family = entry.spec, entry.family
    for name in ("title", "summary"):
        require(getattr(spec, name, ""), where, f'{spec.__name__} has no {name}: add {name} = "..." to the class')
    known = axes(spec)
    along = (entry.along,) if entry.along else ()
    require_known((*entry.plane, *along, *entry.ranges), known, where, f"the axis of {spec.model}")
    require_known(entry.held, declared(spec), where, f"the held parameter of {spec.model}")
    require_known(entry.measures, family.measures, where, f"the measure of {spec.model}")


def check_solvers(
    modules: Iterable[ModuleType], entries: Mapping[str, Sequence[SolverEntry]], models: Iterable[ModelEntry]
) -> None:
    """Check the solvers that modules define and their entries, by module, against the models."""
    names = {entry.spec.model: entry.family.name for entry in models}
    first: dict[tuple[str, str], str] = {}
    for where, several in entries.items():
        for entry in several:
            _check_solver(where, entry, names)
            for model, family in names.items():
                if model in entry.models or family in entry.families:
                    other = first.setdefault((entry.name, model), where)
                    twice = f"the solver {entry.name!r} for {model} is in {other}, too: rename one of them"
                    require(other == where, where, twice)
    for model in names:
        free = f"no solver is made for {model}: add it to `models`, or its family to `families`, of a SolverEntry"
        require(any(model == served for _, served in first), "lrlab.models", free)
    runs = {entry.run for several in entries.values() for entry in several}
    for module in modules:
        for name, value in vars(module).items():
            if _is_solver(value, module) and not name.startswith("_"):
                require(value in runs, module.__name__, f"{name} has no SolverEntry: {SOLVER_HINT}")


def _is_solver(value: Any, module: ModuleType) -> bool:
    if not isinstance(value, FunctionType) or value.__module__ != module.__name__:
        return False
    code = value.__code__
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return code.co_varnames[: code.co_argcount] == ("problem",) and "rng" in keywords


def _check_solver(where: str, entry: SolverEntry, models: Mapping[str, str]) -> None:
    for part in ("name", "title", "summary", "reference"):
        require(getattr(entry, part), where, f"the SolverEntry of {entry.name or entry.run} has no {part}: add it")
    require(inspect.getdoc(entry.run), where, f"{entry.name} has no docstring: say what it minimises, and the update")
    require(entry.models or entry.families, where, f"{entry.name} names no model: add models=(...) or families=(...)")
    require_known(entry.models, models, where, f"the model of {entry.name}")
    require_known(entry.families, tuple(dict.fromkeys(models.values())), where, f"the family of {entry.name}")


def check_families(families: Iterable[Family], models: Iterable[ModelEntry], solvers: Iterable[SolverEntry]) -> None:
    """Check that what families say fits their models and solvers."""
    names: set[str] = set()
    for family in families:
        where = f"the family {family.name!r}"
        require(family.name not in names, where, "two families have this name: rename one of them")
        names.add(family.name)
        own = [entry.spec for entry in models if entry.family is family]
        known = {axis: None for spec in own for axis in axes(spec)}
        served = {spec.model for spec in own}
        made = {entry.name: None for entry in solvers if served.intersection(entry.models)}
        require_known([family.goal.measure], family.measures, where, "the measure of the goal")
        require_known(family.model_order, served, where, "the model")
        require_known((*family.solvers, *family.order), made, where, "the solver")
        require_known((*family.grows, *family.falls, *family.ranges), known, where, "the axis")
        require_known(family.limits, declared(drive_limits), where, "the limit")
        both = set(family.grows) & set(family.falls)
        require(not both, where, f"{', '.join(both)} cannot be in both grows and falls")
