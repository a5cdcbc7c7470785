"""The catalog: models and solvers by name, from lrlab and from plugins.

A file of `lrlab.solvers` or of a plugin declares solvers with `@solver`; a file of a model ends with its `ENTRY`.
lrlab checks the entries of a plugin when it adds it; tests check its own entries.
"""

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import lrlab.models
import lrlab.solvers
from lrlab import aliases, code_hash, plugins
from lrlab.model_entry import Family, ModelEntry
from lrlab.parameters import InputError, nearest, require_known
from lrlab.plugins import AnySolver, CatalogError, Entry, Plugin, Source
from lrlab.protocol import Spec
from lrlab.solver_entry import SolverEntry, entries

SETTING = "LRLAB_PLUGINS"
GROUPS = "lrlab.solvers", "lrlab.models"
"""Groups of entry points of installed packages, which name modules."""


def _built_in(package: ModuleType) -> list[Plugin]:
    """Import all modules below a package, by name; its folders need no `__init__.py`."""
    files = sorted((file, root) for root in map(Path, package.__path__) for file in root.rglob("*.py"))
    parts = [file.relative_to(root).with_suffix("").parts for file, root in files if file.name != "__init__.py"]
    modules = [import_module(".".join((package.__name__, *own))) for own in parts]
    return [Plugin(one.__name__, own) for one in modules if (own := plugins.declared_in(one, one.__name__))]


BUILT_IN: tuple[Plugin, ...] = (*_built_in(lrlab.models), *_built_in(lrlab.solvers))
_lock = threading.RLock()

PLUGINS: tuple[Plugin, ...] = ()
LEFT_OUT: tuple[str, ...] = ()
"""Sentences on broken plugins."""
FAMILIES: tuple[Family, ...]
MODEL_ENTRIES: Mapping[str, ModelEntry]
MODELS: Mapping[str, type[Spec]]
SOLVERS: Mapping[str, tuple[SolverEntry, ...]]
ENTRIES: tuple[SolverEntry, ...]
NAMES: tuple[str, ...]


def add(new: Sequence[Plugin]) -> list[CatalogError]:
    """Add plugins, and return an error for each broken one.

    They replace earlier plugins that have a name in common or come from the same file.
    """
    global PLUGINS
    with _lock:
        names = frozenset[str]().union(*(plugin.names for plugin in new))
        files = {plugin.file for plugin in new if plugin.file}
        held = [one for one in PLUGINS if not one.names & names and one.file not in files]
        # The last one first: of two with the same name, the earlier one stays.
        for plugin in reversed(new):
            try:
                plugins.check(plugin, [*BUILT_IN, *held, *new])
            except CatalogError as error:
                # Others may need its entries, so lrlab checks them again.
                return [error, *add([one for one in new if one is not plugin])]
        PLUGINS = (*held, *new)
        _publish([entry for plugin in (*BUILT_IN, *PLUGINS) for entry in plugin.entries])
    return []


def _publish(entries: Sequence[Entry]) -> None:
    global FAMILIES, MODEL_ENTRIES, MODELS, SOLVERS, ENTRIES, NAMES

    def place(order: Sequence[str], name: str) -> tuple[int, str]:
        return (order.index(name) if name in order else len(order)), name

    models = [entry for entry in entries if isinstance(entry, ModelEntry)]
    models.sort(key=lambda one: place(one.family.model_order, one.spec.model))
    models.sort(key=lambda one: place(lrlab.models.FAMILY_ORDER, one.family.name))
    solvers = [replace(one, models=plugins.served(one, models)) for one in entries if isinstance(one, SolverEntry)]
    FAMILIES = tuple({entry.family.name: entry.family for entry in models}.values())
    MODEL_ENTRIES = {entry.spec.model: entry for entry in models}
    MODELS = {name: entry.spec for name, entry in MODEL_ENTRIES.items()}
    SOLVERS = {}
    for name, entry in MODEL_ENTRIES.items():
        made = (one for one in solvers if name in one.models)
        SOLVERS[name] = tuple(sorted(made, key=lambda one: place(entry.family.order, one.name)))
    ENTRIES = tuple({id(entry): entry for made_for in SOLVERS.values() for entry in made_for}.values())
    NAMES = tuple(dict.fromkeys(entry.name for entry in ENTRIES))


def register(plugin: str | os.PathLike[str] | ModelEntry | AnySolver, *, models: Iterable[str] = ()) -> tuple[str, ...]:
    """Add your solvers and models to the catalog of this process, and return their names.

    plugin: the path of a Python file with solvers or models, the entry of a model, or a generator function (problem, *,
    options, rng) that yields an `Iterate` per step. models: names of the models of a function without `@lrlab.solver`.

    It replaces your earlier solvers and models of the same name, but none of lrlab. All workers, also on a cluster,
    receive it. CatalogError, in one sentence, if something is missing or contradictory.
    """
    if isinstance(plugin, str | os.PathLike):
        added = plugins.from_file(plugin)
    elif isinstance(plugin, ModelEntry):
        added = plugins.from_entries([plugin])
    elif getattr(plugin, "__name__", "").isidentifier():
        added = plugins.from_entries(entries(plugin) or [SolverEntry(run=plugin, models=tuple(sorted(models)))])
    else:
        raise InputError("plugin", "the path of a file, a model entry or a generator function", plugin, "register one")
    for error in add([added]):
        raise error
    for entry in added.entries:
        # Pickled now: a run, or the next notebook cell, may change its globals.
        code_hash.renew(plugins.code_of(entry))
    return tuple(sorted(name.partition(" ")[2] for name in added.names))


