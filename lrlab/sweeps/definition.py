"""The definition of a sweep: spec, axes, solvers, trials, rule of success, and its cells."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import islice, product
from typing import Annotated, Any, NamedTuple

import numpy as np

from lrlab import catalog
from lrlab.aliases import VALUES
from lrlab.catalog import family
from lrlab.model_entry import Success
from lrlab.models.axes import ZERO_ALLOWED, axes, derived, is_whole, place, place_near
from lrlab.parameters import InputError, Parameter, Value, declared, require_known
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec
from lrlab.runs.job import Job, job_maker, memory_limit, require_spec

STEPS = Parameter(name="steps", kind=int, default=10, meaning="values of an axis", low=1, high=10_000)
LARGEST = 1e100
MOST_CELLS = 50_000
"""Largest number of grid points, over all solvers. lrlab checks each before the first trial, in about 5 s in total."""
SHARE = 0.3
"""Default budget of an adaptive sweep, as a fraction of the trials of the whole grid."""


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
            raise InputError(
                axis, "a range with two different ends", self.low, "take another end, or a list of one value"
            )
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


def first_look(values: int) -> int:
    """Return how many values of an axis an adaptive sweep takes at first: about the square root of their number."""
    return min(values, math.ceil(math.sqrt(values)) + 1)


Given = tuple[float, ...] | Span
"""The values of an axis: all of them, or a range."""


class Cell(NamedTuple):
    """A solver at a point of the grid: its job, with the sweep's seed, or the reason why lrlab refuses it."""

    axes: Mapping[str, float]
    solver: str
    job: Job | None
    refused: str = ""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep, checked.

    spec: the parameters of all cells, with the seed. axes: one or two, by name, with their values or a `Span`; pairs or
    a mapping, kept as pairs. solvers: a sequence of names or of your solvers, kept as names. settings: options of the
    solvers, tol, max_iter, max_seconds, as pairs or a mapping; each goes to every solver that has it. success: by
    default the rule of the model, if it has one. adaptive: trials go to the contour, until it is known within
    `tolerance` cells or `budget` trials are used (0: 30% of all trials); see the module `adaptive`. race: trials go to
    solvers that may be the best at their grid point; see the module `winners`.
    """

    spec: Spec
    axes: Any
    solvers: Any
    trials: Annotated[int, Parameter(meaning="trials of each grid point", low=1, high=1_000_000)] = 20
    success: Success | None = None
    settings: Any = ()
    adaptive: bool = False
    tolerance: Annotated[int, Parameter(meaning="precision of the contour, in grid points", low=1, high=100)] = 1
    budget: Annotated[int, Parameter(meaning="trials of an adaptive sweep, at most", low=0, high=10**9)] = 0
    race: bool = False

    def __post_init__(self) -> None:
        """Bring everything into its form and check it."""
        require_spec(self.spec)
        # Pairs may name an axis twice, which a dictionary would hide.
        pairs = tuple(self.axes.items() if isinstance(self.axes, Mapping) else self.axes or ())
        if not all(isinstance(pair, Sequence) and len(pair) == 2 for pair in pairs):
            raise InputError("axes", "names with their values", self.axes, 'write for example {"n": [100, 200]}')
        object.__setattr__(self, "axes", tuple((name, _given(name, given)) for name, given in pairs))
        object.__setattr__(self, "solvers", _names(self.solvers, self.spec.model))
        object.__setattr__(self, "settings", tuple(sorted(dict(self.settings).items())))
        for parameter in declared(Sweep).values():
            object.__setattr__(self, parameter.name, parameter.check(getattr(self, parameter.name)))
        # Before lrlab enumerates the grid: two axes of 10,000 values have 10^8 grid points.
        lengths = [given.steps if isinstance(given, Span) else len(given) for _, given in self.axes]
        if (cells := math.prod(lengths) * len(self.solvers)) > MOST_CELLS:
            raise InputError(
                "axes", f"at most {MOST_CELLS:,} grid points, over all solvers", cells, "take fewer values"
            )
        if not 1 <= len(self.grid) <= 2:
            raise InputError("axes", "one or two axes", ", ".join(self.grid) or "none", "keep one or two of them")
        if len(set(self.decided)) < len(self.decided):
            got = " and ".join(self.grid)
            raise InputError("axes", f"different quantities (both decide {self.decided[0]})", got, "keep one of them")
        self._check_settings()
        if self.success is None:
            object.__setattr__(self, "success", usual_success(self.spec, self.grid))
        else:
            metric = VALUES.get(self.success.metric, self.success.metric)
            object.__setattr__(self, "success", replace(self.success, metric=metric))
            require_known(metric, tuple(family(self.spec.model).measures), what="metric")
        self._check_adaptive()

    @cached_property
    def grid(self) -> Mapping[str, tuple[float, ...]]:
        """The values of each axis; of a `Span` on whole numbers, those next to it."""
        return {name: _values(type(self.spec), name, given) for name, given in self.axes}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, solver by solver within each point of the grid; InputError if lrlab refuses every cell."""
        return _cells(self, memory_limit())

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs of the cells that are not refused: points that round to the same problem share one."""
        return tuple(dict.fromkeys(cell.job for cell in self.cells if cell.job))

    @property
    def decided(self) -> tuple[str, ...]:
        """The parameter of the spec that each axis decides."""
        quantities = ((name, derived(type(self.spec), name)) for name, _ in self.axes)
        return tuple(name if quantity is None else quantity.decides for name, quantity in quantities)

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of its solvers, by name."""
        return {name: catalog.solver(name, self.spec.model).title for name in self.solvers}

    @property
    def total(self) -> int:
        """Number of trials in all cells."""
        return math.prod(map(len, self.grid.values())) * len(self.solvers) * self.trials

    @property
    def most(self) -> int:
        """Number of trials at most: of an adaptive sweep its budget, which is enough for a first look at least."""
        if not self.adaptive:
            return self.total
        look = len(self.solvers) * math.prod(first_look(len(values)) for values in self.grid.values())
        return min(self.total, max(look, self.budget or int(SHARE * self.total)))

    @property
    def contour(self) -> Success:
        """The rule of the 50% contour: `success`, or the model's goal if a mean is shown."""
        return self.success or family(self.spec.model).goal.rule()

    def settings_of(self, solver: str) -> dict[str, Value]:
        """Return the settings that a solver knows."""
        known = catalog.solver(solver, self.spec.model).settings
        return {name: value for name, value in self.settings if name in known}

    def _check_adaptive(self) -> None:
        for name in ("adaptive", "race"):
            if not isinstance(given := getattr(self, name), bool):
                raise InputError(name, "true or false", given, f"write {name} = true, or leave it out")
        if self.race and (self.adaptive or len(self.solvers) < 2 or len(self.grid) < 2):
            raise InputError(
                "race", "false, or of several solvers over two axes that are not adaptive", True, "leave it out"
            )
        for parameter in (TOLERANCE, BUDGET):
            if not self.adaptive and (value := getattr(self, parameter.name)) != parameter.default:
                raise InputError(parameter.name, "left out if adaptive is false", value, "set adaptive = true")

    def _check_settings(self) -> None:
        entries = [catalog.solver(name, self.spec.model) for name in self.solvers]
        for name, value in self.settings:
            if not any(name in self.settings_of(entry.name) for entry in entries):
                # InputError: it is none of its settings.
                entries[0].settle({name: value})
        for entry in entries:
            entry.settle(self.settings_of(entry.name))


