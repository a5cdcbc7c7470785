"""Which code a trial was computed by: a hash of the sources that its numbers depend on, and the key of its cell."""

import ast
import hashlib
import importlib.util
import json
import sys
import time
import uuid
from functools import cache
from pathlib import Path

from lrlab import catalog
from lrlab.parameters import Value
from lrlab.runs.job import Job

EDITION = 1
"""To be raised when trials get other seeds (`trials`) or are driven and scored otherwise (`convergence`, `protocol`):
all that was kept is then stale."""

BEGUN = time.time()
STEADY = ("lrlab.protocol", "lrlab.parameters")
"""Imported by all solvers and models, and nothing by which numbers are computed, but for what `EDITION` stands for."""


@cache
def version(model: str, solver: str) -> str:
    """Return the version of the code by which a solver runs on a model: 16 hexadecimal digits.

    It is a hash of the sources of the solver's module, of the model's, and of all that these import, but for `STEADY`:
    a change to another solver changes nothing here. InputError where there is no such model or solver.
    """
    catalog.require_model(model)
    digest = hashlib.blake2b(str(EDITION).encode(), digest_size=8)
    for name in sorted(reached({catalog.solver(solver, model).run.__module__, catalog.MODELS[model].__module__})):
        digest.update(f"\0{name}\0".encode() + source(name))
    return digest.hexdigest()


def current(model: str, solver: str, kept: str) -> bool:
    """Tell whether a version is that of today's code."""
    known = model in catalog.MODELS and solver in {entry.name for entry in catalog.solvers_for(model)}
    return known and version(model, solver) == kept


def reached(modules: set[str]) -> set[str]:
    """Return modules with all of this package that they import, directly or not, but for `STEADY`."""
    found, waiting = set(), set(modules)
    while waiting:
        found.add(name := waiting.pop())
        waiting |= imports(name) - found
    return found


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of this package, but for `STEADY`, that a module's source imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(source(module))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(name for name in names if name.startswith("lrlab.") and name not in STEADY and _file(name))


@cache
def source(module: str) -> bytes:
    """Return a module's source; of one that has none (a notebook's), something that never comes again.

    So too where the file was changed after this process had begun: what runs may be the older code.
    """
    file = _file(module)
    known = file is not None and file.stat().st_mtime < BEGUN
    return file.read_bytes() if known else f"# {uuid.uuid4()}".encode()


def _file(module: str) -> Path | None:
    try:
        path = getattr(sys.modules.get(module), "__file__", None) or importlib.util.find_spec(module).origin
    except (ImportError, AttributeError, ValueError):
        # The last part of the name is no module, but something in one.
        return None
    return Path(path) if path and Path(path).is_file() else None


def settings(job: Job) -> dict[str, Value]:
    """Return the options and limits of a job."""
    return {**dict(job.options), **job.limits._asdict()}


def text(values: dict[str, Value]) -> str:
    """Return values as the text by which they are compared: equal values give equal texts."""
    # 0.0 and -0.0 are equal, but not as text.
    same = {name: value + 0.0 if isinstance(value, float) else value for name, value in values.items()}
    return json.dumps(same, sort_keys=True, separators=(",", ":"))


def key(job: Job) -> bytes:
    """Return what tells the trials of a job from all others: a hash of all its values and of the code's version."""
    parts = (job.spec.model, text(job.spec.values()), job.solver, text(settings(job)))
    whole = "\0".join((*parts, version(job.spec.model, job.solver)))
    return hashlib.blake2b(whole.encode(), digest_size=16).digest()
