"""Eigenvalues and singular values of spectral starts along an axis: draws of a problem, which need no solver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lrlab import catalog
from lrlab.engine.results import LocalResults, collect
from lrlab.models.axes import place
from lrlab.protocol import Spec
from lrlab.runs.job import memory_limit, require_memory
from lrlab.runs.run import trial_spec

Row = dict[str, Any]


@dataclass(frozen=True)
class Draw:
    """One sample: a spec with its own seed, and its value on the axis."""

    spec: Spec
    axis: str
    at: float
    trial: int

    @property
    def place(self) -> Row:
        """The columns that identify a sample."""
        return {"axis": self.axis, "at": self.at, "trial": self.trial, "seed": self.spec.seed}


def draws(solver: str, spec: Spec, axis: str, values: Sequence[float], trials: int = 10) -> list[Draw]:
    """Return the samples: `trials` at each value of an axis.

    InputError if a value is out of bounds, or if the data and the solver's arrays exceed the memory.
    """
    entry, planned = catalog.solver(solver, spec.model), list[Draw]()
    for value in values:
        cell = place(spec, axis, value)
        require_memory(cell, entry, dict(entry.settle({}).options), memory_limit())
        planned += [Draw(trial_spec(cell, trial), axis, float(value), trial) for trial in range(trials)]
    return planned


def table(
    measure: Callable[[Draw], list[Row]], solver: str, spec: Spec, axis: str, values: Sequence[float], trials: int = 10
) -> pd.DataFrame:
    """Return the rows of `measure` for all samples, see `draws`, as a tidy table."""
    results = collect(LocalResults(measure, draws(solver, spec, axis, values, trials)))
    return pd.DataFrame([row for rows in results for row in rows])


def statistics(values: pd.DataFrame, place: Sequence[str]) -> pd.DataFrame:
    """Return trials, and `mean_` and `sd_` of all columns, of a table with a row per trial at each place of columns."""
    trials = values.groupby(level=list(place))
    mean, sd = trials.mean().add_prefix("mean_"), trials.std().add_prefix("sd_")
    return pd.concat([trials.size().rename("trials"), mean, sd], axis=1).reset_index()
