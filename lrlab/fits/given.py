"""Runs solvers on data that has been read, by the same loop as all other jobs: one problem, or folds side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lrlab.protocol import Checkpoint, Iterate, Limits, Problem, Spec, parts, proceed
from lrlab.runs import run
from lrlab.runs.job import Job
from lrlab.runs.trace import Row, Trace
from lrlab.solver_entry import SolverEntry


@dataclass(frozen=True, kw_only=True, eq=False)
class Given(Spec):
    """A problem that is there already."""

    model = "given"
    title = "Given data"
    summary = "Data that has been read."
    equation = ""
    watched = False

    problem: Any = None

    def build(self, checkpoint: Checkpoint = proceed) -> Any:
        """Return the problem."""
        return self.problem

    @property
    def data_bytes(self) -> int:
        """Nothing more: the data is there."""
        return 0


@dataclass(frozen=True)
class GivenJob(Job):
    """A job whose solver comes with it, for those that the catalogue does not have."""

    runner: SolverEntry

    @property
    def entry(self) -> SolverEntry:
        """The solver."""
        return self.runner


def run_given(
    problem: Any,
    entry: SolverEntry,
    options: Mapping[str, Any],
    limits: Limits,
    seed: int,
    watch: Callable[[Row, Iterate], None],
    ended: Callable[[], bool] = lambda: False,
) -> Trace:
    """Run a solver on a problem, and return the trace; `watch` gets each scored iterate, `ended` says when to end."""
    job = GivenJob(Given(problem=problem, seed=seed), entry.name, tuple(options.items()), limits, entry)
    return run.run_job(job, watch, cancelled=lambda: run.cancelled() or ended())


class Together(tuple[Any, ...]):
    """All arrays of the `estimates` of several problems."""

    estimates: Sequence[Any]


@dataclass(frozen=True)
class Folds(Problem):
    """Several problems as one, with the measure of an estimate of one of them, of which `score` is the mean."""

    problems: Sequence[Any]
    measure: Callable[[Any, Any], float]

    def score(self, together: Together) -> dict[str, float]:
        """Return the mean over folds; of those that have a score, for an AUC needs labels of both kinds."""
        scores = [self.measure(*pair) for pair in zip(self.problems, together.estimates, strict=True)]
        return {"score": float(np.mean([one for one in scores if not np.isnan(one)] or [np.nan]))}


def on_folds(entry: SolverEntry) -> SolverEntry:
    """Return the solver of `Folds` that a solver of one problem is."""
    return replace(entry, run=partial(_side_by_side, entry))


def _side_by_side(entry: SolverEntry, folds: Folds, *, rng: np.random.Generator, **options: Any) -> Iterator[Iterate]:
    """Yield iterates of all folds together until one of them ends: sums of objectives, the largest residual."""
    runs = [entry.run(problem, **options, rng=deepcopy(rng)) for problem in folds.problems]
    for iterates in zip(*runs, strict=False):
        together = Together(part for one in iterates for part in parts(one.estimate))
        together.estimates = [one.estimate for one in iterates]
        objectives, residuals = ([getattr(one, name) for one in iterates] for name in ("objective", "residual"))
        objective = None if None in objectives else sum(objectives)
        yield Iterate(together, objective, None if None in residuals else max(residuals))
