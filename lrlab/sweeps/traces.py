"""Whole runs, repeated: a score against iteration and time, gathered over trials."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from lrlab.runs.run import run_job
from lrlab.sweeps.sweep import Trial

Row = dict[str, Any]


def traced(trial: Trial) -> list[Row]:
    """Return the rows of one run, an iterate each: solver, trial, seed, iteration, seconds, scores."""
    trace = run_job(trial.job)
    about = {"solver": trial.job.solver, "trial": trial.trial, "seed": trial.job.spec.seed}
    return [{**about, **row, "stop": trace.stop.name if trace.stop else ""} for row in trace.rows]


def gathered(rows: pd.DataFrame, by: Sequence[str], measure: str) -> pd.DataFrame:
    """Return one row an iteration: median and quartiles of a measure, median seconds, trials.

    A run that has ended keeps its last value: else the median would be that of the slow ones alone.
    """
    last = int(rows["iteration"].max())
    found = []
    for name, group in rows.groupby(list(by), sort=False):
        runs = [run.set_index("iteration").reindex(range(1, last + 1)).ffill() for _, run in group.groupby("trial")]
        longest = int(group["iteration"].max())
        values = pd.concat([run[measure] for run in runs], axis=1).loc[:longest]
        seconds = pd.concat([run["seconds"] for run in runs], axis=1).loc[:longest].median(axis=1)
        quartiles = values.quantile([0.25, 0.5, 0.75], axis=1).T
        quartiles.columns = ["low", "y", "high"]
        own = quartiles.assign(seconds=seconds, trials=values.notna().sum(axis=1)).reset_index(names="iteration")
        found.append(own.assign(**dict(zip(by, name, strict=True))))
    return pd.concat(found, ignore_index=True)
