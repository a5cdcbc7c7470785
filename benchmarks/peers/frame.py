"""What a comparison is, and how it is measured: interleaved repeats in one process, ratios repeat by repeat.

Times are CPU time of the process, which other work on the machine disturbs less than the clock on the wall; with one
thread both are the same where nothing else runs. Every entrant runs once untimed, so that imports do not count.
"""

import gc
import importlib
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from lrlab.protocol import Iterate
from lrlab.runs.job import make_job
from lrlab.runs.run import drive

FIRST_SEED = 1000


class Entrant(NamedTuple):
    """A method by name: `run(problem)` returns its estimate; `needs` is the module that it imports, if a peer's."""

    name: str
    run: Callable[[Any], Any]
    needs: str = ""

    @property
    def lacks(self) -> str:
        """Why it cannot run here, or nothing."""
        try:
            if self.needs:
                importlib.import_module(self.needs)
        except Exception as reason:  # a peer may break in any way while it is imported
            return f"{type(reason).__name__}: {' '.join(str(reason).split())[:80]}"
        return ""


class Contest(NamedTuple):
    """One work: `build(seed)` draws its data, `error(problem, estimate)` judges all entrants alike.

    target: what `ours` should reach, in words. checked: entrants of ours by the peer that `--check` holds them to.
    """

    title: str
    build: Callable[[int], Any]
    error: Callable[[Any, Any], float]
    ours: tuple[Entrant, ...]
    peers: tuple[Entrant, ...]
    target: str = ""
    checked: dict[str, str] = {}


class Outcome(NamedTuple):
    """Of each entrant that ran the errors and CPU seconds, repeat by repeat; of the others why not."""

    errors: dict[str, list[float]]
    seconds: dict[str, list[float]]
    missing: dict[str, str]

    def ratio(self, ours: str, peer: str) -> list[float]:
        """Return the quartiles of the time of one entrant over that of another."""
        pairs = zip(self.seconds[ours], self.seconds[peer], strict=True)
        return [float(q) for q in np.quantile([own / other for own, other in pairs], (0.25, 0.5, 0.75))]

    def error(self, name: str) -> float:
        """Return the median error."""
        return statistics.median(self.errors[name])


def ours(solver: str, title: str = "", **settings: object) -> Entrant:
    """Return a solver of the lab, driven as a run drives it, without scores."""

    def run(problem: Any) -> Any:
        job, last = make_job(problem.spec, solver, **settings), list[Iterate]()

        def watch(iteration: int, seconds: float, iterate: Iterate) -> None:
            last[:] = [iterate]

        rng = np.random.default_rng(job.spec.streams().solver)
        drive(job.entry.run(problem, **dict(job.options), rng=rng), watch, job.limits)
        return last[0].estimate

    return Entrant(title or solver, run)


def loaded(spec: Any) -> Callable[[int], Any]:
    """Return what draws the problem of a spec, all its data in memory, for a seed."""

    def build(seed: int) -> Any:
        problem = spec.replace(seed=seed).build()
        problem.load(everything=True)
        return problem

    return build


def measure(contest: Contest, repeats: int, threads: int = 1, first_seed: int = FIRST_SEED) -> Outcome:
    """Return errors and times; each repeat draws data anew, and the entrants take turns at being first."""
    entrants = (*contest.ours, *contest.peers)
    missing = {entrant.name: reason for entrant in entrants if (reason := entrant.lacks)}
    entrants = tuple(entrant for entrant in entrants if entrant.name not in missing)
    outcome = Outcome({e.name: [] for e in entrants}, {e.name: [] for e in entrants}, missing)
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _limit_torch(threads)
        for repeat in range(-1, repeats):
            problem, first = contest.build(first_seed + repeat), repeat % len(entrants)
            for entrant in (*entrants[first:], *entrants[:first]):
                gc.collect()
                started = time.process_time()
                estimate = entrant.run(problem)
                seconds = time.process_time() - started
                if repeat >= 0:
                    outcome.seconds[entrant.name].append(seconds)
                    outcome.errors[entrant.name].append(contest.error(problem, estimate))
    return outcome


def _limit_torch(threads: int) -> None:
    try:
        import torch
    except Exception:  # it is no peer here then
        return
    torch.set_num_threads(threads)
