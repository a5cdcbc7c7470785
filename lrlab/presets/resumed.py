"""Computes the items of a preset that a store lacks, and stores each result as it arrives.

    stream = Resumed(plan.function, plan.items, store.open, start)     yields stored results first

The key of an item is a hash of its values and of the version of its code.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lrlab import catalog, code_hash
from lrlab.engine.results import POLL_SECONDS, Failure, ItemResult, LocalResults, Results, Start
from lrlab.protocol import Spec, Stop
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import Store, key_of


class Resumed(Results):
    """The stored results, then the other results as they arrive."""

    def __init__(
        self, function: Callable[[Any], Any], wanted: Sequence[Any], open_store: Callable[[], Store], start: Start
    ) -> None:
        """Read the store, and start to compute the missing items."""
        super().__init__(wanted)
        self._keys, self._open = [key(function, item) for item in wanted], open_store
        with open_store() as store:
            known = store.items(self._keys)
        self._stored = [
            ItemResult(k, item, as_computed(known[own]))
            for k, (own, item) in enumerate(zip(self._keys, wanted, strict=True))
            if own in known
        ]
        self._places = [k for k, own in enumerate(self._keys) if own not in known]
        # Without missing items, no engine starts.
        self._inner = (start if self._places else LocalResults)(function, [wanted[k] for k in self._places])

    @property
    def alive(self) -> bool:  # noqa: D102
        return bool(self._stored) or self._inner.alive

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace of the computed items."""
        return self._inner.seconds_left

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return stored results at first, then new results, each stored before it is returned."""
        return self._handed_on([] if self._stored else self._inner.take(wait_seconds))

    def _end(self) -> list[ItemResult]:
        return self._handed_on(self._inner.cancel())

    def _handed_on(self, computed: Sequence[ItemResult]) -> list[ItemResult]:
        """Store computed results, and return them after the stored ones."""
        new = [ItemResult(self._places[number], item, value) for number, item, value in computed]
        # A failed or an interrupted trial is not a result.
        good = {
            self._keys[number]: value._asdict() if isinstance(value, TrialResult) else value
            for number, _, value in new
            if not isinstance(value, Failure) and getattr(value, "stop", "") != Stop.CANCELLED.name
        }
        if good:
            with self._open() as store:
                store.add_items(good)
        new, self._stored = [*self._stored, *new], []
        self.done += len(new)
        return new


def as_computed(read: Any) -> Any:
    """Return a result, read from JSON, as the function of the preset returned it."""
    return TrialResult(**read) if isinstance(read, dict) and "scores" in read else read


def key(function: Callable[[Any], Any], item: Any) -> bytes:
    """Return the key of an item: a hash of its values and of the code that computes it."""
    used: list[Any] = [function]
    if isinstance(item, Trial):
        values: Any = [key_of(item.job).hex(), item.number]
    else:
        spec, solver = getattr(item, "spec", None), getattr(item, "solver", "")
        model = spec.model if isinstance(spec, Spec) else "multilabel"
        # A quantity may run any solver of its model, but none of a plugin.
        own = [one for one in catalog.solvers_for(model) if one.run.__module__.startswith("lrlab.")]
        solvers = [catalog.solver(solver, model)] if solver else own
        used += [catalog.MODELS[model], *(one.run for one in solvers)]
        values = [model, asdict(item)]
    text = json.dumps({"code": code_hash.version(*used), "item": values}, sort_keys=True, default=_text)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _text(value: Any) -> Any:
    """Return name, size and modification time of a file, and other values as they print."""
    if isinstance(value, Path) and value.exists():
        return [value.name, value.stat().st_size, value.stat().st_mtime_ns]
    return repr(value)
