"""Says in one sentence what is missing from a file of a model or a solver, or contradicts another file."""

import inspect
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, ClassVar, TypeVar, get_origin

from lrlab.code_hash import docstring
from lrlab.model_entry import Family, Goal, Measure, ModelEntry
from lrlab.models.axes import axes
from lrlab.models.low_rank import LowRankSpec
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import Parameter, declared
from lrlab.protocol import Limits, Spec
from lrlab.solver_entry import SolverEntry

MODEL_HINT = "end the file with ENTRY = ModelEntry(spec=..., family=..., plane=(..., ...))"
SOLVER_HINT = "end the file with ENTRY = SolverEntry(title=..., summary=..., run=..., families=(...), workspace=...)"
PARTS = {part.__name__: part for part in (ModelEntry, Family, Goal, Measure, SolverEntry, Parameter)}
"""What entries are made of."""
UNPUBLISHED = "Not published."
"""Reference of a function that is run as it is, which need not have a docstring."""
SPECTRAL = LowRankSpec, PhaseRetrieval, SingleIndexSpec
"""Specs whose problems have a moment with a spectrum."""

E = TypeVar("E", ModelEntry, SolverEntry)


class CatalogError(Exception):
    """A model or a solver cannot be collected: one sentence that names the file, what is wrong and what to do."""


def require(condition: object, where: str, sentence: str) -> None:
    """Raise CatalogError with the file and a sentence unless the condition holds."""
    if not condition:
        raise CatalogError(f"{where}: {sentence}")


def incomplete(error: TypeError) -> str:
    """Return what a part of an entry lacks, or has too much, as a sentence; nothing where the error is another one."""
    match = re.match(r"(\w+)\.__\w+__\(\) (?:missing .*?: (.+)|got an unexpected keyword argument '(\w+)')", str(error))
    if match is None or match[1] not in PARTS:
        return ""
    if match[3]:
        known = inspect.signature(PARTS[match[1]]).parameters
        return f"{match[1]} has no part {match[3]!r}: take some of {', '.join(known)}"
    missing = re.findall(r"'(\w+)'", match[2])
    return f"a {match[1]} has no {', no '.join(missing)}: add {', '.join(f'{name}=...' for name in missing)}"


def entries_of(module: ModuleType, *kinds: type[E]) -> Sequence[E]:
    """Return the entries that a module ends with; CatalogError where they, or parts of them, are of a wrong type."""
    several = getattr(module, "ENTRIES", [module.ENTRY] if hasattr(module, "ENTRY") else [])
    right = isinstance(several, Sequence) and all(isinstance(entry, kinds) for entry in several)
    expected = " or a ".join(kind.__name__ for kind in kinds)
    require(right, module.__name__, f"ENTRY must be a {expected}, and ENTRIES a list of such")
    both = hasattr(module, "ENTRIES") and hasattr(module, "ENTRY")
    require(not both, module.__name__, "has ENTRY and ENTRIES: put all in ENTRIES")
    for entry in several:
        _check_types(module.__name__, entry)
    return several


def _check_types(where: str, entry: ModelEntry | SolverEntry) -> None:
    if isinstance(entry, ModelEntry):
        is_spec = inspect.isclass(entry.spec) and issubclass(entry.spec, Spec)
        require(is_spec, where, "spec must be a class derived from Spec, and not an instance of it")
        require(isinstance(entry.family, Family), where, "family must be a Family, and not its name")
        pair = isinstance(entry.plane, tuple) and len(entry.plane) == 2
        require(pair, where, 'plane must be two axes, such as ("rank", "m")')
        return
    for name in ("run", "workspace", "refuse", "predict"):
        require(callable(getattr(entry, name)), where, f"{name} of {entry.name} must be a function")
    for name in ("models", "families", "knows"):
        listed = isinstance(getattr(entry, name), tuple | list)
        require(listed, where, f'{name} of {entry.name} must be a tuple of names, such as ("{getattr(entry, name)}",)')


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
    undefined = ", ".join(sorted(getattr(spec, "__abstractmethods__", ())))
    require(not undefined, where, f"{spec.__name__} does not define {undefined}: add it to the class")
    for name, hint in inspect.get_annotations(spec).items():
        known_field = ClassVar in (hint, get_origin(hint)) or name in declared(spec)
        remedy = f"write {name}: Annotated[type, Parameter(meaning=...)] = default, in a frozen dataclass"
        require(known_field, where, f"{spec.__name__}.{name} is not declared: {remedy}")
    constants = [
        name
        for base in spec.__mro__
        for name, hint in inspect.get_annotations(base).items()
        if ClassVar in (hint, get_origin(hint))
    ]
    for name in constants:
        require(getattr(spec, name, "") != "", where, f"{spec.__name__} has no {name}: add {name} = ... to the class")
    known = axes(spec)
    along = (entry.along,) if entry.along or entry.along_range else ()
    require_known((*entry.plane, *along, *entry.ranges, *entry.turns), known, where, f"the axis of {spec.model}")
    spectral = not entry.along or issubclass(spec, SPECTRAL)
    bases = ", ".join(base.__name__ for base in SPECTRAL)
    require(spectral, where, f"{spec.model} has no spectrum, which takes one of {bases}: leave out along")
    require(entry.main, where, f"no parameter of {spec.model} comes first: add main")
    require_known(entry.main, declared(spec), where, f"the main parameter of {spec.model}")
    require_known(entry.held, declared(spec), where, f"the held parameter of {spec.model}")
    require_known(entry.measures, family.measures, where, f"the measure of {spec.model}")


