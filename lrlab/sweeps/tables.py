"""Tables of a sweep's results: grid points, midpoints, and the trials that `lrlab.sweep` returns, with a verdict."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd

from lrlab import catalog
from lrlab.parameters import InputError, counted, require_known
from lrlab.protocol import Stop
from lrlab.runs.run import Trial, TrialResult
from lrlab.sweeps.adaptive import infer
from lrlab.sweeps.definition import Sweep, spacing
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.statistics import midpoint
from lrlab.sweeps.winners import Winners, comparable, winners_of

Row = dict[str, Any]
SHOWN_ROWS = 10


def cell_rows(results: SweepResults) -> list[Row]:
    """Return a row per cell.

    Each has `axes`, `solver`, `trials` (finished), `successes`, `success_rate` and its 95% Wilson `interval` (None if
    the sweep has no rule), `inferred` (an adaptive sweep has no trials there: rate and interval follow from other
    cells), `metrics` (first quartile, median, third quartile of the finite values; a prediction three times), `stops`
    (counts by reason), `failed` (trials of this run that failed) and `refused` (why the cell has no trials). The rows
    contain no solver times, so that they do not depend on the machine or on interruptions.
    """
    table = infer(results, results.table(results.sweep.contour.metric))
    metrics, failed = dict(results.metrics()), Counter(trial.job for trial in results.failures)
    ruled, rows = results.sweep.success is not None, list[Row]()
    for cell, own in zip(results.cells, table.fillna({"successes": 0}).to_dict("records"), strict=True):
        known = own["trials"] or own["inferred"]
        stops = Counter(trial.stop for trial in results.results(cell.job).values()) if cell.job else {}
        row: Row = {
            "axes": dict(cell.axes),
            "solver": cell.solver,
            "trials": own["trials"],
            "successes": int(own["successes"]) if ruled else None,
            "success_rate": own["success_rate"] if ruled and known else None,
            "interval": ([own["low"], own["high"]] if known else [0.0, 1.0]) if ruled else None,
            "inferred": own["inferred"],
            "metrics": metrics[cell.job] if cell.job else {},
            "stops": dict(sorted(stops.items())),
            "failed": failed[cell.job] if cell.job else 0,
            "refused": cell.refused,
        }
        rows.append(row)
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
    rows = list[tuple[Any, ...]]()
    scale = spacing(dict(sweep.axes)[along])
    measured = table[table["trials"] > 0]
    for group, column in measured.groupby([*across, "solver"], sort=False):
        column = column.sort_values(along)
        successes, trials = (tuple(column[name].astype(int).tolist()) for name in ("successes", "trials"))
        half = midpoint(tuple(column[along].tolist()), successes, trials, scale) if len(column) > 1 else None
        if half:
            rows.append((*group, *half))
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
        return f"<p><strong>{escape(words)}</strong></p>{rows}" if words else rows


def results_of(table: pd.DataFrame, order: Sequence[str] = ()) -> SweepResults:
    """Return the results that the rows of a table are, over the axes in some order."""
    sweep: Sweep | None = getattr(table, "sweep", None)
    if not isinstance(sweep, Sweep):
        raise InputError("table", "one that lrlab.sweep returned, or rows of it", type(table).__name__, "pass that one")
    for name in order:
        require_known(name, sweep.grid, what="axis")
    if len(order) == len(sweep.axes):
        sweep = replace(sweep, axes=tuple((name, dict(sweep.axes)[name]) for name in order))
    results, finished = SweepResults(sweep), dict[Trial, TrialResult]()
    jobs = {(*cell.axes.values(), cell.solver): cell.job for cell in results.cells}
    about = {*sweep.grid, "solver", "trial", "seed", "stop", "iterations", "seconds", "refused"}
    if missing := sorted(about.difference(table.columns, ["refused"])):
        expected = f"one with the column {missing[0]}"
        raise InputError("table", expected, ", ".join(map(str, table)), "keep its columns")
    for row in table.to_dict("records"):
        job = jobs.get((*(row[name] for name in sweep.grid), row["solver"]))
        if job is None:
            continue
        trial = Trial(job, int(row["trial"]))
        if row["stop"] in Stop.__members__:
            scores = {name: value for name, value in row.items() if name not in about and value == value}
            finished[trial] = TrialResult(int(row["seed"]), row["stop"], int(row["iterations"]), row["seconds"], scores)
        else:
            results.failures[trial] = row.get("refused", "")
    results.add(finished)
    return results


def winners(table: pd.DataFrame, without: Collection[str] = ()) -> Winners:
    """Return who wins where on a table of `lrlab.sweep` over two axes: the outcome at each grid point, and a sentence.

    without: oracle information, such as "link", that excludes a solver. `lrlab.map(table, show="winner")` draws it.
    """
    results = results_of(table)
    if not comparable(results.sweep):
        raise InputError("table", "of several solvers over two axes", ", ".join(results.sweep.grid), "add what lacks")
    return winners_of(results, without)


def winner_rows(results: SweepResults) -> list[Row]:
    """Return a row per compared grid point: `axes`, `best` (solvers that nobody clearly beats), `by_time`."""
    return [
        {"axes": dict(zip(results.sweep.grid, one.point, strict=True)), "best": list(one.best), "by_time": one.by_time}
        for one in winners_of(results).outcomes
    ]


def verdict(results: SweepResults) -> list[str]:
    """Return the outcome of the trials: successes per solver and midpoints, or who wins a race; and failures."""
    sweep, failures = results.sweep, list(results.failures.values())
    failed = [f"{counted(len(failures), 'trial')} failed. The first: {failures[0]}"] if failures else []
    if sweep.race:
        return [*filter(None, [winners_of(results).sentence]), *failed]
    if not sweep.success:
        return failed
    table = results.table(sweep.success.metric)
    sums = table.groupby("solver")[["trials", "successes"]].sum().astype(int)
    words = [
        f"{title}: {sums['successes'][solver]} of {counted(sums['trials'][solver], 'trial')} succeed."
        for solver, title in sweep.titles.items()
    ]
    given = catalog.given(sweep.solvers, sweep.spec.model)
    # A map may have many, one per column.
    halves = midpoint_words(sweep, midpoints(sweep, table)) if len(sweep.grid) == 1 else []
    return [" ".join(words), *halves, *([given] if given else []), *failed]
