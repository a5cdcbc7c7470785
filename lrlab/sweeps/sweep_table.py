"""The table of trials that `lrlab.sweep` returns: a DataFrame with a verdict. `lrlab.map` plots it."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd

from lrlab import catalog
from lrlab.parameters import InputError, require_known
from lrlab.protocol import Stop
from lrlab.runs.trial import Trial, TrialResult
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.statistics import midpoint_words, midpoints

ENDING = ("iterations", "seconds")
SHOWN_ROWS = 5


class SweepTable(pd.DataFrame):  # type: ignore[misc]  # pandas has no types
    """A row per trial; `sweep` is the definition that they belong to, also for a part of the rows."""

    _metadata = ["sweep"]
    sweep: Sweep | None = None

    @property
    def _constructor(self) -> Any:
        return SweepTable

    def _repr_html_(self) -> Any:
        rows = (
            pd.DataFrame(self)._repr_html_()
            if len(self) <= SHOWN_ROWS
            else pd.DataFrame(self.head(SHOWN_ROWS)).to_html()
        )
        try:
            results = results_of(self)
        except InputError:
            # Without the columns that a verdict needs.
            return pd.DataFrame(self)._repr_html_()
        about = f"{len(self):,} rows, the first of them:"
        return f"<p><strong>{escape(' '.join(verdict(results)))}</strong></p><p>{about}</p>{rows}"


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
        jobs = dict.fromkeys(cell.job for cell in results.cells if cell.job and cell.solver == solver)
        successes, trials = (sum(count(job) for job in jobs) for count in (results.successes, results.finished))
        words.append(f"{title}: {successes} of {trials} trials succeed.")
    given = catalog.given(sweep.solvers, sweep.spec.model)
    # A map may have many, one per column.
    table = results.table(sweep.success.metric)
    halves = midpoint_words(sweep, midpoints(sweep, table)) if len(sweep.grid) == 1 else []
    return [" ".join(words), *halves, *([given] if given else []), *failed]
