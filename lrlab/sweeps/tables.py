"""Tables of a sweep's results: grid points, midpoints, and the trials that `lrlab.sweep` returns, with a verdict."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.parameters import InputError, require_known
from lrlab.protocol import Stop
from lrlab.runs.run import Trial, TrialResult
from lrlab.sweeps.adaptive import infer
from lrlab.sweeps.definition import Sweep, spacing
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.statistics import midpoint

Row = dict[str, Any]
ENDING = ("iterations", "seconds")
SHOWN_ROWS = 10


def cell_rows(results: SweepResults) -> list[Row]:
    """Return a row per cell.

    Each has `axes`, `solver`, `trials` (finished), `successes`, their `share` and its 95% Wilson `interval` (None if
    the sweep has no rule), `inferred` (an adaptive sweep has no trials there: share and interval follow from other
    cells), `metrics` (first quartile, median, third quartile of the finite values; a prediction three times), `stops`
    (counts by reason), `failed` (trials of this run that failed) and `refused` (why the cell has no trials). The rows
    contain no solver times, so that they do not depend on the machine or on interruptions.
    """
    sweep, rows, metrics = results.sweep, list[Row](), dict(results.metrics())
    table = results.table(sweep.contour.metric)
    failed = Counter(trial.job for trial in results.failures)
    for cell, own in zip(results.cells, table.to_dict("records"), strict=True):
        job, tried, ruled = cell.job, bool(own["trials"]), bool(sweep.success)
        row = {"axes": dict(cell.axes), "solver": cell.solver, "trials": own["trials"]}
        row["successes"] = int(own["successes"] if tried else 0) if ruled else None
        row["share"] = own["share"] if ruled and tried else None
        row["interval"] = ([own["low"], own["high"]] if tried else [0.0, 1.0]) if ruled else None
        known = {"metrics": metrics[job], "stops": results.stops(job)} if job else {"metrics": {}, "stops": {}}
        rows.append(row | {"inferred": False, **known, "failed": failed[job] if job else 0, "refused": cell.refused})
    if sweep.adaptive:
        picture = infer(results, table)
        guesses = picture[picture["inferred"]].fillna({"y": 0.0}).itertuples(index=False)
        inferred = {guess[:3]: guess for guess in guesses}
        for row in rows:
            point = (*row["axes"].values(), 0.0)[:2]
            if guess := inferred.get((*point, row["solver"])):
                row |= {"inferred": True}
                row |= {"share": guess.mean, "interval": [guess.low, guess.high]} if sweep.success else {}
    return rows


def described(sweep: Sweep, table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a table of cells with the name of its metric, and with all fixed parameters."""
    fixed: Row = {"model": sweep.spec.model, **sweep.spec.public_values(), **dict(sweep.settings)}
    # A row has the seed of its first trial.
    fixed["sweep_seed"] = fixed.pop("seed")
    varied = {*sweep.decided, *sweep.grid}
    table = table.assign(**{name: value for name, value in fixed.items() if name not in varied})
    table.insert(table.columns.get_loc("mean"), "metric", metric)
    return table


def midpoints(sweep: Sweep, table: pd.DataFrame) -> pd.DataFrame:
    """Return the midpoints of 50% success along the last axis, as rows for each solver.

    table: of `SweepResults.table`. Columns: the first of two axes, solver, half, low, high (95% interval). There is no
    row if the rate does not cross 50% between the values.
    """
    *across, along = sweep.grid
    rows: list[dict[str, Any]] = []
    scale = spacing(dict(sweep.axes)[along])
    measured = table[table["trials"] > 0]
    for group, column in measured.groupby([*across, "solver"], sort=False):
        column = column.sort_values(along)
        successes, trials = (tuple(column[name].astype(int).tolist()) for name in ("successes", "trials"))
        half = midpoint(tuple(column[along].tolist()), successes, trials, scale) if len(column) > 1 else None
        if half:
            named = dict(zip([*across, "solver"], group, strict=True))
            rows.append({**named, "half": half.value, "low": half.low, "high": half.high})
    return pd.DataFrame(rows, columns=[*across, "solver", "half", "low", "high"])


