"""Runs a sweep: takes stored trials, computes the missing ones, and stores them as they arrive."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from lrlab import catalog
from lrlab.engine.engine import on_workers
from lrlab.engine.results import TIMED_OUT, Failure, ItemResult, Results, Start, collect
from lrlab.parameters import counted
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job, memory_needed, memory_words
from lrlab.runs.run import Progress, Trial, TrialResult, run_trial, silent, timed_out
from lrlab.store.store import Store
from lrlab.sweeps import adaptive, winners
from lrlab.sweeps.adaptive import Requested
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults

if TYPE_CHECKING:
    from lrlab.sweeps.tables import SweepTable

MOST_AT_ONCE = 100_000
"""Trials that are handed to the workers at once."""
OTHERS_SECONDS = 0.5
"""Seconds between two checks for results of the same sweep, which another thread of this process computes."""
_turns: dict[tuple[Path, int], threading.Lock] = defaultdict(threading.Lock)
"""Who computes a sweep, by its store and definition."""


def sweep(
    spec: Spec,
    axes: Mapping[str, Sequence[float]],
    solvers: Sequence[AnySolver],
    trials: int = 20,
    *,
    store: Store | str | PathLike[str] | None = None,
    start: Start = on_workers,
    progress: Progress = silent,
    race: bool = False,
    **settings: object,
) -> "SweepTable":
    """Return a tidy table, one row per trial, of all solvers at all combinations of the values of one or two axes.

    axes: parameter names, or derived quantities such as "ratio" (n/p), with their values. solvers: names, or your
    solvers, as for `lrlab.solve`. settings: options of the solvers and `tol`, `max_iter`, `max_seconds`. store: a file
    of finished trials; lrlab reuses them and adds new ones. Each trial has its own seed (column `seed`), which repeats
    this trial. Except for seconds, the table doesn't depend on the place and the order of the trials. A grid point
    that lrlab refuses has one row with the reason in `refused`; a trial that failed has one, too, with `stop` "FAILED".
    race: drop solvers where others clearly beat them; `lrlab.winners` says who wins where. If several recover exactly,
    seconds decide whom a race drops: another machine may run other trials.
    In a notebook the table shows a verdict; `lrlab.map` plots it.
    """
    # Here, for it needs pandas.
    from lrlab.sweeps.tables import SweepTable

    definition = Sweep(spec=spec, axes=axes, solvers=solvers, trials=trials, settings=settings, race=race)
    own = nullcontext(store) if isinstance(store, Store) else Store(None if store is None else Path(store))
    with own as opened:
        rows = run(definition, opened, start, progress).trial_rows()
        table = SweepTable(sorted(rows, key=lambda row: "seed" not in row))
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

    If another thread of this process computes the same sweep for the same store, this one waits and reads its trials.
    Two processes may compute a trial twice, and store it once.
    The run computes nothing more within a second after `stop()` is true (called often; it may read a flag of another
    thread), reads what is stored of later rounds, and ends; another call resumes it. `results` (by default new ones)
    first get the stored trials, one cell at a time. A trial that fails is not stored: the next run tries it again.
    RuntimeError if the engine or the store fails, InputError if the store is damaged.
    """
    results = SweepResults(sweep) if results is None else results
    results.computed = results.reused = 0
    results.failures, results.complete = {}, False
    _compute_bounds(sweep, start)
    rounds: Iterable[Requested] = [dict.fromkeys(sweep.jobs, range(sweep.trials))]
    if sweep.adaptive or sweep.race:
        rounds = (adaptive if sweep.adaptive else winners).rounds(sweep, results)
    turn = _turns[store.path, hash(sweep)] if store.path else threading.Lock()
    total = 0 if sweep.race else min(sweep.most, len(sweep.jobs) * sweep.trials)

    def tell() -> None:
        progress(results.done, total)

    stopped = False
    for requested in rounds:
        number, before = sum(map(len, requested.values())), results.reused
        # Nobody knows how many rounds a race has.
        total += number if sweep.race else 0
        own, lacking = False, True
        while lacking and not own:
            own = turn.acquire(timeout=OTHERS_SECONDS)
            try:
                stored = _load(requested, store, results)
                results.reused = before + sum(map(len, stored.values()))
                if stopped and results.reused == before:
                    return results
                lacking = results.reused < before + number
                tell()
                trials = missing(requested, stored)
                while own and lacking and not stop() and (part := list(islice(trials, MOST_AT_ONCE))):
                    _take_all(start(run_trial, part), store, results, tell, stop)
                if lacking and stop():
                    # Trials of later rounds may be stored, even if one of this round failed.
                    stopped = True
                    break
            finally:
                if own:
                    turn.release()
    results.complete = not stopped
    return results


def _take_all(
    work: Results, store: Store, results: SweepResults, tell: Callable[[], None], stop: Callable[[], bool]
) -> None:
    """Store results as they arrive, each time in one transaction."""

    def take(new: list[ItemResult]) -> None:
        finished = dict[Trial, TrialResult]()
        for _, trial, value in new:
            result = timed_out(trial) if value == TIMED_OUT else value
            if isinstance(result, Failure):
                results.failures[trial] = result.sentence
            elif result.stop != Stop.CANCELLED.name:
                finished[trial] = result
        if finished:
            store.add(finished)
            results.add(finished)
            results.computed += len(finished)

    try:
        while work.alive and not stop():
            if new := work.take():
                take(new)
                tell()
    finally:
        take(work.cancel())


def _compute_bounds(sweep: Sweep, start: Start) -> None:
    """Compute and cache the bounds on all methods if success is a fraction of one."""
    rule = sweep.success
    if rule is None or not catalog.family(sweep.spec.model).measures[rule.metric].quotient[0]:
        return
    specs = theory.not_cached(job.spec for job in sweep.jobs)
    for spec, numbers in zip(specs, collect(start(theory.exact, specs), failures=True), strict=True):
        theory.cache(spec, {} if isinstance(numbers, Failure) else numbers)


def _load(requested: Requested, store: Store, results: SweepResults) -> dict[Job, set[int]]:
    """Add the stored trials of a round to the results, and return their numbers."""
    stored = dict[Job, set[int]]()
    for job, numbers in requested.items():
        known = {Trial(job, n): result for n, result in store.results(job, numbers.stop).items() if n in numbers}
        stored[job] = {trial.number for trial in known}
        if known:
            results.add(known)
    return stored


def missing(requested: Requested, stored: Mapping[Job, set[int]]) -> Iterator[Trial]:
    """Yield the requested trials that are not stored, the first ones of all cells before any second one.

    A sweep that is cut short has measured the whole grid.
    """
    for number in range(max((numbers.stop for numbers in requested.values()), default=0)):
        for job, numbers in requested.items():
            if number in numbers and number not in stored[job]:
                yield Trial(job, number)


def size_words(sweep: Sweep) -> str:
    """Return how many trials a sweep has, at most, and how much memory a worker needs for the largest."""
    size = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in sweep.jobs)
    trials = min(sweep.most, len(sweep.jobs) * sweep.trials)
    return f"up to {counted(trials, 'trial')}, {memory_words(size)} per worker"
