"""What a floor is, and how a loop is measured against it: interleaved repeats in one process."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits


class Loop(NamedTuple):
    """A hot loop and its floor, two functions without arguments that do the same share of the work.

    floor_words: what the floor is. flops, bytes: operations and memory traffic that the floor cannot do without.
    """

    title: str
    run: Callable[[], object]
    floor: Callable[[], object]
    floor_words: str
    flops: float
    bytes: float


class Measured(NamedTuple):
    """Median CPU seconds of a loop and of its floor, and quartiles of floor / loop, repeat by repeat."""

    seconds: float
    floor: float
    share: tuple[float, float, float]


def measure(loop: Loop, repeats: int, threads: int = 1) -> Measured:
    """Return the share of its floor that a loop reaches; each runs once untimed."""
    times: list[tuple[float, float]] = []
    with threadpool_limits(threads):
        for repeat in range(-1, repeats):
            own, floor = (_timed(work) for work in (loop.run, loop.floor))
            times += [(own, floor)] if repeat >= 0 else []
    low, median, high = (float(q) for q in np.quantile([floor / own for own, floor in times], (0.25, 0.5, 0.75)))
    own, floor = np.median(times, axis=0)
    return Measured(float(own), float(floor), (low, median, high))


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
