"""Runs a sweep: takes finished trials from a store, computes the missing ones, and stores them as they arrive."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from lrlab import catalog
from lrlab.engine.engine import on_workers
from lrlab.engine.messages import TIMED_OUT, Failure
from lrlab.engine.results import ItemResult, Results, Start, collect
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.runs.trial import Progress, Trial, TrialResult, run_trial, silent, timed_out
from lrlab.store.store import Store
from lrlab.sweeps import adaptive
from lrlab.sweeps.adaptive import Requested
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.tables import trial_table

if TYPE_CHECKING:
    from lrlab.sweeps.sweep_table import SweepTable

OTHERS_SECONDS = 0.2
"""Seconds between two checks for results of other sweeps of this process."""


def sweep(
    spec: Spec,
    axes: Mapping[str, Sequence[float]],
    solvers: Sequence[AnySolver],
    trials: int = 20,
    *,
    store: Store | str | PathLike[str] | None = None,
    start: Start = on_workers,
    progress: Progress = silent,
    **settings: object,
) -> "SweepTable":
    """Return a tidy table, one row per trial, of all solvers at all combinations of the values of one or two axes.

    axes: parameter names, or derived quantities such as "ratio" (n/p), with their values. solvers: names, or your
    solvers, as for `lrlab.solve`. settings: options of the solvers and `tol`, `max_iter`, `max_seconds`. store: a file
    of finished trials; lrlab reuses them and adds new ones. Each trial has its own seed (column `seed`), which repeats
    this trial. Except for seconds, the table doesn't depend on where and in which order the trials ran. A grid point
    that lrlab refuses has one row with the reason in `refused`; a trial that failed has one, too, with `stop` "FAILED".
    In a notebook the table shows a verdict; `lrlab.map` plots it.
    """
    # Here, for it needs pandas.
    from lrlab.sweeps.sweep_table import SweepTable

    definition = Sweep(spec=spec, axes=axes, solvers=solvers, trials=trials, settings=settings)
    if isinstance(store, Store):
        table = SweepTable(trial_table(run(definition, store, start, progress)))
    else:
        with Store(None if store is None else Path(store)) as opened:
            table = SweepTable(trial_table(run(definition, opened, start, progress)))
    table.sweep = definition
    return table


def run(
    sweep: Sweep,
    store: Store,
    start: Start = on_workers,
    progress: Progress = silent,
    stop: Callable[[], bool] = lambda: False,
    results: SweepResults | None = None,
) -> SweepResults:
    """Compute the trials of a sweep that the store lacks, and store every batch as it arrives.

    If another sweep of this process computes a trial for the same store, this one waits for it and reads it. Two
    processes may compute a trial twice, and store it once.
    The run ends within a second after `stop()` is true (called often; it may read a flag of another thread); another
    call resumes it. `results` (by default new ones) first get the stored trials, one cell at a time. A trial that fails
    is not stored: the next run tries it again. RuntimeError if the engine or the store fails, InputError if the store
    is damaged.
    """
    results = SweepResults(sweep) if results is None else results
    results.computed = results.reused = 0
    results.failures, results.complete = {}, False
    _compute_bounds(sweep, start)
    rounds = adaptive.rounds(sweep, results) if sweep.adaptive else [dict.fromkeys(sweep.jobs, range(sweep.trials))]
    claims = _Claims(store)
    try:
        for requested in rounds:
            number = sum(map(len, requested.values()))
            total, before = sweep.most if sweep.adaptive else number, results.reused
            _load(requested, store, results)
            progress(results.done, total)
            if results.reused - before < number:
                _Round(store, results, claims, progress, total, stop).complete(requested, start)
                if stop():
                    return results
    finally:
        claims.release()
    results.complete = True
    return results


def _compute_bounds(sweep: Sweep, start: Start) -> None:
    """Compute and cache the bounds on all methods if success is a fraction of one."""
    rule = sweep.success
    if rule is None or not catalog.family(sweep.spec.model).measures[rule.metric].quotient[0]:
        return
    specs = theory.not_cached(job.spec for job in sweep.jobs)
    for spec, numbers in zip(specs, collect(start(theory.exact, specs), failures=True), strict=True):
        theory.cache(spec, {} if isinstance(numbers, Failure) else numbers)


def read(sweep: Sweep, store: Store) -> SweepResults:
    """Return the stored trials of a sweep; for an adaptive sweep, those up to the first incomplete round."""
    return run(sweep, store, stop=lambda: True)


def _load(requested: Requested, store: Store, results: SweepResults) -> None:
    for job, numbers in requested.items():
        stored = store.results(job, numbers.stop)
        finished = {Trial(job, number): result for number, result in stored.items() if number in numbers}
        if finished:
            results.add(finished)
            results.reused += len(finished)


def missing(requested: Requested, store: Store) -> Iterator[Trial]:
    """Yield the trials that a store lacks, with one look-up per cell at a time.

    The first trial of every cell comes before any second one, then two more of each, four more, and so on: a sweep that
    is cut short has measured the whole grid.
    """
    first, end = 0, 1
    while any(numbers[first:] for numbers in requested.values()):
        for job, numbers in requested.items():
            if part := numbers[first:end]:
                stored = store.finished(job, part.stop)
                yield from (Trial(job, number) for number in part if number not in stored)
        first, end = end, 2 * end


class _Claims:
    """The trials that one sweep of this process has begun: thirty students with one sweep compute each trial once."""

    _all = set[tuple[Path, Trial]]()
    _lock = threading.Lock()

    def __init__(self, store: Store) -> None:
        self._path, self._own = store.path, set[Trial]()

    def granted(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """Yield the trials that no other sweep has begun; nobody shares a store in memory."""
        if self._path is None:
            yield from trials
            return
        for trial in trials:
            with self._lock:
                free = (self._path, trial) not in self._all
                if free:
                    self._all.add((self._path, trial))
                    self._own.add(trial)
            if free:
                yield trial

    def release(self, *trials: Trial) -> None:
        """Leave trials to others: some, or all that this sweep has begun."""
        with self._lock:
            ended = set(trials) or set(self._own)
            self._own -= ended
            self._all.difference_update((self._path, trial) for trial in ended if self._path)


class _Round:
    """Computes the trials of a round that a store does not have, and puts them into the store and into the results."""

    def __init__(
        self,
        store: Store,
        results: SweepResults,
        claims: _Claims,
        progress: Progress,
        total: int,
        stop: Callable[[], bool],
    ) -> None:
        self._store, self._results, self._claims = store, results, claims
        self._progress, self._total, self._stop = progress, total, stop
        self._pending: dict[Trial, TrialResult] = {}

    def complete(self, requested: Requested, start: Start) -> None:
        """Compute what nobody else does until every trial is stored, or has failed here."""
        while requested and not self._stop():
            own = self._claims.granted(missing(requested, self._store))
            if (first := next(own, None)) is not None:
                self._compute(start(run_trial, chain((first,), own)))
            else:
                time.sleep(OTHERS_SECONDS)
            if not self._stop():
                requested = self._without_finished(requested)
                self._progress(self._results.done, self._total)

    def _compute(self, stream: Results) -> None:
        try:
            while stream.alive and not self._stop():
                if new := stream.take():
                    self._take(new)
                    self._progress(self._results.done, self._total)
        finally:
            # Ctrl-C may come between any two lines: storing the same trials again changes nothing.
            self._take(stream.cancel())

    def _take(self, new: list[ItemResult]) -> None:
        """Store new results, in one transaction with those that an interruption left."""
        for _, trial, value in new:
            result = timed_out(trial) if value == TIMED_OUT else value
            if isinstance(result, Failure):
                self._results.failures[trial] = result.sentence
                self._claims.release(trial)
            elif result.stop != Stop.CANCELLED.name:
                self._pending[trial] = result
        if self._pending:
            self._store.add(self._pending)
            self._results.computed += len(self._pending)
            finished, self._pending = self._pending, {}
            self._results.add(finished)

    def _without_finished(self, requested: Requested) -> Requested:
        """Return the jobs with missing trials; trials that others stored enter the results."""
        left: dict[Job, range] = {}
        for job, numbers in requested.items():
            absent = set(numbers) - self._store.finished(job, numbers.stop)
            before = self._results.finished(job)
            if before < numbers.stop - len(absent):
                stored = self._store.results(job, numbers.stop)
                self._results.add({Trial(job, n): result for n, result in stored.items() if n in numbers})
                self._results.reused += self._results.finished(job) - before
            if any(Trial(job, number) not in self._results.failures for number in absent):
                left[job] = numbers
        return left