def midpoint_words(sweep: Sweep, points: pd.DataFrame) -> list[str]:
    """Return `midpoints` as sentences: the position of 50% success, with its 95% interval."""
    *across, along = sweep.grid
    words = []
    for row in points.to_dict("records"):
        low, high = ("beyond the axis" if math.isinf(row[end]) else f"{row[end]:.4g}" for end in ("low", "high"))
        where = "".join(f" at {axis} = {row[axis]:.6g}" for axis in across)
        interval = f"95% interval {low} to {high}"
        words.append(f"{sweep.titles[row['solver']]}: half succeed{where} at {along} = {row['half']:.4g} ({interval}).")
    return words


class SweepTable(pd.DataFrame):  # type: ignore[misc]  # pandas has no types
    """A row per trial; `sweep` is the definition that they belong to, also for a part of the rows."""

    _metadata = ["sweep"]
    sweep: Sweep | None = None

    @property
    def _constructor(self) -> Any:
        return SweepTable

    def _repr_html_(self) -> Any:
        rows = pd.DataFrame(self).to_html(max_rows=SHOWN_ROWS, show_dimensions=True)
        try:
            words = " ".join(verdict(results_of(self)))
        except InputError:
            # Without the columns that a verdict needs.
            return rows
        return f"<p><strong>{escape(words)}</strong></p>{rows}"


def results_of(table: pd.DataFrame, order: Sequence[str] = ()) -> SweepResults:
    """Return the results that the rows of a table are, over the axes in some order."""
    sweep: Sweep | None = getattr(table, "sweep", None)
    if not isinstance(sweep, Sweep):
        raise InputError("table", "one that lrlab.sweep returned, or rows of it", type(table).__name__, "pass that one")
    for name in order:
        require_known(name, sweep.grid, what="axis")
    if len(order) == len(sweep.axes):
        sweep = replace(sweep, axes=tuple((name, dict(sweep.axes)[name]) for name in order))
    required = [*sweep.grid, "solver", "trial", "seed", "stop", *ENDING]
    if missing := [name for name in required if name not in table]:
        raise InputError(
            "table", f"one with the column {missing[0]}", ", ".join(str(name) for name in table), "keep its columns"
        )
    results = SweepResults(sweep)
    jobs = {(*cell.axes.values(), cell.solver): cell.job for cell in results.cells if cell.job}
    scores = [name for name in table if name not in (*required, "refused")]
    finished = dict[Trial, TrialResult]()
    for row in table.to_dict("records"):
        job = jobs.get((*(row[name] for name in sweep.grid), row["solver"]))
        if job is not None and row["stop"] in Stop.__members__:
            own = {str(name): row[name] for name in scores if row[name] == row[name]}
            ending = TrialResult(int(row["seed"]), row["stop"], int(row["iterations"]), row["seconds"], own)
            finished[Trial(job, int(row["trial"]))] = ending
        elif job is not None:
            results.failures[Trial(job, int(row["trial"]))] = row["refused"]
    results.add(finished)
    return results


def verdict(results: SweepResults) -> list[str]:
    """Return the outcome of the trials: successes per solver, midpoints, and failures."""
    sweep, words, failures = results.sweep, list[str](), list(results.failures.values())
    failed = [f"{len(failures)} trials failed. The first: {failures[0]}"] if failures else []
    if not sweep.success:
        return failed
    for solver, title in sweep.titles.items():
        jobs = [job for job in sweep.jobs if job.solver == solver]
        trials, successes, _ = results.counts(jobs, np.full(len(jobs), sweep.trials))
        words.append(f"{title}: {successes.sum()} of {trials.sum()} trials succeed.")
    given = catalog.given(sweep.solvers, sweep.spec.model)
    # A map may have many, one per column.
    table = results.table(sweep.success.metric)
    halves = midpoint_words(sweep, midpoints(sweep, table)) if len(sweep.grid) == 1 else []
    return [" ".join(words), *halves, *([given] if given else []), *failed]