def named(solver: AnySolver, model: str) -> str:
    """Return the name of a solver; a function that the catalog does not have for a model is registered.

    InputError if it is none of these; CatalogError if it cannot be registered.
    """
    if isinstance(solver, str):
        return solver
    if not getattr(solver, "__name__", "").isidentifier():
        remedy = "write def my_solver(problem, *, rng): ... yield lrlab.Iterate(...)"
        raise InputError("solver", "a name or a generator function", solver, remedy)
    known = next((entry for entry in ENTRIES if entry.run is solver), None)
    if known and entries(solver):
        return known.name
    # Again each time: the code that the function uses in a notebook may have changed.
    return register(solver, models=() if entries(solver) else {*(known.models if known else ()), model})[0]


def add_all(makers: Iterable[Callable[[], Plugin]]) -> None:
    """Make plugins and add them; `LEFT_OUT` names the broken ones."""
    global LEFT_OUT
    made, wrong = list[Plugin](), list[CatalogError]()
    for make in makers:
        try:
            made.append(make())
        except CatalogError as error:
            wrong.append(error)
    LEFT_OUT = tuple(dict.fromkeys((*LEFT_OUT, *map(str, (*wrong, *add(made))))))


def load(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Have this process and those that it starts use the plugins of files; the pages name one that is broken.

    InputError if a file is not there.
    """
    files = [Path(path).expanduser().absolute() for path in paths]
    for file in files:
        if not file.is_file():
            raise InputError("with", "a Python file that is there", file, "correct the path")
    before = os.environ.get(SETTING, "").split(os.pathsep)
    os.environ[SETTING] = os.pathsep.join(dict.fromkeys(filter(None, [*before, *map(str, files)])))
    add_all(partial(plugins.from_file, file) for file in files)


def sources() -> tuple[Source, ...]:
    """Return the sources of this process's plugins, for a worker."""
    return tuple(plugin.source for plugin in PLUGINS if plugin.source is not None)


@lru_cache(maxsize=1)
def install(sent: tuple[Source, ...]) -> None:
    """Add the plugins that another process has sent, unless it did the last time; `LEFT_OUT` names broken ones."""
    add_all(partial(plugins.from_source, source) for source in sent if source not in sources())


def spec(model: str, **parameters: object) -> Spec:
    """Return the checked spec of a model; parameters have defaults. `lrlab.models()` lists models.

    Raises InputError for an unknown model or parameter, a value out of bounds, or values that contradict each other.
    """
    return model_entry(model).spec().replace(**parameters)


def model_entry(model: str) -> ModelEntry:
    """Return the entry of a model; InputError for an unknown name."""
    require_known(model, MODEL_ENTRIES, what="model")
    return MODEL_ENTRIES[model]


def family(model: str) -> Family:
    """Return the family of a model; InputError for an unknown name."""
    return model_entry(model).family


def solver(name: str, model: str = "") -> SolverEntry:
    """Return the entry of a solver, for a model if one is given; InputError names the solvers that are made for it.

    An old name (`aliases.SOLVERS`) gives the solver of today with the options of the old one.
    """
    today, fixed = aliases.SOLVERS.get(name, (name, {})) if name not in NAMES else (name, {})
    if today not in NAMES and LEFT_OUT:
        raise InputError("solver", "one that can be used here", name, " ".join(LEFT_OUT))
    if today not in NAMES:
        require_known(today, tuple(one.name for one in solvers_for(model)) if model else NAMES, what="solver")
    entries = [entry for entry in ENTRIES if entry.name == today]
    entry = next((entry for entry in entries if model in entry.models or not model), None)
    if entry is None:
        names = tuple(one.name for one in solvers_for(model))
        remedy = nearest(name, names) or f"take one of these, or one of the models {', '.join(entries[0].models)}"
        raise InputError("solver", f"made for {model} ({', '.join(names)})", name, remedy)
    return entry.alias(name, fixed) if today != name else entry


def solvers_for(model: str, names: Iterable[str] = ()) -> list[SolverEntry]:
    """Return the solvers of a model in the order of pages, then those that some of the names name by an old name.

    InputError for an unknown model.
    """
    entries = SOLVERS[model_entry(model).spec.model]
    today = {entry.name for entry in entries}
    old = [name for name in dict.fromkeys(names) if name not in NAMES and aliases.SOLVERS.get(name, ("",))[0] in today]
    return [*entries, *(solver(name, model) for name in old)]


def given(names: Iterable[str], model: str) -> str:
    """Return the oracle information of the solvers of a comparison, as a sentence; nothing if there is none."""
    entries = [solver(name, model) for name in names]
    known = [f"{', '.join(entry.oracle)} ({entry.title})" for entry in entries if entry.oracle]
    return f"Oracle information: {'; '.join(known)}." if known else ""


_files = filter(None, os.environ.get(SETTING, "").split(os.pathsep))
_modules = {point.module for group in GROUPS for point in entry_points(group=group)}
add_all(
    [
        *(partial(plugins.from_file, path) for path in _files),
        *(partial(plugins.from_package, module) for module in sorted(_modules)),
    ]
)
for mistake in LEFT_OUT:
    warnings.warn(f"{mistake} (left out)", stacklevel=2)