COUNT, TOLERANCE, BUDGET = declared(Sweep).values()


def usual_success(spec: Spec, grid: Mapping[str, Sequence[float]]) -> Success | None:
    """Return the rule of success of a model, with the level of the largest noise on a grid; None if it shows a mean."""
    goal = family(spec.model).goal
    if goal.below is None:
        return None
    own = noise = float(getattr(spec, "noise", 0.0))
    for axis, values in grid.items() if goal.noises else ():
        along = set[float]()
        for value in values:
            # A refused grid point says so in its own cell.
            with suppress(InputError):
                along.add(float(place(spec, axis, value).noise))  # type: ignore[attr-defined]
        noise = noise if along <= {own} else max(along)
    return goal.rule(noise)


def _names(solvers: Sequence[AnySolver], model: str) -> tuple[str, ...]:
    listed = isinstance(solvers, Sequence) and not isinstance(solvers, str)
    names = tuple(catalog.named(one, model) for one in solvers) if listed else ()
    if not names or len(set(names)) < len(names):
        got = ", ".join(names) or ("an empty list" if listed else solvers)
        raise InputError("solvers", "a list of different solvers", got, "name each solver once")
    return names


def _given(axis: str, given: object) -> Given:
    if isinstance(given, Span):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(axis, "a list of numbers, or a range", given, "write for example [1, 2, 4]")
    return tuple(islice(given, MOST_CELLS + 1))


def _values(model: type[Spec], axis: str, given: Given) -> tuple[float, ...]:
    require_known(axis, axes(model), what="axis")
    values = given.values(axis) if isinstance(given, Span) else list(given)
    parameter = declared(model).get(axis) if derived(model, axis) is None else None
    if isinstance(given, Span) and is_whole(model, axis):
        values = list(dict.fromkeys(map(round, values)))
    smallest = 0.0 if axis in ZERO_ALLOWED else float(np.finfo(float).tiny)
    quantity = Parameter(name=axis, default=1.0, meaning="a derived quantity", low=smallest)
    checked = tuple((parameter or quantity).check(value) for value in values)
    if not checked or len(set(checked)) < len(checked):
        got = ", ".join(f"{value:g}" for value in checked) or "an empty list"
        raise InputError(axis, "a list of different numbers", got, "give each value once")
    return checked  # type: ignore[return-value]


# A page makes equal sweeps again and again; the refused cells depend on the memory that a job may use.
@lru_cache(maxsize=4)
def _cells(sweep: Sweep, memory_limit: int) -> tuple[Cell, ...]:
    makers = {solver: job_maker(sweep.spec, solver, **sweep.settings_of(solver)) for solver in sweep.solvers}
    # All solvers of a grid point share its spec.
    cells, at = list[Cell](), lru_cache(maxsize=1)(partial(spec_at, sweep.spec))
    for values, (solver, make) in product(product(*sweep.grid.values()), makers.items()):
        point = dict(zip(sweep.grid, values, strict=True))
        try:
            cells.append(Cell(point, solver, make(at(tuple(point.items())))))
        except InputError as error:
            cells.append(Cell(point, solver, None, str(error)))
    if not any(cell.job for cell in cells):
        raise InputError("axes", "such that a solver accepts some grid point", "none", cells[0].refused)
    return tuple(cells)


def spec_at(spec: Spec, point: Iterable[tuple[str, float]]) -> Spec:
    """Return the spec moved to a point: (axis, value) pairs, rounded on axes of whole numbers."""
    # Quantities that decide a parameter (n/p decides n) depend on the others, and s/n on n/p, too.
    for axis, value in sorted(point, key=lambda pair: (pair[0] not in spec.values(), pair[0] == "sparsity-ratio")):
        spec = place_near(spec, axis, value)
    return spec
