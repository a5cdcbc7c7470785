"""What the cells of a sweep say: successes with their interval, and quartiles of all scores; and all trials."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lrlab.experiments.definition import Sweep
from lrlab.experiments.outcome import Outcome
from lrlab.experiments.resume import Cell, Item, cells, require_metric
from lrlab.experiments.store import Store
from lrlab.experiments.summary import wilson

QUARTILES = (0.25, 0.5, 0.75)
Row = dict[str, Any]


def table(sweep: Sweep, store: Store, failures: Mapping[Item, str]) -> list[Row]:
    """Return a row a cell from the finished trials of a sweep in a store.

    Each has `axes`, `solver`, `trials` (finished), `successes` and their 95% Wilson `interval` (None where the sweep
    has no rule), `metrics` (first quartile, median, third quartile of what is a number; a prediction is thrice the
    same), `stops` (how many ended how), `failed` (trials of this run that came to nothing) and `refused` (why the cell
    has none). Solver times are no part of it: the table is the same wherever and in however many pieces it was made.
    """
    return [_row(sweep, cell, store, failures) for cell in cells(sweep)]


def trials(sweep: Sweep, store: Store) -> Iterator[Row]:
    """Yield the finished trials of a sweep in a store, as `sweep.sweep` has them: tidy rows, the cell's values first.

    A refused cell has one row with the reason in `refused`.
    """
    for axes, solver, job, refused in cells(sweep):
        if job is None:
            yield {**axes, "solver": solver, "trial": 0, "refused": refused}
            continue
        for number, o in store.outcomes(job, sweep.trials).items():
            ending = {"stop": o.stop, "iterations": o.iterations, "seconds": o.seconds, "refused": ""}
            yield {**axes, "solver": solver, "trial": number, "seed": o.seed, **o.scores, **job.predictions, **ending}


def _row(sweep: Sweep, cell: Cell, store: Store, failures: Mapping[Item, str]) -> Row:
    outcomes = list(store.outcomes(cell.job, sweep.trials).values()) if cell.job else []
    for outcome in outcomes:
        require_metric(sweep, outcome.scores)
    successes = sum(sweep.success.met(outcome.scores) for outcome in outcomes) if sweep.success else None
    predictions = cell.job.predictions if cell.job else {}
    return {
        "axes": dict(cell.axes),
        "solver": cell.solver,
        "trials": len(outcomes),
        "successes": successes,
        "interval": None if successes is None else list(wilson(successes, len(outcomes))),
        "metrics": {**quartiles(outcomes), **{name: [value] * 3 for name, value in predictions.items()}},
        "stops": dict(sorted(Counter(outcome.stop for outcome in outcomes).items())),
        "failed": sum((cell.job, number) in failures for number in range(sweep.trials)) if failures else 0,
        "refused": cell.refused,
    }


def quartiles(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Return the quartiles of all scores and of the number of iterations; nan where nothing is a number."""
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.scores)
    columns = {name: [outcome.scores.get(name, np.nan) for outcome in outcomes] for name in names}
    if outcomes:
        columns["iterations"] = [outcome.iterations for outcome in outcomes]
    return {name: _quartiles(np.array(values, dtype=float)) for name, values in columns.items()}


def _quartiles(values: np.ndarray) -> list[float]:
    known = values[~np.isnan(values)]
    if not len(known):
        return [float("nan")] * 3
    # Between two infinite values there is no number.
    with np.errstate(invalid="ignore"):
        return np.quantile(known, QUARTILES).tolist()
