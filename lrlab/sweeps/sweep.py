"""Many trials of many cells: planned, run anywhere, gathered in one tidy table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from lrlab import catalog
from lrlab.engine import remote
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.runs.axes import place
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import run_job
from lrlab.runs.trial import Progress, Run, silent, trial_spec

Row = dict[str, Any]
Axes = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Trial:
    """One job of a table: where it stands (axis, value), and what is run there."""

    cell: tuple[tuple[str, float], ...]
    trial: int
    job: Job


def run_trial(trial: Trial) -> Row:
    """Return the row of one trial: cell, solver, trial, seed, all scores and predictions, and how it ended."""
    trace = run_job(trial.job, last_only=True)
    last = trace.rows[-1] if trace.rows else {}
    return {
        **dict(trial.cell),
        "solver": trial.job.solver,
        "trial": trial.trial,
        "seed": trial.job.spec.seed,
        **trace.metrics,
        "stop": trace.stop.name if trace.stop else "",
        "iterations": last.get("iteration", 0),
        "seconds": last.get("seconds", 0.0),
        "refused": "",
    }


def plan(
    spec: Spec, axes: Axes, solvers: Sequence[str], trials: int, settings: Mapping[str, object]
) -> tuple[list[Trial], list[Row]]:
    """Return the trials of all cells, and a row for each cell that is refused beforehand, with its reason.

    Two solvers see the same data in a trial. Settings go to every solver that knows them; InputError when none does,
    when an axis is unknown, or when every cell is refused.
    """
    _require_use(spec.model, solvers, settings)
    planned, refused = [], []
    for values in product(*axes.values()):
        cell = tuple(zip(axes, values, strict=True))
        for solver in solvers:
            try:
                spec_there = at(spec, cell)
                own = catalog.solver(solver, spec.model).settings_among(settings)
                job = make_job(spec_there, solver, **own)
            except InputError as error:
                if error.name == "axis":
                    raise
                refused.append({**dict(cell), "solver": solver, "trial": 0, "refused": str(error)})
                continue
            planned += [Trial(cell, t, job.on(trial_spec(spec_there, t))) for t in range(trials)]
    if not planned and refused:
        raise InputError("axes", "such that a solver accepts some cell", "none", str(refused[0]["refused"]))
    return planned, refused


def at(spec: Spec, cell: Sequence[tuple[str, float]]) -> Spec:
    """Return the spec moved to a cell: (axis, value) pairs."""
    # Quantities that decide a parameter (n/p decides n) are placed last, for they look at the others.
    for axis, value in sorted(cell, key=lambda pair: pair[0] not in spec.values()):
        spec = place(spec, axis, value)
    return spec


def _require_use(model: str, solvers: Sequence[str], settings: Mapping[str, object]) -> None:
    entries = [catalog.solver(solver, model) for solver in solvers]
    for name in settings:
        if not any(name in entry.settings for entry in entries):
            entries[0].require_setting(name)


def on_engine(function: Any, items: Sequence[Any], progress: Progress) -> list[Any]:
    """Run items on this process's engine: a `trials.Run` that has a `Failure` in the place of what failed."""
    from lrlab.engine.engine import on_workers
    from lrlab.engine.stream import collect

    return collect(on_workers(function, items), progress, failures=True)


def sweep(
    spec: Spec,
    axes: Axes,
    solvers: Sequence[str],
    trials: int = 20,
    *,
    run: Run = on_engine,
    progress: Progress = silent,
    **settings: object,
) -> pd.DataFrame:
    """Return a tidy table, one row a trial, of all solvers at all combinations of the axes' values.

    axes: parameter names, or derived quantities such as "ratio" (n/p), with their values. settings: options of the
    solvers and `tol`, `max_iter`, `max_seconds`. Trials have seeds of their own (column `seed`), by which each can be
    run again alone; the table is the same wherever and in whatever order they ran, seconds aside. Cells that cannot be
    run have one row with the reason in `refused`; so has a trial that failed, with `stop` "FAILED".
    """
    planned, refused = plan(spec, axes, solvers, trials, settings)
    results = run(run_trial, planned, progress)
    return pd.DataFrame([told(*pair) for pair in zip(planned, results, strict=True)] + refused)


def told(trial: Trial, result: Row | remote.Failure) -> Row:
    """Return the row of a trial, also where it failed."""
    if not isinstance(result, remote.Failure):
        return result
    where = {**dict(trial.cell), "solver": trial.job.solver, "trial": trial.trial, "seed": trial.job.spec.seed}
    return {**where, "stop": "FAILED", "refused": result.sentence}
