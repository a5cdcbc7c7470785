"""Your solvers and models: registered here, sent to workers, and named if they are broken."""

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lrlab import catalog, code_hash
from lrlab.catalog import PREFIX, SETTING, Plugin, Source
from lrlab.catalog_checks import CatalogError, Entry, failure, sound
from lrlab.model_entry import ModelEntry
from lrlab.parameters import InputError, display_name
from lrlab.protocol import Iterate
from lrlab.solver_entry import SolverEntry, docstring, entries

AnySolver = str | Callable[..., Iterable[Iterate]]
"""A solver: by its name, or a generator function (problem, *, options, rng)."""
UNPUBLISHED = "Not published."
"""Reference of a function without a docstring of a solver."""


def register(plugin: str | os.PathLike[str] | ModelEntry | AnySolver, *, models: Iterable[str] = ()) -> tuple[str, ...]:
    """Add your solvers and models to the catalog of this process, and return their names.

    plugin: the path of a Python file with solvers or models, the entry of a model, or a generator function (problem, *,
    options, rng) that yields an `Iterate` per step. models: names of the models of a function without `@lrlab.solver`.

    It replaces your earlier solvers and models of the same name, but none of lrlab. All workers, also on a cluster,
    receive it. CatalogError, in one sentence, if something is missing or contradictory.
    """
    if isinstance(plugin, str | os.PathLike):
        added = catalog.from_file(plugin)
    elif isinstance(plugin, ModelEntry):
        added = _of_entries(plugin)
    elif callable(plugin):
        added = _of_entries(*(entries(plugin) or [entry_of(plugin, models)]))
    else:
        raise InputError("plugin", "the path of a file, a model entry or a generator function", plugin, "register one")
    if errors := catalog.add([added]):
        raise errors[0]
    for entry in added.entries:
        # Pickled now: a run, or the next notebook cell, may change its globals.
        code_hash.renew(_thing(entry))
    return tuple(sorted(name.partition(" ")[2] for name in added.names))


def entry_of(function: Callable[..., Any], models: Iterable[str]) -> SolverEntry:
    """Return an entry for a function without one: for these models, with as much memory as the data."""
    words = docstring(function).partition("\n")[0]
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        remedy = "write def my_solver(problem, *, rng): ... yield lrlab.Iterate(...)"
        raise InputError("solver", "a name or a function with a name", function, remedy)
    return SolverEntry(
        title=display_name(name).capitalize(),
        summary=words or "A function without a docstring.",
        update=r"\text{as its code says}",
        reference=UNPUBLISHED,
        run=function,
        models=tuple(sorted(models)),
    )


def named(solver: AnySolver, model: str) -> str:
    """Return the name of a solver; a function that the catalog does not have for a model is registered.

    InputError if it is none of these; CatalogError if it cannot be registered.
    """
    if isinstance(solver, str):
        return solver
    if not callable(solver):
        raise InputError("solver", "a name or a generator function", solver, "name one that `models` lists")
    known = next((entry for entry in catalog.ENTRIES if entry.run is solver), None)
    if known is not None and known.reference != UNPUBLISHED:
        return known.name
    # Again each time: the code that the function uses in a notebook may have changed.
    return register(solver, models=() if entries(solver) else {*(known.models if known else ()), model})[0]


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
    catalog.add_all(partial(catalog.from_file, file) for file in files)


def _thing(entry: Entry) -> Any:
    return entry.run if isinstance(entry, SolverEntry) else entry.spec


def _of_entries(*given: Entry) -> Plugin:
    """Return the plugin of entries of one solver or model of a notebook or script, pickled with all that they use."""
    thing = _thing(given[0])
    label = getattr(thing, "__name__", "a solver of the notebook or script")
    checked = sound(given, label)
    return Plugin(label, checked, _pickled(checked, sys.modules.get(thing.__module__), label))


def _pickled(given: tuple[Entry, ...], module: Any, label: str) -> bytes | str:
    import cloudpickle

    # By value: workers have neither the notebook nor, maybe, the script's folder.
    name = getattr(module, "__name__", "__main__")
    own = name.startswith(f"{code_hash.PACKAGE}.") or name == "__main__" or code_hash.is_installed(name)
    try:
        if not own:
            cloudpickle.register_pickle_by_value(module)
        return bytes(cloudpickle.dumps(given))
    except Exception as error:
        # Whatever a function holds; it still runs in this process.
        return f"{label}: cannot be sent to workers ({error}): leave out such objects"
    finally:
        if not own:
            cloudpickle.unregister_pickle_by_value(module)


def sources() -> Sequence[Source]:
    """Return the sources of this process's plugins, for a worker."""
    return [plugin.source for plugin in catalog.PLUGINS if plugin.source is not None]


_installed: set[Source] = set()


def install(sent: Sequence[Source]) -> None:
    """Add the plugins that another process has sent, once each; `catalog.LEFT_OUT` names the broken ones."""
    new = [source for source in dict.fromkeys(sent) if source not in _installed]
    _installed.update(new)
    if new:
        catalog.add_all(partial(_received, source) for source in new)


def _received(source: Source) -> Plugin:
    if isinstance(source, str):
        raise CatalogError(source)
    if isinstance(source, tuple):
        return catalog.from_text(*source)
    try:
        received = pickle.loads(source)
    except Exception as error:
        # A library is missing here.
        raise failure("a solver of the notebook or script", error) from error
    # The family of a model was pickled, too.
    families = {family.name: family for family in catalog.FAMILIES}
    known = tuple(
        replace(one, family=families.get(one.family.name, one.family)) if isinstance(one, ModelEntry) else one
        for one in received
    )
    return Plugin(getattr(_thing(known[0]), "__name__", ""), known, source)


def described(error: Exception) -> str:
    """Return the kind and the words of an error; if a plugin is missing, errors of plugins come first."""
    left_out = catalog.LEFT_OUT if PREFIX in str(error) else ()
    return "; ".join([*left_out, f"{type(error).__name__}: {error}"])
