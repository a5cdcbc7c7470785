"""The loop of all runs: asks a solver for its iterates, counts its time, and says when and why the run ends."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lrlab.parameters import InputError
from lrlab.protocol import Interrupted, Iterate, Limits, Stop, parts

Watch = Callable[[int, float, Iterate], None]
Clock = Callable[[], float]
"""Seconds since a moment: `time.perf_counter` of the wall, `time.thread_time` of the processor."""


class Progress(NamedTuple):
    """Where a run is.

    seconds: solver time. first: size of the first objective. objective, residual: of the newest iterate, nan where it
    has none. broken: whether it is not finite. optimal: see `Iterate`.
    """

    iteration: int
    seconds: float
    first: float
    objective: float
    residual: float
    broken: bool
    optimal: bool


def reasons(now: Progress, limits: Limits, cancelled: Callable[[], bool]) -> Iterator[tuple[Stop, bool]]:
    """Yield each reason to end, the first that counts first, and whether it holds."""
    yield Stop.NONFINITE, now.broken
    # Objectives may be negative or start at zero; growth is measured against the first one's size plus one.
    yield Stop.DIVERGED, now.objective > 1e6 * (now.first + 1.0)
    solved = now.residual <= limits.tol
    yield Stop.CONVERGED, now.optimal and solved
    yield Stop.SETTLED, solved
    yield Stop.CANCELLED, cancelled()
    yield Stop.TIMEOUT, now.seconds >= limits.max_seconds
    yield Stop.MAX_ITER, now.iteration >= limits.max_iter


def not_an_iterate(iterates: Iterator[Any], got: object) -> InputError:
    """Return the sentence on a solver that yields something else, with its file."""
    code = getattr(iterates, "gi_code", None)
    where = f"{code.co_name} ({Path(code.co_filename).name})" if code else "a solver"
    return InputError(f"what {where} yields", "an Iterate", type(got).__name__, "yield Iterate(estimate)")


def drive(
    iterates: Iterator[Iterate],
    watch: Watch,
    *,
    tol: float = Limits().tol,
    max_iter: int = Limits().max_iter,
    max_seconds: float = Limits().max_seconds,
    cancelled: Callable[[], bool] = lambda: False,
    clock: Clock = time.perf_counter,
) -> Stop:
    """Run a solver to its end and say why it ended: the only owner of loop, clock and stopping.

    `watch(iteration, seconds, iterate)` gets every finite iterate; its own time does not count as the solver's.
    clock: what seconds are counted by. Somebody waits for a live run, whose BLAS may have several threads: wall time.
    Trials count the processor time of their thread (`time.thread_time`), on one thread of BLAS, so that a busy machine
    ends them after the same iterations.
    """
    iteration, seconds, first, limits = 0, 0.0, math.nan, Limits(tol, max_iter, max_seconds)
    while True:
        iteration += 1
        started = clock()
        try:
            iterate = next(iterates)
        except StopIteration as end:
            return end.value or Stop.FINISHED
        except Interrupted as interruption:
            return interruption.stop
        seconds += clock() - started
        if not isinstance(iterate, Iterate):
            raise not_an_iterate(iterates, iterate)
        objective = math.nan if iterate.objective is None else iterate.objective
        residual = math.nan if iterate.residual is None else iterate.residual
        first = abs(objective) if math.isnan(first) else first
        known = iterate.objective is None or math.isfinite(objective)
        finite = known and all(np.isfinite(part).all() for part in parts(iterate.estimate))
        if finite:
            watch(iteration, seconds, iterate)
        now = Progress(iteration, seconds, first, objective, residual, not finite, iterate.optimal)
        for stop, holds in reasons(now, limits, cancelled):
            if holds:
                return stop
