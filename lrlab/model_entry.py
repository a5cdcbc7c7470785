"""Facts about a model and its family: how lrlab scores, draws and explains its runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lrlab.arrays import Mask
from lrlab.parameters import InputError, Parameter, Value, counted, display_name
from lrlab.protocol import Spec, View
from lrlab.solver_entry import Options, SolverEntry, nothing_known

Range = tuple[float, float, str]
"""First and last value of an axis, and their spacing: linear or log."""


class Measure(NamedTuple):
    """A metric for users: its axis title and its meaning.

    constant: whether it belongs to the problem instead of an iterate.
    quotient: the metric and the bound on all methods (`Family.best`) whose quotient it is; empty for others. rising:
    whether larger values are better.
    """

    title: str
    meaning: str
    constant: bool = False
    quotient: tuple[str, str] = ("", "")
    rising: bool = False


COMMON_MEASURES: Mapping[str, Measure] = {
    "objective": Measure("objective of the solver", "objective of the solver; not comparable between solvers"),
    "residual": Measure("relative residual", "stationarity of the iterate; a run stops at tol"),
}
"""Metrics that solvers report themselves, on every model."""
OVER_BOUND = Measure(
    "error / Cramér-Rao bound",
    "mean error over the least of estimates without bias: 1 is efficient; bias may go below",
    quotient=("error", "bound_error"),
)


@dataclass(frozen=True)
class Success:
    """A rule: a trial succeeds when its metric ends below, or above, a level."""

    metric: str
    below: float | None = None
    above: float | None = None

    def __post_init__(self) -> None:
        """Refuse a rule without a level, or with two."""
        if (self.below is None) == (self.above is None):
            got = "neither" if self.below is None else "both"
            raise InputError("success", "a metric with one level, below or above", got, "give one of the two")
        Parameter(name="level", default=0.05, meaning="level of a metric").check(self.level)

    @property
    def level(self) -> float:
        """The level."""
        return self.above if self.below is None else self.below  # type: ignore[return-value]

    @property
    def words(self) -> str:
        """The level as the name of a line."""
        return f"{display_name(self.metric)} = {self.level:g}"

    def reached(self, values: ArrayLike) -> Mask:
        """Return which values of the metric are successes; nan is none."""
        numbers = np.asarray(values, dtype=float)
        return numbers > self.level if self.below is None else numbers < self.level


@dataclass(frozen=True)
class Goal:
    """The quantity of a first map: with a level `below` the success rate, otherwise the mean of the metric.

    noises: the level is at least this many standard deviations of the noise, since no estimate is more accurate than
    its data.
    """

    metric: str
    below: float | None = None
    above: float | None = None
    noises: float = 0.0

    def rule(self, noise: float = 0.0) -> Success:
        """Return the rule in data with noise of such a standard deviation.

        Noise raises the level to at most 0.5, since an estimate of 0 has an error of 1.
        """
        below = None if self.below is None else max(self.below, min(0.5, self.noises * noise))
        return Success(self.metric, below, self.above)

    def level(self, noise: float = 0.0) -> float:
        """Return the level of the rule; files of `lrlab new model` read it."""
        return self.rule(noise).level


class Measured(NamedTuple):
    """A summary of the data: `words` compare measurements with unknowns, `panels` show the first ones, by title."""

    words: str
    panels: Mapping[str, View] = MappingProxyType({})


class Outcome(NamedTuple):
    """The state of a run: its latest metrics, none before the first iterate, and the predictions of theory.

    limited: whether a limit on iterations or time ended it.
    """

    solver: str
    title: str
    scores: Mapping[str, float]
    iterations: int
    over: bool
    options: Mapping[str, Value]
    predictions: Mapping[str, float]
    limited: bool = False

    @property
    def course(self) -> str:
        """The number of iterations and the solver, as words."""
        return f"after {counted(self.iterations, 'iteration')} ({self.title})"


def best_of(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Return the outcome with the smallest error."""
    scored = (one for one in outcomes if "error" in one.scores)
    return min(scored, key=lambda one: one.scores["error"], default=None)


