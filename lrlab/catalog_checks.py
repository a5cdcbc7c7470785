"""Checks the entries of models and solvers, and the files that declare them: one sentence for each mistake."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
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


def entries_of(module: object, label: str) -> tuple[Entry, ...]:
    """Return the entries that a module of a plugin declares; CatalogError as of `sound`."""
    return sound(declared_in(module, label), label)


def sound(given: Sequence[Entry], label: str) -> tuple[Entry, ...]:
    """Return entries whose parts have the types that all other checks need; CatalogError if there is none."""
    require(given, label, f"it has no entry: {HINT}")
    for entry in given:
        if isinstance(entry, SolverEntry):
            require(callable(entry.run), label, f"run of {entry.name} must be a function")
            continue
        is_spec = inspect.isclass(entry.spec) and issubclass(entry.spec, Spec)
        require(is_spec, label, "spec must be a class derived from Spec, and not an instance of it")
        named = getattr(entry.spec, "model", "")
        require(named, label, f'{entry.spec.__name__} has no name: add model = "..." to the class')
        require(isinstance(entry.family, Family), label, "family must be a Family, and not its name")
        pair = isinstance(entry.plane, tuple) and len(entry.plane) == 2
        require(pair, label, 'plane must be two axes, such as ("rank", "m")')
    return tuple(given)


def served(solver: SolverEntry, models: Iterable[ModelEntry]) -> tuple[str, ...]:
    """Return the names of the models that a solver solves, including the models of its families."""
    wanted = set(solver.families)
    of_families = (m.spec.model for m in models if wanted.intersection((m.family.name, *m.family.solvers_of)))
    return tuple(dict.fromkeys((*solver.models, *of_families)))


def check(label: str, entry: Entry, known: Known) -> None:
    """Raise CatalogError if an entry is incomplete or contradicts others; the first entry of a name stays."""
    mistakes = _of_model(entry, known) if isinstance(entry, ModelEntry) else _of_solver(entry, known)
    require(not (mistake := next(mistakes, "")), label, mistake)


def _unknown(*tables: tuple[str, Iterable[str], Iterable[str]]) -> Iterator[str]:
    """Yield a sentence for each name that is not among the options; a table has a kind, names and options."""
    for what, names, options in tables:
        for name in names:
            if name not in options:
                yield f"the {what} {name!r} is unknown: take some of {', '.join(options)}"


def _of_model(entry: ModelEntry, known: Known) -> Iterator[str]:
    spec, family = entry.spec, entry.family
    models = [(where, one) for where, one in known if isinstance(one, ModelEntry)]
    where, first = next((where, one) for where, one in models if one.spec.model == spec.model)
    if first is not entry:
        yield f"the model {spec.model!r} is in {where}, too: rename one of them"
    where, first = next((where, one) for where, one in models if one.family.name == family.name)
    if first.family is not family:
        yield f"the family {family.name!r} is in {where}, too: rename one of them"
    if undefined := ", ".join(sorted(getattr(spec, "__abstractmethods__", ()))):
        yield f"{spec.__name__} does not define {undefined}: add it to the class"
    hints = [(base, *item) for base in spec.__mro__ for item in inspect.get_annotations(base).items()]
    for owner, name, hint in hints:
        if ClassVar in (hint, get_origin(hint)):
            if getattr(spec, name, "") == "":
                yield f"{spec.__name__} has no {name}: add it to the class"
        elif owner is spec and name not in declared(spec):
            yield f"{spec.__name__}.{name} is not declared: write {name}: {ANNOTATED}, in a frozen dataclass"
    if not entry.main:
        yield f"no parameter of {spec.model} comes first: add main"
    along = (entry.along,) if entry.along or entry.along_range else ()
    alike = [one.spec for _, one in models if one.family is family]
    every_axis = {axis: None for one in alike for axis in axes(one)}
    made = [(one.name, served(one, [m for _, m in models])) for _, one in known if isinstance(one, SolverEntry)]
    of_family = dict.fromkeys(name for name, own in made if {one.model for one in alike} & {*own})
    yield from _unknown(
        (f"axis of {spec.model}", (*entry.plane, *along, *entry.ranges, *entry.turns), axes(spec)),
        (f"parameter of {spec.model}", (*entry.main, *entry.held), declared(spec)),
        (f"measure of {spec.model}", (*entry.measures, family.goal.measure), family.measures),
        (f"family in solvers_of of {family.name}", family.solvers_of, [one.family.name for _, one in models]),
        (f"model of {family.name}", family.model_order, [one.model for one in alike]),
        (f"solver of {family.name}", (*family.solvers, *family.order), of_family),
        (f"axis of {family.name}", (*family.grows, *family.falls, *family.ranges), every_axis),
        (f"limit of {family.name}", family.limits, declared(Limits)),
    )
    if not family.solvers:
        yield f"the family {family.name!r} shows no solver at first: add solvers=(...)"
    if both := ", ".join(set(family.grows) & set(family.falls)):
        yield f"{both} of {family.name} cannot be in both grows and falls"
    if not any(spec.model in own for _, own in made):
        yield f"no solver is made for {spec.model}: name it in `models` of a solver"


def _of_solver(entry: SolverEntry, known: Known) -> Iterator[str]:
    models = [one for _, one in known if isinstance(one, ModelEntry)]
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
    yield from _unknown(
        (f"model of {entry.name}", entry.models, [one.spec.model for one in models]),
        (f"family of {entry.name}", entry.families, dict.fromkeys(one.family.name for one in models)),
    )
    for where, other in known:
        if other is entry:
            break
        if isinstance(other, SolverEntry) and other.name == entry.name:
            if both := ", ".join(sorted({*served(entry, models)} & {*served(other, models)})):
                yield f"the solver {entry.name!r} for {both} is in {where}, too: rename one of them"
