"""The catalog: models and solvers by name, from lrlab and from plugins.

A file of `lrlab.solvers` or of a plugin declares solvers with `@solver`; a file of a model ends with its `ENTRY`.
lrlab checks the entries of a plugin when it adds it; tests check its own entries.
"""

import hashlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import lrlab.models
import lrlab.solvers
from lrlab import aliases
from lrlab.catalog_checks import CatalogError, Entry, check, declared_in, failure, served, sound
from lrlab.model_entry import Family, ModelEntry
from lrlab.parameters import InputError, nearest, require_known
from lrlab.protocol import Spec
from lrlab.solver_entry import SolverEntry, entries

SETTING = "LRLAB_PLUGINS"
GROUPS = "lrlab.solvers", "lrlab.models"
"""Groups of entry points of installed packages, which name modules or entries."""
PREFIX = "lrlab_plugin"
FAILURES = Exception, SystemExit, KeyboardInterrupt, GeneratorExit
"""Errors in the import of a file. lrlab leaves out this plugin, and everything else works."""
Source = tuple[str, bytes] | bytes | str


class Plugin(NamedTuple):
    """Entries with the name of their file.

    source: how a worker makes the same plugin: the path and text of a file, or a pickled entry; a sentence if it
    cannot, and None if it has the module installed.
    """

    label: str
    entries: tuple[Entry, ...]
    source: Source | None = None

    @property
    def file(self) -> str:
        """The path of its file, or nothing."""
        return self.source[0] if isinstance(self.source, tuple) else ""

    @property
    def names(self) -> frozenset[str]:
        """The kinds and names of its solvers and models."""
        return frozenset(
            f"solver {one.name}" if isinstance(one, SolverEntry) else f"model {one.spec.model}" for one in self.entries
        )


def _built_in(package: ModuleType) -> list[Plugin]:
    """Import all modules below a package, by name; its folders need no `__init__.py`."""
    files = sorted((file, root) for root in map(Path, package.__path__) for file in root.rglob("*.py"))
    parts = [file.relative_to(root).with_suffix("").parts for file, root in files if file.name != "__init__.py"]
    modules = [import_module(".".join((package.__name__, *own))) for own in parts]
    return [Plugin(one.__name__, tuple(own)) for one in modules if (own := declared_in(one, one.__name__))]


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


def from_file(path: str | os.PathLike[str]) -> Plugin:
    """Return the plugin of a Python file, which is run once for each text; CatalogError if it does not run."""
    file = Path(path).expanduser().absolute()
    try:
        text = file.read_bytes()
    except OSError as error:
        raise CatalogError(f"{file.name}: is not there ({file}): correct the path") from error
    return from_text(str(file), text)


def from_text(path: str, text: bytes) -> Plugin:
    """Return the plugin of the text of a file, whose module has a name for this text only."""
    label = Path(path).name
    word = re.sub(r"\W", "_", Path(path).stem)
    name = f"{PREFIX}_{word}_{hashlib.blake2b(text, digest_size=8).hexdigest()}"
    if name not in sys.modules:
        # Dataclasses and pickle look it up there.
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = path
        try:
            exec(compile(text, path, "exec", dont_inherit=True), vars(module))
        except FAILURES as error:
            del sys.modules[name]
            raise failure(label, error) from error
    return Plugin(label, sound(declared_in(sys.modules[name], label), label), (path, text))


def _of_package(point: EntryPoint) -> Plugin:
    """Return the plugin of an entry point of an installed package, which names a module or an entry."""
    label = f"{point.value} of {point.dist.name}" if point.dist else point.value
    try:
        loaded = point.load()
    except FAILURES as error:
        raise failure(label, error) from error
    module = loaded if isinstance(loaded, ModuleType) else SimpleNamespace(ENTRY=loaded)
    return Plugin(label, sound(entries(loaded) or declared_in(module, label), label))


def add_all(makers: Iterable[Callable[[], Plugin]]) -> None:
    """Make plugins and add them; `LEFT_OUT` names the broken ones."""
    global LEFT_OUT
    plugins, wrong = list[Plugin](), list[CatalogError]()
    for make in makers:
        try:
            plugins.append(make())
        except CatalogError as error:
            wrong.append(error)
    LEFT_OUT = tuple(dict.fromkeys((*LEFT_OUT, *map(str, (*wrong, *add(plugins))))))


