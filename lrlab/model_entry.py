"""What the lab knows about a model and its family, beside the code that draws the data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from lrlab.arrays import Array
from lrlab.parameters import Value, declared, display_name
from lrlab.protocol import Spec
from lrlab.solver_entry import Options, SolverEntry, nothing_known

Range = tuple[float, float, str]
"""First and last value of an axis, and their spacing: linear or log."""


class Measure(NamedTuple):
    """A score for people: its axis title and its meaning.

    common: whether all models of the family have it. constant: whether it belongs to the problem, not to an iterate.
    quotient: the score and the bound of all methods (`Family.best`) of which it is the quotient; none for a score.
    rising: whether larger values are better.
    """

    title: str
    meaning: str
    common: bool = True
    constant: bool = False
    quotient: tuple[str, str] = ("", "")
    rising: bool = False


COMMON_MEASURES: Mapping[str, Measure] = {
    "objective": Measure("objective of the solver", "what the solver itself minimises; not comparable between solvers"),
    "residual": Measure("relative residual", "distance from a fixed point or from optimality: a run stops at tol"),
}
"""The numbers that solvers report themselves, on every model."""


MOST_LEVEL = 0.5
"""Largest level below which noisy trials succeed: an error of 1 is that of an estimate of 0."""


@dataclass(frozen=True)
class Goal:
    """What a map shows: the mean of a measure, or, with a level `below`, the share of trials that end below it.

    A mean has its contour where half of the trials have a measure `above` a level. noises: standard deviations of the
    noise that a level `below` amounts to at least, since no estimate is more accurate than its data.
    """

    measure: str
    below: float | None = None
    above: float | None = None
    noises: float = 0.0

    def level(self, noise: float) -> float | None:
        """Return the level in data with noise of such a standard deviation; None if there is none."""
        if self.below is None:
            return self.above
        return max(self.below, min(MOST_LEVEL, self.noises * noise))


class Level(NamedTuple):
    """A rule: a measure above a level, or below it."""

    measure: str
    value: float
    below: bool = False

    @property
    def words(self) -> str:
        """The level as the name of a line."""
        return f"{display_name(self.measure)} = {self.value:g}"


class Panel(NamedTuple):
    """A picture of numbers (rows, columns), nan where there is none.

    scale: "signed" numbers, "bits" -1 and 1, "labels" 0 and 1, or "sizes" from 0. place: beside or above the others.
    """

    title: str
    values: Array
    scale: Literal["signed", "bits", "labels", "sizes"] = "signed"
    place: Literal["main", "left", "top"] = "main"


class Measured(NamedTuple):
    """What is measured: `words` compare measurements with unknowns, `panels` show the first measurements."""

    words: str
    panels: Sequence[Panel] = ()


class Outcome(NamedTuple):
    """What came of a solver so far: its newest scores, none before the first, and what theory predicts.

    limited: whether a limit of iterations or time ended it.
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
        """After how many iterations of which solver, as words."""
        return f"after {self.iterations} iteration{'s' if self.iterations != 1 else ''} ({self.title})"


def recovery(outcomes: Sequence[Outcome], what: str, measure: str, level: float, beside: str) -> str:
    """Return how many solvers end with a measure below a level, and the least error, beside other words."""
    scored = [one for one in outcomes if "error" in one.scores]
    if not scored:
        return f"{beside}."
    best = min(scored, key=lambda one: one.scores["error"])
    words = f"error {best.scores['error']:.2g} {best.course}"
    if not all(one.over for one in outcomes):
        return f"Running, {words}: {beside}."
    recovered = [one for one in scored if one.scores[measure] < level]
    limited = sum(one.limited for one in recovered)
    at_limit = f", {limited if limited > 1 else 'one'} of them at its limit" if limited else ""
    return f"The {what} is recovered by {len(recovered)} of {len(outcomes)} solvers{at_limit}, {words}: {beside}."


