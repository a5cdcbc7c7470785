"""Repeated trials: seeds that are independent over cells, by which each can be opened again; where they run."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from lrlab.parameters import declared
from lrlab.protocol import Spec

T = TypeVar("T")
R = TypeVar("R")
Progress = Callable[[int, int], None]
"""Called with the number of trials done and the number of all."""

Run = Callable[[Callable[[Any], Any], Sequence[Any], Progress], list[Any]]
"""run(function, items, progress) -> the results in order; the function is picklable, of a module's top level."""


def trial_spec(spec: Spec, trial: int) -> Spec:
    """Return the spec of trial number `trial` (0, 1, ...): the same parameters, and a seed of its own.

    The seed is the first 32 bits of BLAKE2b over the model's name, all parameters that are not at their defaults (the
    spec's own seed among them) and the trial's number. It depends on nothing else, so a trial gives the same numbers in
    any process, order or batch, and goes on doing so when a model gets a new parameter; and it depends on every
    parameter, so two cells of a table do not share their randomness.
    """
    known = declared(type(spec))
    # Equal specs have equal seeds: 0.0 and -0.0 are equal, but not as text.
    values = {name: value or 0 for name, value in spec.values().items() if value != known[name].default}
    text = json.dumps([spec.model, values, trial], sort_keys=True, separators=(",", ":"))
    return spec.replace(seed=int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()))


def silent(done: int, total: int) -> None:
    """Report nothing."""


def in_process(function: Callable[[T], R], items: Sequence[T], progress: Progress = silent) -> list[R]:
    """Return [function(item) for item in items], computed here: the simplest `Run`."""
    from threadpoolctl import threadpool_limits

    results: list[R] = []
    # As on a worker: with more threads BLAS adds in another order, and the last digits would differ.
    with threadpool_limits(1):
        for item in items:
            results.append(function(item))
            progress(len(results), len(items))
    return results
