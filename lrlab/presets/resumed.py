"""Computes the items of a preset that a store lacks, and stores each result as it arrives.

    stream = Resumed(plan.function, plan.items, store.open, start)     yields stored results first

Trials share the storage of sweeps. The key of any other item has its values and the version of its code.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from lrlab import catalog
from lrlab.engine.messages import Failure
from lrlab.engine.results import POLL_SECONDS, ItemResult, Results, Start
from lrlab.protocol import Spec, Stop
from lrlab.runs.trial import Trial, TrialResult, run_trial
from lrlab.store.store import Store, key_of, version_of


class Resumed(Results):
    """The stored results, then the other results as they arrive."""

    def __init__(
        self, function: Callable[[Any], Any], wanted: Sequence[Any], open_store: Callable[[], Store], start: Start
    ) -> None:
        """Read the store, and start to compute the missing items."""
        super().__init__(wanted)
        self._function, self._wanted, self._open = function, wanted, open_store
        with open_store() as store:
            known = _read(store, function, wanted)
        self._stored = [ItemResult(k, wanted[k], value) for k, value in sorted(known.items())]
        self.reused = len(known)
        self._places = [k for k in range(len(wanted)) if k not in known]
        # Items of a figure may differ by factors of 100 in size, and come in the order of the figure.
        self._weights = [_bytes(wanted[k]) for k in self._places]
        self._work, self._finished, self._begun = sum(self._weights), 0.0, time.monotonic()
        self._inner = start(function, [wanted[k] for k in self._places]) if self._places else None

    @property
    def alive(self) -> bool:
        """Whether more results will come."""
        return bool(self._stored) or (self._inner is not None and self._inner.alive)

    @property
    def version(self) -> int:
        """A number that grows with every result."""
        return self.done + (self._inner.version if self._inner else 0)

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace so far, weighted by the bytes of the data; None if unknown."""
        if not self.alive or self._inner is None:
            return 0.0
        return (time.monotonic() - self._begun) * (self._work / self._finished - 1.0) if self._finished else None

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return stored results at first, then new results, each stored before it is returned."""
        if self._stored or self._inner is None:
            new, self._stored = self._stored, []
        else:
            new = self._store(self._inner.take(wait_seconds))
        self.done += len(new)
        return new

    def _end(self) -> list[ItemResult]:
        """End the stream; store and return results that nobody took."""
        new, self._stored = self._stored, []
        if self._inner is not None:
            new += self._store(self._inner.cancel())
        self.done += len(new)
        return new

    def _store(self, results: Sequence[ItemResult]) -> list[ItemResult]:
        self._finished += sum(self._weights[number] for number, _, _ in results)
        new = [ItemResult(self._places[number], item, value) for number, item, value in results]
        good = [result for result in new if not isinstance(result.value, Failure)]
        # An interrupted trial is not a result.
        finished = {item: value for _, item, value in good if getattr(value, "stop", "") != Stop.CANCELLED.name}
        if finished:
            with self._open() as store:
                _write(store, self._function, finished)
        return new


def _bytes(item: Any) -> float:
    spec = getattr(getattr(item, "job", item), "spec", None)
    return float(spec.data_bytes) if isinstance(spec, Spec) else 1.0


def _read(store: Store, function: Callable[[Any], Any], wanted: Sequence[Any]) -> dict[int, Any]:
    """Return the stored results by the number of the item."""
    if function is not run_trial:
        keys = [key(function, item) for item in wanted]
        stored = store.items(keys)
        return {k: _restored(wanted[k], stored[own]) for k, own in enumerate(keys) if own in stored}
    last: dict[Any, int] = {}
    for job, number in wanted:
        last[job] = max(last.get(job, 0), number + 1)
    known = {job: store.results(job, below) for job, below in last.items()}
    return {k: known[job][number] for k, (job, number) in enumerate(wanted) if number in known[job]}


def _restored(item: Any, stored: Any) -> Any:
    """Return a result read from JSON: a trial from its list; the iterates of a trial stay a list of rows."""
    if isinstance(item, Trial) and isinstance(stored, list) and not all(isinstance(row, dict) for row in stored):
        return TrialResult(*stored)
    return stored


def _write(store: Store, function: Callable[[Any], Any], finished: Mapping[Any, Any]) -> None:
    if function is run_trial:
        store.add(finished)
    else:
        store.add_items({key(function, item): result for item, result in finished.items()})


def key(function: Callable[[Any], Any], item: Any) -> bytes:
    """Return the key of an item: a hash of its values and of the code that computes it."""
    used: list[Any] = [function]
    if isinstance(item, Trial):
        values: Any = [key_of(item.job).hex(), item.number]
    else:
        spec, solver = getattr(item, "spec", None), getattr(item, "solver", "")
        model = spec.model if isinstance(spec, Spec) else "multilabel"
        used += [catalog.MODELS[model], *([catalog.solver(solver, model).run] if solver else [])]
        values = [model, asdict(item) if is_dataclass(item) and not isinstance(item, type) else repr(item)]
    text = json.dumps([version_of(*used), values], sort_keys=True, default=_text)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _text(value: Any) -> Any:
    """Return name, size and modification time of a file, and other values as they print."""
    if isinstance(value, Path) and value.exists():
        return [value.name, value.stat().st_size, value.stat().st_mtime_ns]
    return repr(value)
