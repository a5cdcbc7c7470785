"""Estimation error against a theoretical rate: repeated trials, and how straight the line through the origin is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lrlab.protocol import Iterate, Spec, drive
from lrlab.runs.axes import place
from lrlab.runs.job import Job, make_job
from lrlab.runs.trial import Progress, Run, in_process, silent, trial_spec
from lrlab.theory import limits, spiked

Row = dict[str, Any]

RATES = {
    "dense-rate": lambda spec: limits.dense_rate(spec.n, spec.p),
    "sparse-rate": lambda spec: limits.sparse_rate(spec.n, spec.p, spec.sparsity or spec.p),
}


@dataclass(frozen=True)
class ErrorTrial:
    """One run: the job on the trial's own draw, and where it lies on the axis."""

    job: Job
    axis: str
    at: float
    trial: int


def error_trial(task: ErrorTrial) -> Row:
    """Return the scores of the last iterate of one run: axis, at, rate, trial, seed, n, iterations, stop, error, ..."""
    spec, last = task.job.spec, []

    def keep(iteration: int, seconds: float, iterate: Iterate) -> None:
        last[:] = [iteration, iterate.estimate]

    problem = spec.build()
    problem.load(everything=not task.job.entry.streams)
    rng = np.random.default_rng(spec.streams().solver)
    iterates = task.job.entry.run(problem, **dict(task.job.options), rng=rng)
    # Only the last iterate is scored: in a short run the score would cost more than the solver.
    stop = drive(iterates, keep, **task.job.limits._asdict())
    iterations, estimate = last
    place_of = {"axis": task.axis, "at": task.at, "rate": RATES[task.axis](spec), "trial": task.trial}
    run = {"seed": spec.seed, "n": spec.n, "iterations": iterations, "stop": stop.name}
    return {**place_of, **run, **problem.score(estimate)}


def error_trials(
    spec: Spec,
    solver: str,
    axis: str,
    values: Sequence[float],
    trials: int | Sequence[int],
    settings: Mapping[str, object],
) -> list[ErrorTrial]:
    """Return the trials of all cells, as many for each or a number for each; InputError where one cannot be run."""
    numbers = [trials] * len(values) if isinstance(trials, int) else trials
    tasks = []
    for value, number in zip(values, numbers, strict=True):
        cell = make_job(place(spec, axis, value), solver, **settings)
        tasks += [ErrorTrial(cell.on(trial_spec(cell.spec, t)), axis, float(value), t) for t in range(number)]
    return tasks


def errors(
    spec: Spec,
    solver: str,
    axis: str,
    values: Sequence[float],
    trials: int | Sequence[int] = 100,
    settings: Mapping[str, object] | None = None,
    run: Run = in_process,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the rows of `error_trial` for `trials` runs at each value of the axis, as a tidy table."""
    return pd.DataFrame(run(error_trial, error_trials(spec, solver, axis, values, trials, settings or {}), progress))


def mean_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each value on the axis: at, rate, n, trials, error (mean), its standard error, overlap."""
    cells = table.groupby("at")
    columns = {
        "rate": cells["rate"].first(),
        "n": cells["n"].first(),
        "trials": cells["error"].count(),
        "error": cells["error"].mean(),
        "standard_error": cells["error"].sem(),
        "overlap": cells["overlap"].mean(),
    }
    return pd.DataFrame(columns).reset_index()


def largest_rate(spec: Spec, factor: float) -> float:
    """Return the rate below which n is at least `factor` times the threshold of the pairwise moment.

    At n = threshold * d the leading eigenvector of M begins to know the truth, where d = p. A rate is sqrt(d / n) with
    d = p or, for sparse signals, d = s log p in the place of p: n >= factor * threshold * d is
    rate <= 1 / sqrt(factor * threshold).
    """
    return float((factor * spiked.predict(spec.link.moments, 1.0).threshold) ** -0.5)


def line_through_origin(rate: Sequence[float], error: Sequence[float]) -> tuple[float, float]:
    """Return the slope c of the least-squares line error = c rate and R^2 = 1 - |error - c rate|^2 / |error - mean|^2.

    R^2 is taken against the mean, as for a line with an intercept, so a line that is straight but misses the origin
    does not pass. Both are nan for fewer than three points.
    """
    x, e = np.asarray(rate, dtype=float), np.asarray(error, dtype=float)
    if len(x) < 3:
        return float("nan"), float("nan")
    slope = float(x @ e / (x @ x))
    return slope, float(1.0 - np.sum((e - slope * x) ** 2) / np.sum((e - e.mean()) ** 2))


def predicted_errors(spec: Spec, axis: str, values: Sequence[float]) -> pd.DataFrame:
    """Return the exact limit of Algorithm 1's error, sqrt(2 - 2 <b, b-hat>), at each value: at, rate, error."""
    rows = []
    for value in values:
        cell = place(spec, axis, value)
        overlap = spiked.predict(cell.link.moments, cell.n / cell.p).overlap
        rows.append({"at": value, "rate": RATES[axis](cell), "error": float(np.sqrt(2.0 - 2.0 * np.sqrt(overlap)))})
    return pd.DataFrame(rows)
