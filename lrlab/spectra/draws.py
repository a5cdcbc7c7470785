"""Draws of a problem along an axis, for the spectra of moments, which need no solver."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lrlab import catalog
from lrlab.engine.stream import StartStream, collect
from lrlab.models.axes import place
from lrlab.parameters import settle
from lrlab.protocol import Spec
from lrlab.runs.memory import require_memory
from lrlab.runs.trial import Progress, trial_spec

Row = dict[str, Any]


@dataclass(frozen=True)
class Draw:
    """One draw: the spec with a seed of its own, and where it lies on the axis."""

    spec: Spec
    axis: str
    at: float
    trial: int

    @property
    def place(self) -> Row:
        """The columns that say which draw a row is of."""
        return {"axis": self.axis, "at": self.at, "trial": self.trial, "seed": self.spec.seed}


def draws(spec: Spec, axis: str, values: Sequence[float], trials: int, solver: str) -> list[Draw]:
    """Return `trials` draws at each value of an axis.

    InputError where a value is out of bounds, or the data and what this solver needs beside it exceed the memory.
    """
    entry, planned = catalog.solver(solver, spec.model), list[Draw]()
    options = settle(entry.run, {})
    for value in values:
        cell = place(spec, axis, value)
        require_memory(cell, entry, options)
        planned += [Draw(trial_spec(cell, trial), axis, float(value), trial) for trial in range(trials)]
    return planned


def collect_draws(
    measure: Callable[[Draw], list[Row]], planned: Sequence[Draw], start: StartStream, progress: Progress
) -> pd.DataFrame:
    """Return the rows that `measure` gives of all draws, as a tidy table."""
    return pd.DataFrame([row for rows in collect(start(measure, planned), progress) for row in rows])
