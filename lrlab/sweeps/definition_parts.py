"""Parts of a sweep's definition: values given by their ends, and the rule of success."""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike

from lrlab.arrays import Mask
from lrlab.model_entry import Level
from lrlab.parameters import InputError, Parameter, require_known

STEPS = Parameter(name="steps", kind=int, default=10, meaning="values of an axis", low=1, high=10_000)
LARGEST = 1e100
LEVEL = Parameter(name="level", default=0.05, meaning="level of a metric")


@dataclass(frozen=True)
class Span:
    """Values given by their ends: `steps` of them, evenly spaced on a linear or a log scale."""

    low: float
    high: float
    steps: int
    spacing: str = "linear"

    def values(self, axis: str) -> list[float]:
        """Return the values; InputError if there are none."""
        STEPS.check(self.steps)
        for end in (self.low, self.high):
            if not abs(end) <= LARGEST:
                raise InputError(axis, "finite at both ends of a range", end, "give a number that can be reached")
        require_known(self.spacing, ("linear", "log"), what=f"spacing of {axis}")
        if self.spacing == "log" and min(self.low, self.high) <= 0:
            raise InputError(axis, "above 0 at both ends of a log scale", min(self.low, self.high), "space it linearly")
        if self.low == self.high and self.steps > 1:
            raise InputError(axis, "a range with two different ends", self.low, "give one value as a list")
        values = (np.geomspace if self.spacing == "log" else np.linspace)(self.low, self.high, self.steps)
        return [float(value) for value in values]


def spacing(given: tuple[float, ...] | Span) -> str:
    """Return how the values of an axis are spaced; a list is "log" if its ratios are more even than its steps."""
    if isinstance(given, Span):
        return given.spacing
    values = np.sort(np.array(given, dtype=float))
    if len(values) < 3 or values[0] <= 0:
        return "linear"
    steps, ratios = np.diff(values), np.diff(np.log(values))
    return "log" if ratios.std() / ratios.mean() < steps.std() / steps.mean() else "linear"


@dataclass(frozen=True)
class Success:
    """A trial succeeds when its measure ends below, or above, a level."""

    metric: str
    below: float | None = None
    above: float | None = None

    def __post_init__(self) -> None:
        """Refuse a rule without a level, or with two."""
        if (self.below is None) == (self.above is None):
            got = "neither" if self.below is None else "both"
            raise InputError("success", "a metric with one level, below or above", got, "give one of the two")
        LEVEL.check(self.level)

    @property
    def level(self) -> float:
        """The level."""
        return self.above if self.below is None else self.below  # type: ignore[return-value]

    @property
    def at(self) -> Level:
        """The level as theory reads it."""
        return Level(self.metric, self.level, self.above is None)

    def reached(self, values: ArrayLike) -> Mask:
        """Return which values of the measure are successes; nan is none."""
        numbers = np.asarray(values, dtype=float)
        return numbers > self.level if self.below is None else numbers < self.level


def first_look(values: int) -> int:
    """Return how many values of an axis an adaptive sweep takes at first: about the square root of their number."""
    return min(values, ceil(sqrt(values)) + 1)