IMPOSSIBLE, HARD, POSSIBLE = "impossible", "hard", "possible"
"""What no method can do, what no known fast method can, and the rest."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """Models that are scored and drawn alike.

    name: as in `SolverEntry.families`. measures: the scores, by name. goal: what a map shows. signal: its symbol.
    measured(spec): pictures of the first measurements, and how many there are for how many unknowns.
    verdict(spec, outcomes): one sentence on a run: scores beside theory, and where the measurements stand.
    solvers_of: other families whose solvers are made for its models, too: its problems offer the same data.
    solvers: chosen at first on the page *Run*; the first of them that a model has on *Phase transitions*.
    order: solvers in the order of pages; those that are not listed follow by name. model_order: models alike.
    ranges: first ranges of axes and sliders where they differ from `AXIS_RANGES`.
    limits: limits of the runs of a first map, ample for a trial that succeeds.
    grows, falls: axes along which success becomes more, or less, frequent while all other parameters stay.
    asymptotics(spec): what no method can exceed in the limit of large problems, as `limit_best_...` numbers, and where
    no fast method is known to reach it, what these reach, as `limit_best_fast_...`.
    best(spec): what no method exceeds on average over signals in problems of this very size, as `best_...` numbers, or
    no estimate without bias, as `bound_...`; computed in seconds; empty where that is not known.
    why_no_best(spec): the reason where there is no such bound, or nothing.
    lines(spec, entry, options, level): for each line that theory draws through a map whose contour is at a level,
    whether a spec lies on its good side.
    margins(spec, level): for each limit of all methods at a level, how far a spec lies on its good side, on a scale on
    which it changes smoothly (negative: on the other side): POSSIBLE and further lines are asymptotic; IMPOSSIBLE and
    HARD are negative only if hardly any trial at this size is on the good side, and both are left out if unknown.
    """

    name: str
    measures: Mapping[str, Measure]
    goal: Goal
    solvers: tuple[str, ...]
    measured: Callable[[Any], Measured]
    verdict: Callable[[Any, Sequence[Outcome]], str]
    signal: str = "b"
    solvers_of: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    model_order: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    limits: Mapping[str, Value] = field(default_factory=dict)
    grows: tuple[str, ...] = ()
    falls: tuple[str, ...] = ()
    asymptotics: Callable[[Any], dict[str, float]] = nothing_known
    best: Callable[[Any], dict[str, float]] = nothing_known
    why_no_best: Callable[[Any], str] = lambda spec: ""
    lines: Callable[[Any, SolverEntry, Options, Level], dict[str, bool]] = nothing_known
    margins: Callable[[Any, Level], dict[str, float]] = nothing_known


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """A model on the catalogue.

    spec: the class of its specs, which has the name, title and summary. family: how it is scored and drawn.
    main: names of the parameters that come first on *Run*, with a slider each.
    plane: axes of its first map, across and upwards. along: axis of its first spectrum, where it has one, and
    along_range its first range, where that differs from `first_range`.
    measures: names of its family's scores that are not common to all models of the family.
    ranges: first ranges of axes and sliders where they differ from those of the family.
    held: values of the first map that are not defaults.
    turns: axes along which success may grow and fall, though the family declares one of them.
    """

    spec: type[Spec]
    family: Family
    main: tuple[str, ...]
    plane: tuple[str, str]
    along: str = ""
    along_range: Range | None = None
    measures: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    held: Mapping[str, Value] = field(default_factory=dict)
    turns: tuple[str, ...] = ()

    def first_range(self, axis: str) -> Range:
        """Return the first range of an axis: of the model, its family, any model, or the bounds of the parameter."""
        known = {**AXIS_RANGES, **self.family.ranges, **self.ranges}
        if axis in known:
            return known[axis]
        parameter = declared(self.spec)[axis]
        return parameter.low, parameter.high, parameter.scale if parameter.low > 0 else "linear"


AXIS_RANGES: Mapping[str, Range] = {
    "n": (500.0, 8000.0, "log"),
    "p": (10.0, 200.0, "log"),
    "sparsity": (1.0, 20.0, "linear"),
    "noise": (0.0, 1.5, "linear"),
    "variance": (0.0, 1.5, "linear"),
    "flip": (0.0, 0.3, "linear"),
    "intercept": (-2.0, 2.0, "linear"),
    "threshold": (0.1, 2.0, "linear"),
    "ratio": (2.0, 200.0, "log"),
    "dense-rate": (0.02, 0.3, "linear"),
    "sparse-rate": (0.05, 0.5, "linear"),
    "m": (200.0, 2000.0, "log"),
    "masks": (1.0, 16.0, "linear"),
    "photons": (0.0, 10_000.0, "linear"),
    "side": (16.0, 256.0, "log"),
    "d1": (10.0, 100.0, "linear"),
    "d2": (10.0, 100.0, "linear"),
    "rank": (1.0, 10.0, "linear"),
    "assumed_rank": (1.0, 10.0, "linear"),
    "r": (1.0, 8.0, "linear"),
    "condition": (1.0, 1000.0, "log"),
    "observed": (0.001, 0.1, "log"),
    "missing": (0.5, 0.99, "linear"),
    "per-freedom": (1.0, 4.0, "linear"),
    "n1": (50.0, 500.0, "log"),
    "n2": (50.0, 500.0, "log"),
    "d": (5.0, 40.0, "linear"),
    "labels": (10.0, 100.0, "linear"),
}
"""First ranges of axes, on any model that has the axis; others take the bounds of their parameter."""
