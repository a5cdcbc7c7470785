"""Checks the entries of models and solvers, and the files that declare them: one sentence for each mistake."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, ClassVar, get_origin

from lrlab.model_entry import Family, ModelEntry
from lrlab.models.axes import axes
from lrlab.parameters import declared
from lrlab.protocol import Limits, Spec
from lrlab.solver_entry import SolverEntry, entries

Entry = ModelEntry | SolverEntry
Known = Sequence[tuple[str, Entry]]
"""All entries, with the names of their files."""
HINT = "put @lrlab.solver(models=...) above the generator function of the solver"
PLACES = {
    "title": ", as its first line",
    "summary": ", as its second paragraph",
    "update": ", as LaTeX after `.. math::`",
    "reference": ", after `Reference:`",
}
"""Parts of a solver's docstring, with their positions."""
ANNOTATED = "Annotated[type, Parameter(meaning=...)] = default"


class CatalogError(Exception):
    """A file or an entry that lrlab cannot use: one sentence with the file, the mistake and the remedy."""


def require(condition: object, label: str, sentence: str) -> None:
    """Raise CatalogError with the name of a file and a sentence unless the condition holds."""
    if not condition:
        raise CatalogError(f"{label}: {sentence}")


def failure(label: str, error: BaseException) -> CatalogError:
    """Return the error of a file that does not import."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return CatalogError(f"{label}: does not import ({reason}): correct the file")


def declared_in(module: object, label: str) -> list[Entry]:
    """Return the solvers that a module declares with `@solver`, and the models of its `ENTRY` or `ENTRIES`."""
    models = getattr(module, "ENTRIES", [module.ENTRY] if hasattr(module, "ENTRY") else [])
    right = isinstance(models, Sequence) and all(isinstance(model, ModelEntry) for model in models)
    require(right, label, f"ENTRY must be a ModelEntry; of a solver, {HINT}")
    name = getattr(module, "__name__", "")
    own = {id(value): value for value in vars(module).values() if getattr(value, "__module__", "") == name}
    return [*models, *(entry for value in own.values() for entry in entries(value))]


def sound(given: Sequence[Entry], label: str) -> tuple[Entry, ...]:
    """Return the entries of a plugin whose parts have the types that other checks need; CatalogError without one."""
    require(given, label, f"it has no entry: {HINT}")
    for entry in given:
        if isinstance(entry, ModelEntry):
            is_spec = inspect.isclass(entry.spec) and issubclass(entry.spec, Spec)
            require(is_spec, label, "spec must be a class derived from Spec, and not an instance of it")
            named = getattr(entry.spec, "model", "")
            require(named, label, f'{entry.spec.__name__} has no name: add model = "..." to the class')
            require(isinstance(entry.family, Family), label, "family must be a Family, and not its name")
    return tuple(given)


def served(solver: SolverEntry, models: Iterable[ModelEntry]) -> tuple[str, ...]:
    """Return the names of the models that a solver solves, including the models of its families."""
    of_families = (one.spec.model for one in models if one.family.name in solver.families)
    return tuple(dict.fromkeys((*solver.models, *of_families)))


def check(label: str, entry: Entry, known: Known) -> None:
    """Raise CatalogError if an entry is incomplete or contradicts others; the first entry of a name stays."""
    before = list(takewhile(lambda pair: pair[1] is not entry, known))
    if isinstance(entry, ModelEntry):
        mistakes = _of_model(entry, before, known)
    else:
        mistakes = _of_solver(entry, before, [one for _, one in known if isinstance(one, ModelEntry)])
    try:
        mistake = next(mistakes, "")
    except (AttributeError, TypeError) as error:
        mistake = f"a part of the entry has the wrong type ({error}): correct it"
    require(not mistake, label, mistake)


def _unknown(what: str, names: Iterable[str], options: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each name that is not among the options."""
    for name in names:
        if name not in options:
            yield f"the {what} {name!r} is unknown: take some of {', '.join(options)}"