def check_solvers(
    modules: Iterable[ModuleType], entries: Mapping[str, Sequence[SolverEntry]], models: Iterable[ModelEntry]
) -> None:
    """Check the solvers that modules define and their entries, by module, against the models.

    The models of an entry are all that it is made for, those of its families among them.
    """
    names = {entry.spec.model: entry.family for entry in models}
    first: dict[tuple[str, str], str] = {}
    for where, several in entries.items():
        for entry in several:
            _check_solver(where, entry, names)
            for model in entry.models:
                other = first.get((entry.name, model))
                twice = f"the solver {entry.name!r} for {model} is in {other}, too: rename one of them"
                require(not other, where, twice)
                first[entry.name, model] = where
    for model in names:
        remedy = "name it in `models` or its family in `families` of a SolverEntry, or give its family `solvers_of`"
        served = any(model == made_for for _, made_for in first)
        require(served, f"the model {model!r}", f"no solver is made for it: {remedy}")
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


def _check_solver(where: str, entry: SolverEntry, models: Mapping[str, Family]) -> None:
    for part in ("title", "summary", "update", "reference"):
        remedy = "add it to the docstring" if part == "reference" else "add it"
        require(getattr(entry, part), where, f"the SolverEntry of {entry.name} has no {part}: {remedy}")
    read = callable(entry.run) and {"problem", "rng"} <= inspect.signature(entry.run).parameters.keys()
    require(read, where, f"{entry.name} must be a function (problem, *, options, rng) that yields an Iterate per step")
    documented = docstring(entry.run) or entry.reference == UNPUBLISHED
    require(documented, where, f"{entry.name} has no docstring: say what it minimises, and the update")
    # Where functions share code, a keyword of another kind is no option of a person.
    empty = inspect.Parameter.empty
    for name, parameter in inspect.signature(entry.run).parameters.items():
        given = parameter.default is empty or isinstance(parameter.default, bool | int | float | str)
        known = name in ("problem", "rng") or name in declared(entry.run) or not given
        remedy = f"write {name}: Annotated[type, Parameter(meaning=...)] = default"
        require(known, where, f"the option {name} of {entry.name} is not declared: {remedy}")
    require(entry.models or entry.families, where, f"{entry.name} names no model: add models=(...) or families=(...)")
    require_known(entry.models, models, where, f"the model of {entry.name}")
    families = dict.fromkeys(family.name for family in models.values())
    require_known(entry.families, families, where, f"the family of {entry.name}")


def check_families(families: Iterable[Family], models: Iterable[ModelEntry], solvers: Iterable[SolverEntry]) -> None:
    """Check that what families say fits their models and solvers."""
    families, names = list(families), list[str]()
    for family in families:
        where = f"the family {family.name!r}"
        require(family.name not in names, where, "two families have this name: rename one of them")
        names.append(family.name)
        require(family.solvers, where, "no solver is shown at first: add solvers=(...)")
        require_known(family.solvers_of, [other.name for other in families], where, "the family")
        own = [entry.spec for entry in models if entry.family is family]
        known = {axis: None for spec in own for axis in axes(spec)}
        served = {spec.model for spec in own}
        made = {entry.name: None for entry in solvers if served.intersection(entry.models)}
        require_known([family.goal.measure], family.measures, where, "the measure of the goal")
        require_known(family.model_order, served, where, "the model")
        require_known((*family.solvers, *family.order), made, where, "the solver")
        require_known((*family.grows, *family.falls, *family.ranges), known, where, "the axis")
        require_known(family.limits, declared(Limits), where, "the limit")
        both = set(family.grows) & set(family.falls)
        require(not both, where, f"{', '.join(both)} cannot be in both grows and falls")
