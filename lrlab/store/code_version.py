"""Hashes the code that a trial's numbers depend on, and all that tells its cell from others."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lrlab import catalog, code_hash
from lrlab.parameters import Parameter, Value, declared
from lrlab.protocol import Spec
from lrlab.runs.job import Job

EDITION = 1
"""To be raised when trials get other seeds (`runs.trial`) or are driven and scored otherwise (`runs.run`, `protocol`):
all stored trials are then stale."""


def version(model: str, solver: str) -> str:
    """Return the version of the code by which a solver runs on a model: 16 hexadecimal digits.

    It is a hash of the solver's generator function, of the model's spec, and of all that these use (`code_hash`).
    InputError if there is no such model or solver.
    """
    catalog.require_model(model)
    return version_of(catalog.solver(solver, model).run, catalog.MODELS[model])


def version_of(*things: Any) -> str:
    """Return the version of functions and classes with all that they use."""
    return code_hash.digest(" ".join([str(EDITION), *map(code_hash.version, things)]))


def current(model: str, solver: str, stored: str) -> bool:
    """Tell whether a stored version is that of today's code."""
    exists = model in catalog.MODELS and solver in {entry.name for entry in catalog.with_aliases(model, [solver])}
    return exists and version(model, solver) == stored


def settings(job: Job) -> dict[str, Value]:
    """Return the options and limits of a job that tell its trials from others."""
    return {**telling(dict(job.options), job.entry.options), **job.limits._asdict()}


def telling(values: Mapping[str, Value], known: Mapping[str, Parameter]) -> dict[str, Value]:
    """Return the values without added parameters at their defaults: trials of before have none, and stay the same."""
    return {k: value for k, value in values.items() if not (known[k].added and value == known[k].default)}


def spec_text(spec: Spec) -> str:
    """Return the text by which specs of one model are compared."""
    return text(telling(spec.values(), declared(type(spec))))


def added_defaults(model: str) -> dict[str, Value]:
    """Return the values that `spec_text` leaves out."""
    known = declared(catalog.MODELS[model]) if model in catalog.MODELS else {}
    return {name: parameter.default for name, parameter in known.items() if parameter.added}


def text(values: dict[str, Value]) -> str:
    """Return values as the text by which they are compared: equal values give equal texts."""
    # 0.0 and -0.0 are equal, but not as text.
    same = {name: value + 0.0 if isinstance(value, float) else value for name, value in values.items()}
    return json.dumps(same, sort_keys=True, separators=(",", ":"))


def key(job: Job) -> bytes:
    """Return what tells the trials of a job from all others: a hash of all its values and of the code's version."""
    model, solver = job.spec.model, job.solver
    texts = (model, spec_text(job.spec), solver, text(settings(job)), version(model, solver))
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).digest()
