"""Tables of a sweep's results: a row per cell for the shell's JSON, a row per trial for `lrlab.sweep`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lrlab.runs.trial import Trial, trial_spec
from lrlab.sweeps.adaptive import infer
from lrlab.sweeps.definition import Cell, Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.statistics import midpoints, wilson

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


def cell_rows(results: SweepResults) -> list[Row]:
    """Return a row per cell.

    Each has `axes`, `solver`, `trials` (finished), `successes`, their `share` and its 95% Wilson `interval` (None if
    the sweep has no rule), `inferred` (an adaptive sweep has no trials there: share and interval follow from other
    cells), `metrics` (first quartile, median, third quartile of the finite values; a prediction three times), `stops`
    (counts by reason), `failed` (trials of this run that failed) and `refused` (why the cell has no trials). The rows
    contain no solver times, so that they do not depend on the machine or on interruptions.
    """
    sweep = results.sweep
    rows = [_cell_row(results, cell) for cell in results.cells]
    if sweep.adaptive:
        picture = infer(results)
        inferred = {cell[:3]: cell for cell in picture[picture["inferred"]].fillna({"y": 0.0}).itertuples(index=False)}
        for row in rows:
            point = (*row["axes"].values(), 0.0)[:2]
            if cell := inferred.get((*point, row["solver"])):
                row |= {"inferred": True}
                row |= {"share": cell.mean, "interval": [cell.low, cell.high]} if sweep.success else {}
    return rows


def described(sweep: Sweep, table: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return a table of cells with the name of its metric, and with all fixed parameters."""
    fixed: Row = {"model": sweep.spec.model, **sweep.spec.public_values(), **dict(sweep.settings)}
    # A row has the seed of its first trial.
    fixed["sweep_seed"] = fixed.pop("seed")
    varied = {*sweep.decided, *sweep.grid}
    table = table.assign(**{name: value for name, value in fixed.items() if name not in varied})
    table.insert(table.columns.get_loc("mean"), "metric", metric)
    return table


def success_midpoints(results: SweepResults) -> "pd.DataFrame":
    """Return the midpoints of 50% success, see `statistics.midpoints`; no rows if the sweep has no rule."""
    sweep = results.sweep
    points = midpoints(sweep, results.table(sweep.contour.metric))
    return points if sweep.success else points[:0]


def _cell_row(results: SweepResults, cell: Cell) -> Row:
    sweep, job = results.sweep, cell.job
    trials = results.finished(job) if job else 0
    successes = (results.successes(job) if job else 0) if sweep.success else None
    return {
        "axes": dict(cell.axes),
        "solver": cell.solver,
        "trials": trials,
        "successes": successes,
        "share": successes / trials if trials and successes is not None else None,
        "interval": None if successes is None else list(wilson(successes, trials)),
        "inferred": False,
        "metrics": results.metrics(job) if job else {},
        "stops": results.stops(job) if job else {},
        "failed": sum(trial.job == job for trial in results.failures),
        "refused": cell.refused,
    }


def trial_rows(results: SweepResults) -> Iterator[Row]:
    """Yield a row per trial: the cell's values, solver, trial, seed, all scores and predictions, how it ended, refused.

    A trial that failed has `stop` "FAILED" and the reason in `refused`; a refused cell has one row with its reason.
    """
    for axes, solver, job, refused in results.cells:
        if job is None:
            yield {**axes, "solver": solver, "trial": 0, "refused": refused}
            continue
        finished = results.results(job)
        for number in range(results.sweep.trials):
            trial = Trial(job, number)
            if number in finished:
                yield {**axes, **finished[number].row(trial)}
            elif sentence := results.failures.get(trial):
                about = {"solver": solver, "trial": number, "seed": trial_spec(job.spec, number).seed}
                yield {**axes, **about, "stop": "FAILED", "refused": sentence}


def trial_table(results: SweepResults) -> "pd.DataFrame":
    """Return `trial_rows` as a table, the refused cells at its end."""
    import pandas as pd

    rows = sorted(trial_rows(results), key=lambda row: "seed" not in row)
    return pd.DataFrame(rows)
