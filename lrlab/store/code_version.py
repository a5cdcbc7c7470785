"""Hashes the code that a trial's numbers depend on, and all values that tell its cell from others."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lrlab import catalog, code_hash
from lrlab.parameters import Value
from lrlab.runs.job import Job

EDITION = 1
"""Raise it if trials get other seeds (`runs.trial`), or if `runs.run` or `protocol` run or score them differently: all
stored trials are then stale."""


def version(model: str, solver: str) -> str:
    """Return the version of the code that runs a solver on a model: 16 hexadecimal digits.

    It is a hash of the solver's generator function, of the model's spec, and of all code that they use (`code_hash`).
    InputError if there is no such model or solver.
    """
    catalog.require_model(model)
    return version_of(catalog.solver(solver, model).run, catalog.MODELS[model])


def version_of(*things: Any) -> str:
    """Return the version of functions and classes with all that they use."""
    return code_hash.digest(" ".join([str(EDITION), *map(code_hash.version, things)]))


def current(model: str, solver: str, stored: str) -> bool:
    """Return whether a stored version belongs to today's code."""
    exists = model in catalog.MODELS and solver in {entry.name for entry in catalog.with_aliases(model, [solver])}
    return exists and version(model, solver) == stored


def settings(job: Job) -> dict[str, Value]:
    """Return the options and limits of a job."""
    return {**dict(job.options), **job.limits._asdict()}


def text(values: Mapping[str, Value]) -> str:
    """Return values as JSON; equal values give equal texts."""
    # 0.0 equals -0.0, but has another text.
    same = {name: value + 0.0 if isinstance(value, float) else value for name, value in values.items()}
    return json.dumps(same, sort_keys=True, separators=(",", ":"))


def key(job: Job) -> bytes:
    """Return the key of a job's trials: a hash of all its values and of the code's version."""
    model, solver = job.spec.model, job.solver
    texts = (model, text(job.spec.values()), solver, text(settings(job)), version(model, solver))
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).digest()
