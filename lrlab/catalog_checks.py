"""Checks the entries of models and solvers, and the files that declare them: one sentence for each mistake."""

import inspect
import re
from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar, get_origin

from lrlab.model_entry import Family, Goal, Measure, ModelEntry
from lrlab.models.axes import axes
from lrlab.models.low_rank import LowRankSpec
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import Parameter, declared
from lrlab.protocol import Limits, Spec
from lrlab.solver_entry import SolverEntry, entries

Entry = ModelEntry | SolverEntry
HINT = "put @lrlab.solver(models=...) above the generator function of the solver"
PLACES = {
    "title": ", as its first line",
    "summary": ", as its second paragraph",
    "update": ", as LaTeX after `.. math::`",
    "reference": ", after `Reference:`",
}
"""Parts of a solver's docstring, with their positions."""
PARTS = {part.__name__: part for part in (ModelEntry, Family, Goal, Measure, SolverEntry, Parameter)}
"""The classes of entries and their parts."""
SPECTRAL = LowRankSpec, PhaseRetrieval, SingleIndexSpec
"""Specs whose problems have a moment with a spectrum."""


class CatalogError(Exception):
    """A file or an entry that lrlab cannot use: one sentence with the file, the mistake and the remedy."""


def require(condition: object, label: str, sentence: str) -> None:
    """Raise CatalogError with the name of a file and a sentence unless the condition holds."""
    if not condition:
        raise CatalogError(f"{label}: {sentence}")


def failure(label: str, error: BaseException) -> CatalogError:
    """Return the failure of a file, or the missing parts of an entry, as a CatalogError."""
    pattern = r"(\w+)\.__\w+__\(\) (?:missing .*?: (.+)|got an unexpected keyword argument '(\w+)')"
    match = re.match(pattern, str(error)) if isinstance(error, TypeError) else None
    if match is None or match[1] not in PARTS:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return CatalogError(f"{label}: does not import ({reason}): correct the file")
    if match[3]:
        known = ", ".join(inspect.signature(PARTS[match[1]]).parameters)
        return CatalogError(f"{label}: {match[1]} has no part {match[3]!r}: take some of {known}")
    missing = re.findall(r"'(\w+)'", match[2])
    added = ", ".join(f"{name}=..." for name in missing)
    return CatalogError(f"{label}: a {match[1]} has no {', no '.join(missing)}: add {added}")


def entries_of(module: object, label: str) -> tuple[Entry, ...]:
    """Return the solvers that a module declares with `@solver`, and the models of its `ENTRY` or `ENTRIES`."""
    models = getattr(module, "ENTRIES", [module.ENTRY] if hasattr(module, "ENTRY") else [])
    right = isinstance(models, Sequence) and all(isinstance(model, ModelEntry) for model in models)
    require(right, label, f"ENTRY must be a ModelEntry; of a solver, {HINT}")
    return sound([*models, *declared_in(module)], label)


def sound(entries: Sequence[Entry], label: str) -> tuple[Entry, ...]:
    """Return the entries; CatalogError if there is none, or if a part has a wrong type."""
    require(entries, label, f"it has no entry: {HINT}")
    for entry in entries:
        _check_types(label, entry)
    return tuple(entries)


def declared_in(module: object) -> list[SolverEntry]:
    """Return the entries of the solvers that a module defines with `@solver`."""
    name = getattr(module, "__name__", "")
    own = {id(value): value for value in vars(module).values() if getattr(value, "__module__", "") == name}
    return [entry for value in own.values() for entry in entries(value)]


def _check_types(label: str, entry: Entry) -> None:
    if isinstance(entry, ModelEntry):
        is_spec = inspect.isclass(entry.spec) and issubclass(entry.spec, Spec)
        require(is_spec, label, "spec must be a class derived from Spec, and not an instance of it")
        named = getattr(entry.spec, "model", "")
        require(named, label, f'{entry.spec.__name__} has no name: add model = "..." to the class')
        require(isinstance(entry.family, Family), label, "family must be a Family, and not its name")
        pair = isinstance(entry.plane, tuple) and len(entry.plane) == 2
        require(pair, label, 'plane must be two axes, such as ("rank", "m")')
        return
    for name in ("run", "matrix", "refuse", "predict"):
        require(callable(getattr(entry, name)), label, f"{name} of {entry.name} must be a function")
    number = isinstance(entry.memory, int | float) and entry.memory >= 0
    require(number, label, f"memory of {entry.name} must be a number: bytes per byte of data, such as 0.5")
    for name in ("models", "families", "oracle"):
        listed = isinstance(getattr(entry, name), tuple | list)
        require(listed, label, f'{name} of {entry.name} must be a tuple of names, such as ("{getattr(entry, name)}",)')


def check(label: str, entry: Entry, known: Sequence[tuple[str, Entry]]) -> None:
    """Raise CatalogError if an entry is incomplete or contradicts others; the first entry of a name stays.

    known: all entries with the names of their files, including this one.
    """
    if isinstance(entry, ModelEntry):
        _check_model(label, entry, known)
    else:
        _check_solver(label, entry, known)