def recovery(outcomes: Sequence[Outcome], what: str, measure: str, level: float, context: str) -> str:
    """Return how many solvers end with a metric below a level, the smallest error, and `context`."""
    best = best_of(outcomes)
    if best is None:
        return f"{context}."
    words = f"error {best.scores['error']:.2g} {best.course}"
    if not all(one.over for one in outcomes):
        return f"Running, {words}: {context}."
    recovered = [one for one in outcomes if one.scores.get(measure, level) < level]
    limited = sum(one.limited for one in recovered)
    at_limit = f", {limited if limited > 1 else 'one'} of them at its limit" if limited else ""
    solvers = f"{len(recovered)} of {counted(len(outcomes), 'solver')}"
    return f"The {what} is recovered by {solvers}{at_limit}, {words}: {context}."


IMPOSSIBLE, HARD, POSSIBLE = "impossible", "hard", "possible"
"""Regions of a map: no method succeeds, no known polynomial-time method does, and the rest."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """Models that share metrics and figures.

    name: as in `SolverEntry.families`. measures: the metrics, by name. goal: the quantity of maps. signal: its symbol.
    measured(spec): a picture of the first measurements, with the numbers of measurements and unknowns.
    verdict(spec, outcomes): one sentence that compares a run with theory.
    solvers: the initial choice on the page *Run*; its first solver that a model has is the choice on *Phase
    transitions*.
    order, model_order: order of solvers and models on pages; others follow by name.
    ranges: initial ranges of axes and sliders that differ from `models.axes.RANGES`.
    limits: limits on the runs of a first map, ample for a trial that succeeds.
    grows, falls: axes along which the success rate rises, or falls, if all other parameters stay.
    asymptotics(spec): the best of all methods asymptotically, as `limit_best_...`, and of polynomial-time methods, as
    `limit_best_fast_...` if they are known to reach less.
    best(spec): the Bayes-optimal mean over signals at this n and p, as `best_...`, or the bound on unbiased estimates,
    as `bound_...`; empty if unknown. It takes seconds.
    why_no_best(spec): the reason why such a bound is missing, or nothing.
    lines(spec, entry, options, rule): for each theoretical line on a map, whether a spec lies on its good
    side.
    margins(spec, rule): for each limit on all methods, the smooth signed distance of a spec from it (negative: on the
    bad side). POSSIBLE and further lines are asymptotic. IMPOSSIBLE and HARD are negative only if hardly any trial at
    this size succeeds; both are absent if unknown.
    """

    name: str
    measures: Mapping[str, Measure]
    goal: Goal
    solvers: tuple[str, ...]
    measured: Callable[[Any], Measured]
    verdict: Callable[[Any, Sequence[Outcome]], str]
    signal: str = "b"
    order: tuple[str, ...] = ()
    model_order: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    limits: Mapping[str, Value] = field(default_factory=dict)
    grows: tuple[str, ...] = ()
    falls: tuple[str, ...] = ()
    asymptotics: Callable[[Any], dict[str, float]] = nothing_known
    best: Callable[[Any], dict[str, float]] = nothing_known
    why_no_best: Callable[[Any], str] = lambda spec: ""
    lines: Callable[[Any, SolverEntry, Options, Success], dict[str, bool]] = nothing_known
    margins: Callable[[Any, Success], dict[str, float]] = nothing_known


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """A model in the catalog.

    spec: the class of its specs, which has the name, title and summary. family: its metrics and figures.
    main: parameters that *Run* shows first, with a slider each.
    plane: horizontal and vertical axis of its first map. along: axis of its first spectrum, if it has one; along_range:
    the range of that axis, if it differs from `models.axes.first_range`.
    ranges: initial ranges of axes and sliders that differ from the family's ranges.
    held: values on the first map that are not defaults.
    non_monotone: axes along which success may rise and fall, although the family declares one direction.
    first: solvers to recommend ahead of the family's choice if they can be run.
    """

    spec: type[Spec]
    family: Family
    main: tuple[str, ...]
    plane: tuple[str, str]
    along: str = ""
    along_range: Range | None = None
    ranges: Mapping[str, Range] = field(default_factory=dict)
    held: Mapping[str, Value] = field(default_factory=dict)
    non_monotone: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a family by its name, and a spec without words."""
        if not isinstance(self.family, Family):
            raise InputError("family", "a Family", self.family, "give the object, not its name")
        for part in ("model", "title", "summary", "equation"):
            if not getattr(self.spec, part, ""):
                raise InputError("spec", f"a class with a {part}", self.spec, f'add {part} = "..." to the class')
