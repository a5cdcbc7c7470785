"""What the cells of a sweep say: successes with their interval, and quartiles of all scores; and all trials."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lrlab.runs.job import Job
from lrlab.runs.trial import TrialResult
from lrlab.store.store import Store
from lrlab.sweeps import adaptive
from lrlab.sweeps.cells import Cell, Item, cells, jobs
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.resume import require_metric
from lrlab.sweeps.summary import wilson

QUARTILES = (0.25, 0.5, 0.75)
Row = dict[str, Any]


def table(sweep: Sweep, store: Store, failures: Mapping[Item, str]) -> list[Row]:
    """Return a row a cell from the finished trials of a sweep in a store.

    Each has `axes`, `solver`, `trials` (finished), `successes`, their `share` and its 95% Wilson `interval` (None where
    the sweep has no rule), `inferred` (an adaptive sweep has no trials there: share and interval follow from those of
    other cells), `metrics` (first quartile, median, third quartile of what is a number; a prediction is thrice the
    same), `stops` (how many ended how), `failed` (trials of this run that came to nothing) and `refused` (why the cell
    has none). Solver times are no part of it: the table is the same wherever and in however many pieces it was made.
    """
    numbers = _numbers(sweep, store)
    rows = [_row(sweep, cell, numbers, store, failures) for cell in cells(sweep)]
    if sweep.adaptive:
        seen = adaptive.picture(sweep, lambda job: _measured(sweep, job, numbers, store))
        inferred = {cell[:3]: cell for cell in seen[seen["inferred"]].fillna({"y": 0.0}).itertuples(index=False)}
        for row in rows:
            place = (*row["axes"].values(), 0.0)[:2]
            if cell := inferred.get((*place, row["solver"])):
                row |= {"inferred": True}
                row |= {"share": cell.mean, "interval": [cell.low, cell.high]} if sweep.success else {}
    return rows


def contour(sweep: Sweep, store: Store) -> list[Row]:
    """Return the contour of a sweep in a store, see `adaptive.contour`."""
    numbers = _numbers(sweep, store)
    return adaptive.contour(sweep, lambda job: _measured(sweep, job, numbers, store))


def _numbers(sweep: Sweep, store: Store) -> dict[Job, int]:
    return adaptive.measured(sweep, store) if sweep.adaptive else dict.fromkeys(jobs(sweep), sweep.trials)


def _measured(sweep: Sweep, job: Job, numbers: Mapping[Job, int], store: Store) -> list[float]:
    outcomes = store.outcomes(job, numbers.get(job, 0)).values()
    return [outcome.scores.get(sweep.contour.metric, float("nan")) for outcome in outcomes]


def trials(sweep: Sweep, store: Store) -> Iterator[Row]:
    """Yield the finished trials of a sweep in a store, as `sweep.sweep` has them: tidy rows, the cell's values first.

    A refused cell has one row with the reason in `refused`.
    """
    numbers = _numbers(sweep, store)
    for axes, solver, job, refused in cells(sweep):
        if job is None:
            yield {**axes, "solver": solver, "trial": 0, "refused": refused}
            continue
        for number, o in store.outcomes(job, numbers.get(job, 0)).items():
            ending = {"stop": o.stop, "iterations": o.iterations, "seconds": o.seconds, "refused": ""}
            yield {**axes, "solver": solver, "trial": number, "seed": o.seed, **o.scores, **job.predictions, **ending}


def _row(sweep: Sweep, cell: Cell, numbers: Mapping[Job, int], store: Store, failures: Mapping[Item, str]) -> Row:
    outcomes = list(store.outcomes(cell.job, numbers.get(cell.job, 0)).values()) if cell.job else []
    for outcome in outcomes:
        require_metric(sweep, outcome.scores)
    successes = sum(sweep.success.met(outcome.scores) for outcome in outcomes) if sweep.success else None
    predictions = cell.job.predictions if cell.job else {}
    return {
        "axes": dict(cell.axes),
        "solver": cell.solver,
        "trials": len(outcomes),
        "successes": successes,
        "share": successes / len(outcomes) if outcomes and successes is not None else None,
        "interval": None if successes is None else list(wilson(successes, len(outcomes))),
        "inferred": False,
        "metrics": {**quartiles(outcomes), **{name: [value] * 3 for name, value in predictions.items()}},
        "stops": dict(sorted(Counter(outcome.stop for outcome in outcomes).items())),
        "failed": sum((cell.job, number) in failures for number in range(sweep.trials)) if failures else 0,
        "refused": cell.refused,
    }


def quartiles(outcomes: Sequence[TrialResult]) -> dict[str, list[float]]:
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
