"""Plugins: solvers and models with the name of their file, made from files, packages and functions, and checked."""

import hashlib
import inspect
import os
import pickle
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, get_origin

from lrlab import code_hash
from lrlab.model_entry import ModelEntry
from lrlab.models.axes import axes
from lrlab.parameters import InputError, declared, require_known
from lrlab.protocol import Limits, Solver
from lrlab.solver_entry import SolverEntry, entries

Entry = ModelEntry | SolverEntry
AnySolver = str | Solver
"""A solver: by its name, or a generator function (problem, *, options, rng)."""
Source = tuple[str, bytes] | bytes | str
HINT = "put @lrlab.solver(models=...) above the generator function of the solver"


class CatalogError(Exception):
    """A file or an entry that lrlab cannot use: one sentence with the file, the mistake and the remedy."""


class Plugin(NamedTuple):
    """Entries with the name of their file.

    source: how a worker makes the same plugin: the path and text of a file, or pickled entries; a sentence if it
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


def code_of(entry: Entry) -> Any:
    """Return the function of a solver, or the class of a model's specs."""
    return entry.run if isinstance(entry, SolverEntry) else entry.spec


@contextmanager
def importing(label: str, module: str = "") -> Iterator[None]:
    """Raise CatalogError for any error in the import of a file, and forget its module."""
    try:
        yield
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        sys.modules.pop(module, None)
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise CatalogError(f"{label}: does not import ({reason}): correct the file") from error


def declared_in(module: ModuleType, label: str) -> tuple[Entry, ...]:
    """Return the models of a module's `ENTRY` or `ENTRIES`, and the solvers that it declares with `@solver`."""
    models = getattr(module, "ENTRIES", [module.ENTRY] if hasattr(module, "ENTRY") else [])
    if not isinstance(models, Sequence) or not all(isinstance(model, ModelEntry) for model in models):
        raise CatalogError(f"{label}: ENTRY must be a ModelEntry; of a solver, {HINT}")
    own = {id(value): value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__}
    return *models, *(entry for value in own.values() for entry in entries(value))


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
    label, word = Path(path).name, re.sub(r"\W", "_", Path(path).stem)
    name = f"lrlab_plugin_{word}_{hashlib.blake2b(text, digest_size=8).hexdigest()}"
    if name not in sys.modules:
        # Dataclasses and pickle look it up there.
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = path
        with importing(label, name):
            exec(compile(text, path, "exec", dont_inherit=True), vars(module))
    return Plugin(label, declared_in(sys.modules[name], label), (path, text))


def from_package(module: str) -> Plugin:
    """Return the plugin of a module of an installed package."""
    with importing(module):
        imported = import_module(module)
    return Plugin(module, declared_in(imported, module))


def from_entries(given: Sequence[Entry]) -> Plugin:
    """Return the plugin of entries of one solver or model of a notebook or script, pickled with all that they use."""
    import cloudpickle

    # By value: workers have neither the notebook nor, maybe, the script's folder.
    # A function that `exec` made has no module.
    name, label = code_of(given[0]).__module__ or "__main__", code_of(given[0]).__name__
    everywhere = name == "__main__" or name.startswith(f"{code_hash.PACKAGE}.") or code_hash.is_installed(name)
    by_value = name in sys.modules and not everywhere
    source: Source
    try:
        if by_value:
            cloudpickle.register_pickle_by_value(sys.modules[name])
        source = bytes(cloudpickle.dumps(tuple(given)))
    except Exception as error:
        # Whatever a function holds; it still runs in this process.
        source = f"{label}: cannot be sent to workers ({error}): leave out such objects"
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(sys.modules[name])
    return Plugin(label, tuple(given), source)


def from_source(source: Source) -> Plugin:
    """Return the plugin that another process has sent; CatalogError if it cannot be used here."""
    if isinstance(source, tuple):
        return from_text(*source)
    if isinstance(source, str):
        raise CatalogError(source)
    # A library may be missing here.
    with importing("a solver of the notebook or script"):
        received = pickle.loads(source)
    return Plugin(code_of(received[0]).__name__, received, source)


