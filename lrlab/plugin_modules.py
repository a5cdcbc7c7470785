"""Plugins as modules that end with entries: from files, installed packages, functions, or as a worker is sent them."""

import hashlib
import os
import pickle
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from lrlab import code_hash
from lrlab.catalog_checks import CatalogError, incomplete
from lrlab.model_entry import ModelEntry
from lrlab.solver_entry import SolverEntry

SETTING = "LRLAB_PLUGINS"
GROUPS = "lrlab.solvers", "lrlab.models"
"""Groups of entry points by which an installed package names modules, or entries in them."""
PREFIX = "lrlab_plugin"
FAILURES = Exception, SystemExit, KeyboardInterrupt
"""What a file may raise while it is imported. A plugin is left out, whichever it is, and everything else works."""

Source = tuple[str, bytes] | bytes | str


class Plugin(NamedTuple):
    """A module that ends with entries, and the name by which sentences call it.

    source: how a worker makes the same module: the name and text of a file, or a pickled entry; a sentence where it
    cannot, and None where it has the module installed.
    """

    module: ModuleType
    label: str
    source: "Source | None" = None

    @property
    def entries(self) -> list[SolverEntry | ModelEntry]:
        """Its entries; of what is none, the checks of the catalogue say so."""
        several = getattr(self.module, "ENTRIES", [getattr(self.module, "ENTRY", None)])
        listed = several if isinstance(several, Sequence) else ()
        return [entry for entry in listed if isinstance(entry, SolverEntry | ModelEntry)]

    @property
    def file(self) -> str:
        """The path of its file, or nothing."""
        return self.source[0] if isinstance(self.source, tuple) else ""

    @property
    def names(self) -> frozenset[str]:
        """The kinds and names of its solvers and models."""
        named = (
            f"solver {one.name}" if isinstance(one, SolverEntry) else f"model {one.spec.model}" for one in self.entries
        )
        return frozenset(named)


def imported(name: str, label: str = "") -> ModuleType:
    """Import and return a module; CatalogError with its name, or its label, where that fails."""
    try:
        return import_module(name)
    except FAILURES as error:
        raise failure(label or name, error) from error


def failure(label: str, error: BaseException) -> CatalogError:
    """Return what a file's failure says, as a CatalogError."""
    sentence = incomplete(error) if isinstance(error, TypeError) else ""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return CatalogError(f"{label}: {sentence or f'does not import ({reason}): correct the file'}")


def from_file(path: str | os.PathLike[str]) -> Plugin:
    """Return the plugin of a Python file, which is run once for each text; CatalogError where it does not run."""
    file = Path(path).expanduser().absolute()
    try:
        text = file.read_bytes()
    except OSError as error:
        raise CatalogError(f"{file.name}: is not there ({file}): correct the path") from error
    return from_text(str(file), text)


def from_text(path: str, text: bytes) -> Plugin:
    """Return the plugin of the text of a file, under a name that belongs to this text alone."""
    label = Path(path).name
    name = _name(Path(path).stem, text)
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = path
        # Found there by dataclasses and by pickle.
        sys.modules[name] = module
        code_hash.texts[name] = text
        try:
            exec(compile(text, path, "exec", dont_inherit=True), vars(module))
        except FAILURES as error:
            del sys.modules[name]
            raise failure(label, error) from error
    return Plugin(sys.modules[name], label, (path, text))


def from_entry(entry: SolverEntry | ModelEntry) -> Plugin:
    """Return the plugin of an entry made in a notebook or a script, pickled with all that its functions use."""
    thing: Any = entry.run if isinstance(entry, SolverEntry) else entry.spec
    pickled = _pickled(entry, thing)
    name = entry.name if isinstance(entry, SolverEntry) else entry.spec.model
    return _of_entry(entry, name, pickled, getattr(thing, "__name__", name))


def from_source(source: Source) -> Plugin:
    """Return the plugin that another process has sent; CatalogError with the sentence where it could not."""
    if isinstance(source, str):
        raise CatalogError(source)
    if isinstance(source, tuple):
        return from_text(*source)
    entry = pickle.loads(source)
    return _of_entry(entry, getattr(entry, "name", ""), source, "")


def _of_entry(entry: Any, name: str, pickled: bytes | str | None, label: str) -> Plugin:
    module = ModuleType(_name(name, pickled if isinstance(pickled, bytes) else os.urandom(8)))
    module.ENTRY = entry  # type: ignore[attr-defined]
    return Plugin(module, label or name, pickled)


def _pickled(entry: Any, thing: Any) -> bytes | str:
    import cloudpickle

    module = sys.modules.get(thing.__module__)
    # By value: workers have neither the notebook nor, maybe, the script's folder.
    by_value = module is not None and module.__name__ != "__main__" and not code_hash.is_installed(module.__name__)
    by_value = by_value and not module.__name__.startswith(f"{code_hash.PACKAGE}.")  # type: ignore[union-attr]
    try:
        if by_value:
            cloudpickle.register_pickle_by_value(module)
        return bytes(cloudpickle.dumps(entry))
    except Exception as error:
        # Whatever a function holds; it still runs in this process.
        name = getattr(thing, "__name__", "a solver")
        return f"{name}: cannot be sent to workers ({error}): leave out what it holds"
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)


def _name(stem: str, text: bytes) -> str:
    word = re.sub(r"\W", "_", stem)
    return f"{PREFIX}_{word}_{hashlib.blake2b(text, digest_size=8).hexdigest()}"


def configured(failed: list[CatalogError]) -> Iterator[Plugin]:
    """Yield the plugins of installed packages and of the setting LRLAB_PLUGINS; `failed` gets those that have none."""
    for path in filter(None, os.environ.get(SETTING, "").split(os.pathsep)):
        try:
            yield from_file(path)
        except CatalogError as error:
            failed.append(error)
    for point in _entry_points():
        label = f"{point.value} of {point.dist.name}" if point.dist else point.value
        try:
            yield _of_point(point, label)
        except CatalogError as error:
            failed.append(error)


def _of_point(point: Any, label: str) -> Plugin:
    module = imported(point.module, label)
    if not point.attr:
        return Plugin(module, label)
    try:
        entry = point.load()
    except FAILURES as error:
        raise failure(label, error) from error
    return _of_entry(entry, point.name, None, label)


def _entry_points() -> list[Any]:
    # To import importlib.metadata takes longer than this look: hardly anybody has a package with plugins.
    for folder in map(Path, sys.path):
        with suppress(OSError):
            files = folder.glob("*-info/entry_points.txt") if folder.is_dir() else ()
            if any(f"[{group}]" in file.read_text("utf-8") for file in files for group in GROUPS):
                break
    else:
        return []
    from importlib.metadata import entry_points

    return [point for group in GROUPS for point in entry_points(group=group)]
