"""Items of presets other than plain runs: quantities of simulated data, fewest measurements, costs of runs."""

import math
import tracemalloc
from dataclasses import dataclass
from typing import Any

from lrlab.models.axes import place
from lrlab.parameters import declared
from lrlab.presets.quantities import QUANTITIES
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.run import Newest, Trial, TrialResult, run_job, run_trial, trial_spec

MEASUREMENTS = "measurements"
"""Column with the result of a search."""
COSTS = {"processor": "processor seconds", "megabytes": "peak memory, MB"}
"""Columns of `cost`, with their titles."""


@dataclass(frozen=True)
class Drawing:
    """A quantity of a simulated problem; at: its place on an axis that is not a parameter of the spec, or None.

    All trials share the seed in the spec.
    """

    spec: Spec
    quantity: str
    number: int
    at: float | None = None


@dataclass(frozen=True)
class Search:
    """A search for the fewest measurements with recovery: the metric of its last iterate is below a level.

    The search doubles the parameter `along`, from `first` to at most `last`, until a run recovers. Then it bisects
    until the ends differ by the factor `close`. Each run has new data, so the median over trials estimates the point of
    50% success.
    """

    spec: Spec
    solver: str
    settings: tuple[tuple[str, Any], ...]
    metric: str
    below: float
    along: str
    first: float
    last: float
    number: int
    close: float

    def recovers(self, value: float) -> bool:
        """Return whether the run at a value recovers."""
        job = make_job(rounded(self.spec, self.along, value), self.solver, **dict(self.settings))
        return run_trial(Trial(job, self.number)).scores.get(self.metric, math.inf) < self.below


Item = Trial | Drawing | Search


def computed(item: Item) -> TrialResult | dict[str, Any]:
    """Return the result of a run, the parts of a quantity, or the result of a search."""
    if isinstance(item, Trial):
        return run_trial(item)
    if isinstance(item, Search):
        return {"trial": item.number, "seed": item.spec.seed, MEASUREMENTS: fewest(item)}
    spec = trial_spec(item.spec, item.number)
    parts = QUANTITIES[item.quantity](spec, *(() if item.at is None else (item.at,)))
    return {"trial": item.number, "seed": spec.seed, **parts} if parts else {}


def fewest(search: Search) -> float:
    """Return the fewest measurements with recovery; infinite if no run recovers."""
    low, high = search.first, search.first
    while not search.recovers(high):
        if high >= search.last:
            return math.inf
        low, high = high, min(2.0 * high, search.last)
    while high > search.close * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if search.recovers(middle) else (middle, high)
    spec: Any = rounded(search.spec, search.along, high)
    return float(spec.measurements or spec.values()[search.along])


def rounded(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec at a value of an axis, rounded for a parameter of whole numbers."""
    parameter = declared(type(spec)).get(axis)
    return place(spec, axis, round(value) if parameter is not None and parameter.kind is int else value)


def cost(trial: Trial) -> list[dict[str, float]]:
    """Return the processor seconds of a trial's solver, and the peak memory of a second run in megabytes.

    The seconds exclude the simulation of the data; the memory includes the data.
    """
    seconds = run_trial(trial).seconds
    tracemalloc.start()
    try:
        run_job(trial.seeded, newest=Newest())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return [{"trial": trial.number, "processor": seconds, "megabytes": peak / 1e6}]
