"""Own solvers and models: registered here, sent to workers, and named where they are broken."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lrlab import catalog, code_hash, plugin_modules
from lrlab.catalog_checks import UNPUBLISHED, CatalogError
from lrlab.model_entry import ModelEntry
from lrlab.parameters import InputError, display_name
from lrlab.plugin_modules import SETTING, Plugin
from lrlab.protocol import Iterate, Spec
from lrlab.solver_entry import Options, SolverEntry

AnySolver = str | SolverEntry | Callable[..., Iterable[Iterate]]
"""A solver: by its name, its entry, or a generator function (problem, *, options, rng)."""
Sources = Sequence[plugin_modules.Source]


def register(plugin: str | os.PathLike[str] | ModelEntry | AnySolver, *, models: Sequence[str] = ()) -> tuple[str, ...]:
    """Add own solvers and models to the catalogue of this process, and return their names.

    plugin: the path of a Python file that ends with `ENTRY` or `ENTRIES`, an entry, or a generator function
    (problem, *, options, rng) that yields an `Iterate` per step. models: names of the models that a function is made
    for. What had the same name before is replaced, but for what comes with the package. Workers, those of a cluster
    too, are sent it. CatalogError, in one sentence, where something is missing or contradictory.
    """
    if isinstance(plugin, SolverEntry | ModelEntry):
        added = plugin_modules.from_entry(plugin)
    elif isinstance(plugin, str | os.PathLike):
        added = plugin_modules.from_file(plugin)
    elif callable(plugin):
        added = plugin_modules.from_entry(entry_of(plugin, models))
    else:
        raise InputError("plugin", "the path of a file, an entry or a generator function", plugin, "register one")
    before = catalog.PLUGINS
    if errors := catalog.add([added]):
        # What was replaced by something that cannot be used is there again.
        catalog.add(before)
        raise errors[0]
    if isinstance(added.source, bytes | str):
        [entry] = added.entries
        code_hash.renew(entry.run if isinstance(entry, SolverEntry) else entry.spec)
    return tuple(sorted(name.partition(" ")[2] for name in added.names))


def entry_of(function: Callable[..., Any], models: Sequence[str]) -> SolverEntry:
    """Return the entry of a function without one: made for these models, needing as much memory as the data."""
    words = code_hash.docstring(function).partition("\n")[0]
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        remedy = "write def my_solver(problem, *, rng): ... yield lrlab.Iterate(...)"
        raise InputError("solver", "a name, an entry or a function with a name", function, remedy)
    return SolverEntry(
        title=display_name(name).capitalize(),
        summary=words or "A function without a docstring.",
        update=r"\text{as its code says}",
        reference=UNPUBLISHED,
        run=function,
        models=tuple(models),
        workspace=as_much_as_data,
    )


def as_much_as_data(spec: Spec, options: Options) -> int:
    """Return the bytes of the data of a spec, for a function whose workspace nobody has stated."""
    return spec.data_bytes


def named(solver: AnySolver, model: str) -> str:
    """Return the name of a solver; an entry or a function that the catalogue does not have for a model is registered.

    InputError where it is none of these; CatalogError where it cannot be registered.
    """
    if isinstance(solver, str):
        return solver
    if isinstance(solver, SolverEntry):
        if solver not in catalog.ENTRIES:
            register(solver)
        return solver.name
    if not callable(solver):
        raise InputError("solver", "a name, an entry or a generator function", solver, "name one that `models` lists")
    known = next((entry for entry in catalog.ENTRIES if entry.run is solver), None)
    if known is not None and known.reference != UNPUBLISHED:
        return known.name
    # Anew each time: what the function uses in a notebook may have changed.
    register(solver, models=tuple(dict.fromkeys((*(known.models if known else ()), model))))
    return entry_of(solver, ()).name


def load(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Have this process and those that it starts use the plugins of files; the pages name one that is broken.

    InputError where a file is not there.
    """
    files = [Path(path).expanduser().absolute() for path in paths]
    for file in files:
        if not file.is_file():
            raise InputError("with", "a Python file that is there", file, "correct the path")
    before = os.environ.get(SETTING, "").split(os.pathsep)
    os.environ[SETTING] = os.pathsep.join(dict.fromkeys(filter(None, [*before, *map(str, files)])))
    plugins, failed = list[Plugin](), list[CatalogError]()
    for file in files:
        try:
            plugins.append(plugin_modules.from_file(file))
        except CatalogError as error:
            failed.append(error)
    catalog.leave_out([*failed, *catalog.add(plugins)])


def sources() -> Sources:
    """Return what a worker needs to have the plugins of this process."""
    return [plugin.source for plugin in catalog.PLUGINS if plugin.source is not None]


_installed: set[Any] = set()


def install(sent: Sources) -> None:
    """Add the plugins that another process has sent, once each; `catalog.LEFT_OUT` names what does not work here."""
    plugins, failed = list[Plugin](), list[CatalogError]()
    for source in sent:
        if source in _installed:
            continue
        _installed.add(source)
        try:
            plugins.append(_at_home(plugin_modules.from_source(source)))
        except CatalogError as error:
            failed.append(error)
        except Exception as error:
            # An entry that was pickled, where a library is missing here.
            failed.append(plugin_modules.failure("a solver of the notebook or script", error))
    if plugins or failed:
        catalog.leave_out([*failed, *catalog.add(plugins)])


def described(error: Exception) -> str:
    """Return the kind and the words of an error; where a plugin is missing, what is wrong with plugins comes first."""
    left_out = catalog.LEFT_OUT if plugin_modules.PREFIX in str(error) else ()
    return "; ".join([*left_out, f"{type(error).__name__}: {error}"])


def _at_home(plugin: Plugin) -> Plugin:
    """Return a plugin whose model, if it has been pickled, belongs to the family of that name here."""
    entry = getattr(plugin.module, "ENTRY", None)
    if isinstance(plugin.source, bytes) and isinstance(entry, ModelEntry):
        family = next((family for family in catalog.FAMILIES if family.name == entry.family.name), entry.family)
        plugin.module.ENTRY = replace(entry, family=family)  # type: ignore[attr-defined]
    return plugin