def served(solver: SolverEntry, models: Iterable[ModelEntry]) -> tuple[str, ...]:
    """Return the names of the models that a solver solves, including the models of its families."""
    of_families = (one.spec.model for one in models if one.family.name in solver.families)
    return tuple(dict.fromkeys((*solver.models, *of_families)))


def check(plugin: Plugin, plugins: Sequence[Plugin]) -> None:
    """Raise CatalogError if an entry of a plugin names something unknown, or has the name of another.

    plugins: all plugins, also this one.
    """
    known = [(one.label, entry) for one in plugins for entry in one.entries]
    models = [entry for _, entry in known if isinstance(entry, ModelEntry)]
    solvers = [entry for _, entry in known if isinstance(entry, SolverEntry)]
    try:
        if not plugin.entries:
            raise CatalogError(f"it has no entry: {HINT}")
        for entry in plugin.entries:
            if isinstance(entry, SolverEntry):
                _check_solver(entry, models)
            else:
                _check_model(entry, models, solvers)
            for label, other in known:
                for both in _claims(entry, models) & _claims(other, models) if other is not entry else ():
                    raise CatalogError(f"{both} is in {label}, too: rename one of them")
    except Exception as error:
        reason = " ".join(str(error).split())
        plain = isinstance(error, CatalogError | InputError)
        words = str(error) if plain else f"a part of the entry is wrong ({reason}): correct it"
        raise CatalogError(f"{plugin.label}: {words}") from error


def _claims(entry: Entry, models: Iterable[ModelEntry]) -> set[str]:
    """Return the names that no other entry may have, in words."""
    if isinstance(entry, ModelEntry):
        return {f"the model {entry.spec.model!r}"}
    return {f"the solver {entry.name!r} for {model}" for model in served(entry, models)}


def _check_model(entry: ModelEntry, models: Sequence[ModelEntry], solvers: Sequence[SolverEntry]) -> None:
    spec, family = entry.spec, entry.family
    # A family that was pickled is another object.
    alike = [one.spec for one in models if one.family.name == family.name]
    every_axis = {name: title for one in alike for name, title in axes(one).items()}
    of_family = {one.name: one for one in solvers if {*served(one, models)} & {one.model for one in alike}}
    for name, hint in inspect.get_annotations(spec).items():
        if name not in declared(spec) and ClassVar not in (hint, get_origin(hint)):
            remedy = "Annotated[type, Parameter(meaning=...)] = default, in a frozen dataclass"
            raise CatalogError(f"{spec.__name__}.{name} is not declared: write {name}: {remedy}")
    if not any(spec.model in served(one, models) for one in solvers):
        raise CatalogError(f"no solver is made for {spec.model}: name it in `models` of a solver")
    horizontal, vertical = entry.plane
    named: list[tuple[str, Iterable[str], Mapping[str, object]]] = [
        ("axis", (horizontal, vertical, entry.along or vertical, *entry.ranges, *entry.non_monotone), axes(spec)),
        ("axis", (*family.grows, *family.falls, *family.ranges), every_axis),
        ("parameter", (*entry.main, *entry.held), declared(spec)),
        ("metric", (*spec().absent_metrics, family.goal.rule().metric), family.measures),
        ("solver", (*family.solvers, *family.order, *entry.first), of_family),
        ("limit", family.limits, declared(Limits)),
    ]
    for what, names, options in named:
        for name in names:
            require_known(name, options, f"{what} of {spec.model}")


def _check_solver(entry: SolverEntry, models: Sequence[ModelEntry]) -> None:
    parameters = inspect.signature(entry.run).parameters
    needed = [one.name for one in parameters.values() if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    if {"problem", "rng"} - {*parameters}:
        sentence = "must be a function (problem, *, options, rng) that yields an Iterate per step"
        raise CatalogError(f"{entry.name} {sentence}")
    if without := {*needed} - {"problem", "rng"}:
        raise CatalogError(f"{entry.name} has an option without a default: write {min(without)} = ... with its value")
    if not entry.models and not entry.families:
        raise CatalogError(f"{entry.name} names no model: add models=... or family=...")
    for name in entry.models:
        require_known(name, {one.spec.model: one for one in models}, f"model of {entry.name}")
    for name in entry.families:
        require_known(name, {one.family.name: one for one in models}, f"family of {entry.name}")