def served(solver: SolverEntry, models: Iterable[ModelEntry]) -> tuple[str, ...]:
    """Return the names of the models that a solver solves, including the models of its families."""
    wanted = set(solver.families)
    of_families = (m.spec.model for m in models if wanted.intersection((m.family.name, *m.family.solvers_of)))
    return tuple(dict.fromkeys((*solver.models, *of_families)))


def _require_known(label: str, what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        require(name in known, label, f"the {what} {name!r} is unknown: take some of {', '.join(known)}")


def _check_model(label: str, entry: ModelEntry, known: Sequence[tuple[str, Entry]]) -> None:
    spec, family = entry.spec, entry.family
    models = [(where, one) for where, one in known if isinstance(one, ModelEntry)]
    where, first = next((where, one) for where, one in models if one.spec.model == spec.model)
    require(first is entry, label, f"the model {spec.model!r} is in {where}, too: rename one of them")
    where, first = next((where, one) for where, one in models if one.family.name == family.name)
    require(first.family is family, label, f"the family {family.name!r} is in {where}, too: rename one of them")
    undefined = ", ".join(sorted(getattr(spec, "__abstractmethods__", ())))
    require(not undefined, label, f"{spec.__name__} does not define {undefined}: add it to the class")
    for base in spec.__mro__:
        for name, hint in inspect.get_annotations(base).items():
            if ClassVar in (hint, get_origin(hint)):
                require(getattr(spec, name, "") != "", label, f"{spec.__name__} has no {name}: add it to the class")
            elif base is spec:
                remedy = f"write {name}: Annotated[type, Parameter(meaning=...)] = default, in a frozen dataclass"
                require(name in declared(spec), label, f"{spec.__name__}.{name} is not declared: {remedy}")
    along = (entry.along,) if entry.along or entry.along_range else ()
    kinds = ", ".join(base.__name__ for base in SPECTRAL)
    spectral = not entry.along or issubclass(spec, SPECTRAL)
    require(spectral, label, f"{spec.model} has no spectrum, which takes one of {kinds}: leave out along")
    require(entry.main, label, f"no parameter of {spec.model} comes first: add main")
    alike = [one for _, one in models if one.family is family]
    every_axis = {axis: None for one in alike for axis in axes(one.spec)}
    made = [(one.name, served(one, [m for _, m in models])) for _, one in known if isinstance(one, SolverEntry)]
    of_family = dict.fromkeys(name for name, own in made if {one.spec.model for one in alike} & set(own))
    for what, names, options in (
        (f"axis of {spec.model}", (*entry.plane, *along, *entry.ranges, *entry.turns), axes(spec)),
        (f"parameter of {spec.model}", (*entry.main, *entry.held), declared(spec)),
        (f"measure of {spec.model}", (*entry.measures, family.goal.measure), family.measures),
        (f"family in solvers_of of {family.name}", family.solvers_of, [one.family.name for _, one in models]),
        (f"model of {family.name}", family.model_order, [one.spec.model for one in alike]),
        (f"solver of {family.name}", (*family.solvers, *family.order), of_family),
        (f"axis of {family.name}", (*family.grows, *family.falls, *family.ranges), every_axis),
        (f"limit of {family.name}", family.limits, declared(Limits)),
    ):
        _require_known(label, what, names, options)
    require(family.solvers, label, f"the family {family.name!r} shows no solver at first: add solvers=(...)")
    both = ", ".join(set(family.grows) & set(family.falls))
    require(not both, label, f"{both} of {family.name} cannot be in both grows and falls")
    solved = any(spec.model in own for _, own in made)
    require(solved, label, f"no solver is made for {spec.model}: name it in `models` of a solver")


def _check_solver(label: str, entry: SolverEntry, known: Sequence[tuple[str, Entry]]) -> None:
    models = [one for _, one in known if isinstance(one, ModelEntry)]
    for part in ("title", "summary", "update", "reference"):
        remedy = f"add it to the docstring{PLACES[part]}"
        require(getattr(entry, part), label, f"the solver {entry.name} has no {part}: {remedy}")
    arguments = inspect.signature(entry.run).parameters
    read = {"problem", "rng"} <= arguments.keys()
    require(read, label, f"{entry.name} must be a function (problem, *, options, rng) that yields an Iterate per step")
    for name, argument in arguments.items():
        # Functions that share code may have keywords of other kinds, which are not options.
        option = isinstance(argument.default, bool | int | float | str) and name not in ("problem", "rng")
        remedy = f"write {name}: Annotated[type, Parameter(meaning=...)] = default"
        undeclared = option and name not in declared(entry.run)
        require(not undeclared, label, f"the option {name} of {entry.name} is not declared: {remedy}")
    require(entry.models or entry.families, label, f"{entry.name} names no model: add models=... or family=...")
    _require_known(label, f"model of {entry.name}", entry.models, [one.spec.model for one in models])
    families = dict.fromkeys(one.family.name for one in models)
    _require_known(label, f"family of {entry.name}", entry.families, families)
    own = set(served(entry, models))
    for where, other in known:
        if other is entry:
            break
        if isinstance(other, SolverEntry) and other.name == entry.name:
            both = ", ".join(sorted(own & set(served(other, models))))
            require(not both, label, f"the solver {entry.name!r} for {both} is in {where}, too: rename one of them")
