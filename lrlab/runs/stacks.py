"""Runs many small trials of one solver together, on stacked arrays: the numbers of single runs, in less time."""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices, Mask
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Limits, Stop
from lrlab.runs.drive import Progress, reasons
from lrlab.runs.run import beside_the_truth, cancelled, opened, scored_row
from lrlab.runs.trial import Trial, TrialResult, result_of, run_trial
from lrlab.solver_entry import StackedIterates, StackedRun

MOST_BYTES, TRIAL_BYTES = 2**25, 2**20
"""Data of all trials of a stack, and of one that may be in it."""
MOST_TRIALS = 512
LEAST_SECONDS = 10.0
"""Trials with a shorter limit of time run alone: a stack takes about a second."""
ENDED_SHARE = 0.125
"""Share of the runs that has ended when the others are stacked anew."""


class Ending(NamedTuple):
    """How one of several runs ended, after how many iterates, and the last of them; `seconds` is its share of all."""

    stop: Stop
    iteration: int
    seconds: float
    iterate: Iterate


def portions(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[list[int]]:
    """Yield the places of items that are computed together: those of trials that stack, and each other one alone."""
    if function is not run_trial:
        yield from ([place] for place in range(len(items)))
        return
    stacks: dict[Hashable, list[int]] = {}
    for place, trial in enumerate(items):
        shape = None
        # One whose solver is not here fails by itself.
        with suppress(InputError):
            shape = shape_of(trial)
        stacks.setdefault(place if shape is None else shape, []).append(place)
    for places in stacks.values():
        most = max(items[place].job.spec.data_bytes for place in places)
        size = max(1, min(MOST_TRIALS, MOST_BYTES // most))
        yield from (places[start : start + size] for start in range(0, len(places), size))


def shape_of(trial: Trial) -> Hashable | None:
    """Return what trials of one stack have in common; None where a trial runs alone."""
    job = trial.job
    stacked, small = job.entry.stacked, job.spec.data_bytes <= TRIAL_BYTES
    if stacked is None or not small or job.limits.max_seconds < LEAST_SECONDS:
        return None
    shape = stacked.shape(job.spec, dict(job.options))
    return None if shape is None else (job.spec.model, job.solver, job.options, job.limits, shape)


def run_stack(trials: Sequence[Trial]) -> list[TrialResult]:
    """Run trials that stack, and score the last iterate of each; those that end in another way than usual run alone."""
    jobs = [trial.seeded for trial in trials]
    entry, options, limits = jobs[0].entry, dict(jobs[0].options), jobs[0].limits
    problems, rngs = zip(*map(opened, jobs), strict=True)
    assert entry.stacked is not None
    endings = drive_stacked(entry.stacked.run(problems, rngs, **options), len(jobs), limits)
    results = []
    for number, (trial, job, problem) in enumerate(zip(trials, jobs, problems, strict=True)):
        if (end := endings.get(number)) is None:
            results.append(run_trial(trial))
        else:
            row = scored_row(problem, end.iteration, end.seconds, end.iterate)
            results.append(result_of(job, beside_the_truth(end.stop, problem, row, limits.tol), row))
    return results


def drive_stacked(iterates: StackedRun, count: int, limits: Limits) -> dict[int, Ending]:
    """Run stacked solvers to their ends, by the rules of `drive.reasons`, and say how each ended, by its number.

    Those that diverge or are no longer finite are left out.
    """
    endings: dict[int, Ending] = {}
    numbers, running, seconds = np.arange(count), np.ones(count, dtype=bool), 0.0
    first: Array = np.empty(0)
    chosen: Mask | None = None
    at = StackedIterates(np.empty((0, 0)), np.empty(0), np.empty(0))
    for iteration in range(1, limits.max_iter + 1):
        started = time.thread_time()
        try:
            at = next(iterates) if iteration == 1 else iterates.send(chosen)
        except StopIteration:
            return endings | _endings(at, running, numbers, Stop.FINISHED, iteration - 1, seconds)
        seconds += (time.thread_time() - started) / len(numbers)
        first = abs(at.objectives) if iteration == 1 else first if chosen is None else first[chosen]
        finite = np.isfinite(at.estimates).all(axis=1) & np.isfinite(at.objectives)
        now = Progress(iteration, seconds, first, at.objectives, at.residuals, ~finite)
        for stop, holds in reasons(now, limits, cancelled):
            if stop not in (Stop.NONFINITE, Stop.DIVERGED):
                endings |= _endings(at, running & holds, numbers, stop, iteration, seconds)
            running = running & ~np.asarray(holds)
        chosen = None
        if not running.any():
            break
        if running.mean() < 1.0 - ENDED_SHARE:
            numbers, running, chosen = numbers[running], running[running], running
    return endings


def _endings(
    at: StackedIterates, which: Mask, numbers: Indices, stop: Stop, iteration: int, seconds: float
) -> dict[int, Ending]:
    """Return how those of the runs (runs,) ended that are named, by their numbers."""
    endings: dict[int, Ending] = {}
    for place in np.flatnonzero(which):
        iterate = Iterate(at.estimates[place], float(at.objectives[place]), float(at.residuals[place]))
        endings[int(numbers[place])] = Ending(stop, iteration, seconds, iterate)
    return endings
