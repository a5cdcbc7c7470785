"""What the cells of a sweep say so far, to be drawn: shares with intervals, means, quartiles; and midpoints."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.runs.job import Job
from lrlab.runs.trial import trial_spec
from lrlab.sweeps.cell_table import QUARTILES
from lrlab.sweeps.cells import Cell
from lrlab.sweeps.definition import Given, Span, Sweep
from lrlab.sweeps.midpoint import midpoint
from lrlab.sweeps.summary import wilson
from lrlab.sweeps.tally import Tally

COLUMNS = (
    "solver", "trials", "successes", "share", "low", "high", "mean", "spread", "lower_quartile", "median",
    "upper_quartile", "seed", "refused",
)  # fmt: skip


class Overview:
    """Tables of a sweep's cells, of which only those are computed anew that have got new trials."""

    def __init__(self, sweep: Sweep, cells: Sequence[Cell], tally: Tally) -> None:
        """Look at nothing yet. cells: of the sweep, from `resume.cells`."""
        self._sweep, self._cells, self._tally = sweep, cells, tally
        self._known: dict[tuple[Job, str], dict[str, Any]] = {}

    def table(self, metric: str) -> pd.DataFrame:
        """Return a row a cell: a column an axis, and `COLUMNS`.

        trials: finished. successes, share, low, high (95% Wilson interval): by the rule of the sweep's `contour`. mean,
        spread (standard deviation) and quartiles are of the metric, where it is a number. seed: of the first trial.
        refused: why a cell has no trials.
        """
        rows = [{**cell.axes, "solver": cell.solver, **self._row(cell, metric)} for cell in self._cells]
        return pd.DataFrame(rows, columns=[*self._sweep.grid, *COLUMNS])

    def _row(self, cell: Cell, metric: str) -> dict[str, Any]:
        if cell.job is None:
            return {"trials": 0, "seed": 0, "refused": cell.refused}
        known = self._known.get((cell.job, metric))
        if known is None or known["trials"] != self._tally.finished(cell.job):
            known = self._known[cell.job, metric] = self._summary(cell.job, metric)
        return known

    def _summary(self, job: Job, metric: str) -> dict[str, Any]:
        trials = self._tally.finished(job)
        row: dict[str, Any] = {"trials": trials, "seed": trial_spec(job.spec, 0).seed, "refused": ""}
        if not trials:
            return row
        rule = self._sweep.contour
        successes = int(rule.reached(self._tally.values(job, rule.metric)).sum())
        row |= {"successes": successes, "share": successes / trials, **wilson(successes, trials)._asdict()}
        values = self._tally.values(job, metric)
        values = values[np.isfinite(values)]
        if len(values):
            names = ("lower_quartile", "median", "upper_quartile")
            row |= dict(zip(names, np.quantile(values, QUARTILES).tolist(), strict=True))
            spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
            row |= {"mean": float(values.mean()), "spread": spread}
        return row


def spacing(given: Given) -> str:
    """Return how the values of an axis are spaced: as the range says; of a list, "log" where its ratios are alike."""
    if isinstance(given, Span):
        return given.spacing
    values = np.sort(np.array(given, dtype=float))
    if len(values) < 3 or values[0] <= 0:
        return "linear"
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return "log" if ratios.std() / ratios.mean() < steps.std() / steps.mean() else "linear"


def midpoints(sweep: Sweep, table: pd.DataFrame) -> pd.DataFrame:
    """Return where half of the trials succeed along the second axis, or the only one, as rows for each solver.

    table: of `Overview.table`. Columns: the first axis where there are two, solver, half, low, high (95% interval); no
    row where there is no such place among the values.
    """
    *across, along = sweep.grid
    rows: list[dict[str, Any]] = []
    scale = spacing(dict(sweep.axes)[along])
    measured = table[table["trials"] > 0]
    for group, column in measured.groupby([*across, "solver"], sort=False):
        column = column.sort_values(along)
        counts = (column[name].astype(int).tolist() for name in ("successes", "trials"))
        found = midpoint(column[along].tolist(), *counts, scale) if len(column) > 1 else None
        if found:
            named = dict(zip([*across, "solver"], group, strict=True))
            rows.append({**named, "half": found.value, "low": found.low, "high": found.high})
    return pd.DataFrame(rows, columns=[*across, "solver", "half", "low", "high"])