def add(plugins: Sequence[Plugin]) -> list[CatalogError]:
    """Add plugins, and return an error for each broken one.

    They replace earlier plugins that have a name in common or come from the same file.
    """
    global PLUGINS
    with _lock:
        names = frozenset[str]().union(*(plugin.names for plugin in plugins))
        files = {plugin.file for plugin in plugins if plugin.file}
        held = [one for one in PLUGINS if not one.names & names and one.file not in files]
        known = [(one.label, entry) for one in (*BUILT_IN, *held, *plugins) for entry in one.entries]
        for plugin in plugins:
            try:
                # Models need solvers that are sound.
                for entry in sorted(plugin.entries, key=lambda one: isinstance(one, ModelEntry)):
                    check(plugin.label, entry, known)
            except CatalogError as error:
                # Others may need its entries, so lrlab checks them again.
                return [error, *add([one for one in plugins if one is not plugin])]
        PLUGINS = (*held, *plugins)
        _publish([entry for _, entry in known])
    return []


def _publish(entries: Sequence[Entry]) -> None:
    global FAMILIES, MODEL_ENTRIES, MODELS, SOLVERS, ENTRIES, NAMES

    def place(order: Sequence[str], name: str) -> tuple[int, str]:
        return (order.index(name) if name in order else len(order)), name

    models = [entry for entry in entries if isinstance(entry, ModelEntry)]
    models.sort(key=lambda one: place(one.family.model_order, one.spec.model))
    models.sort(key=lambda one: place(lrlab.models.FAMILY_ORDER, one.family.name))
    solvers = [replace(one, models=served(one, models)) for one in entries if isinstance(one, SolverEntry)]
    FAMILIES = tuple({entry.family.name: entry.family for entry in models}.values())
    MODEL_ENTRIES = {entry.spec.model: entry for entry in models}
    MODELS = {name: entry.spec for name, entry in MODEL_ENTRIES.items()}
    SOLVERS = {}
    for name, entry in MODEL_ENTRIES.items():
        made = (one for one in solvers if name in one.models)
        SOLVERS[name] = tuple(sorted(made, key=lambda one: place(entry.family.order, one.name)))
    ENTRIES = tuple({id(entry): entry for made_for in SOLVERS.values() for entry in made_for}.values())
    NAMES = tuple(dict.fromkeys(entry.name for entry in ENTRIES))


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
    """Return the entry of a solver; if several share the name, the one for the model, or else the first.

    An old name (`aliases.SOLVERS`) gives the solver of today with the options of the old one.
    """
    if name in aliases.SOLVERS and name not in NAMES:
        today, options = aliases.SOLVERS[name]
        return solver(today, model).alias(name, options)
    if name not in NAMES and LEFT_OUT:
        raise InputError("solver", "one that can be used here", name, " ".join(LEFT_OUT))
    require_known(name, NAMES, what="solver")
    entries = [entry for entry in ENTRIES if entry.name == name]
    return next((entry for entry in entries if model in entry.models), entries[0])


def solvers_for(model: str) -> list[SolverEntry]:
    """Return the solvers of a model, in the order of pages; InputError for an unknown name."""
    return list(SOLVERS[model_entry(model).spec.model])


def with_aliases(model: str, names: Iterable[str]) -> list[SolverEntry]:
    """Return the solvers made for a model, and after them the old names among `names`."""
    old = [solver(name, model) for name in dict.fromkeys(names) if name in aliases.SOLVERS and name not in NAMES]
    return [*solvers_for(model), *(entry for entry in old if model in entry.models)]


def given(names: Iterable[str], model: str) -> str:
    """Return the oracle information of the solvers of a comparison, as a sentence; nothing if there is none."""
    entries = [solver(name, model) for name in names]
    known = [f"{', '.join(entry.oracle)} ({entry.title})" for entry in entries if entry.oracle]
    return f"Oracle information: {'; '.join(known)}." if known else ""


def compatible(spec: Spec, name: str) -> SolverEntry:
    """Return the entry of a solver that is made for the spec's model; InputError names those that are."""
    entry = solver(name, spec.model)
    if spec.model not in entry.models:
        names = tuple(e.name for e in solvers_for(spec.model))
        remedy = nearest(name, names) or f"take one of these, or one of the models {', '.join(entry.models)}"
        raise InputError("solver", f"made for {spec.model} ({', '.join(names)})", name, remedy)
    return entry


add_all(
    [
        *(partial(from_file, path) for path in os.environ.get(SETTING, "").split(os.pathsep) if path),
        *(partial(_of_package, point) for group in GROUPS for point in entry_points(group=group)),
    ]
)
for mistake in LEFT_OUT:
    warnings.warn(f"{mistake} (left out)", stacklevel=2)