def _of_model(entry: ModelEntry, before: Known, known: Known) -> Iterator[str]:
    spec, family = entry.spec, entry.family
    for where, one in before:
        if isinstance(one, ModelEntry) and one.spec.model == spec.model:
            yield f"the model {spec.model!r} is in {where}, too: rename one of them"
        if isinstance(one, ModelEntry) and one.family.name == family.name and one.family is not family:
            yield f"the family {family.name!r} is in {where}, too: rename one of them"
    if undefined := ", ".join(sorted(getattr(spec, "__abstractmethods__", ()))):
        yield f"{spec.__name__} does not define {undefined}: add it to the class"
    for owner in spec.__mro__:
        for name, hint in inspect.get_annotations(owner).items():
            if ClassVar in (hint, get_origin(hint)):
                if getattr(spec, name, "") == "":
                    yield f"{spec.__name__} has no {name}: add it to the class"
            elif owner is spec and name not in declared(spec):
                yield f"{spec.__name__}.{name} is not declared: write {name}: {ANNOTATED}, in a frozen dataclass"
    if not entry.main:
        yield f"no parameter of {spec.model} comes first: add main"
    if not isinstance(entry.plane, tuple) or len(entry.plane) != 2:
        yield f'plane of {spec.model} must be two axes, such as ("rank", "m")'
    along = (entry.along,) if entry.along or entry.along_range else ()
    named = *entry.plane, *along, *entry.ranges, *entry.non_monotone
    yield from _unknown(f"axis of {spec.model}", named, axes(spec))
    yield from _unknown(f"parameter of {spec.model}", (*entry.main, *entry.held), declared(spec))
    yield from _unknown(f"measure of {spec.model}", (*entry.measures, family.goal.measure), family.measures)
    models = [one for _, one in known if isinstance(one, ModelEntry)]
    made = [(one.name, served(one, models)) for _, one in known if isinstance(one, SolverEntry)]
    if not any(spec.model in names for _, names in made):
        yield f"no solver is made for {spec.model}: name it in `models` of a solver"
    if not family.solvers:
        yield f"the family {family.name!r} shows no solver at first: add solvers=(...)"
    alike = [one.spec for one in models if one.family is family]
    of_family = [name for name, own in made if {one.model for one in alike} & {*own}]
    every_axis = [axis for one in alike for axis in axes(one)]
    yield from _unknown(f"solver of {family.name}", (*family.solvers, *family.order, *entry.first), of_family)
    yield from _unknown(f"model of {family.name}", family.model_order, [one.model for one in alike])
    yield from _unknown(f"axis of {family.name}", (*family.grows, *family.falls, *family.ranges), every_axis)
    yield from _unknown(f"limit of {family.name}", family.limits, declared(Limits))
    if both := ", ".join({*family.grows} & {*family.falls}):
        yield f"{both} of {family.name} cannot be in both grows and falls"


def _of_solver(entry: SolverEntry, before: Known, models: Sequence[ModelEntry]) -> Iterator[str]:
    for part, place in PLACES.items():
        if not getattr(entry, part):
            yield f"the solver {entry.name} has no {part}: add it to the docstring{place}"
    arguments: dict[str, Any] = dict(inspect.signature(entry.run).parameters)
    if not arguments.pop("problem", None) or not arguments.pop("rng", None):
        yield f"{entry.name} must be a function (problem, *, options, rng) that yields an Iterate per step"
    for name, argument in arguments.items():
        # Functions that share code may have keywords of other kinds, which are not options.
        if isinstance(argument.default, bool | int | float | str) and name not in declared(entry.run):
            yield f"the option {name} of {entry.name} is not declared: write {name}: {ANNOTATED}"
    if not entry.models and not entry.families:
        yield f"{entry.name} names no model: add models=... or family=..."
    yield from _unknown(f"model of {entry.name}", entry.models, [one.spec.model for one in models])
    yield from _unknown(f"family of {entry.name}", entry.families, [one.family.name for one in models])
    for where, other in before:
        if isinstance(other, SolverEntry) and other.name == entry.name:
            if both := ", ".join(sorted({*served(entry, models)} & {*served(other, models)})):
                yield f"the solver {entry.name!r} for {both} is in {where}, too: rename one of them"
