"""The items that presets compute: runs, quantities of simulated data, searches for the fewest measurements, and fits.

Each series in each panel or column has items at each value of its axis, with its settings.
"""

import math
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.data.dataset import Dataset
from lrlab.data.reading import read
from lrlab.data.recover import job_of
from lrlab.engine import solve
from lrlab.figures.convergence import TIMES
from lrlab.models.axes import axes, place_near
from lrlab.models.multilabel import drawn_pattern, measured, only_observed
from lrlab.parameters import InputError, Value
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.papers import Files
from lrlab.presets.quantities import QUANTITIES
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, TrialResult, run_job, run_trial, trial_spec
from lrlab.runs.trace import Row
from lrlab.sweeps.definition import COUNT, Cell, Span, Sweep
from lrlab.sweeps.toml import make_axis

STEPS = "iteration"
"""Axis of figures that show every iterate."""
CLOSE, QUICK_CLOSE = 1.05, 1.3
"""Ratio of the ends of a finished search for the fewest measurements, in a full and in a reduced run."""
MEASUREMENTS = "measurements"
"""Column with the result of a search."""
COSTS = ("processor", "megabytes")
"""Columns of `cost`."""
MOST_SECONDS = 3600.0
"""Longest run."""
BLOCKS = 20
"""Number of blocks of test samples: the spread of their scores gives the error of a difference between solvers."""


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
        job = make_job(place_near(self.spec, self.along, value), self.solver, **dict(self.settings))
        return run_trial(Trial(job, self.number)).scores.get(self.metric, math.inf) < self.below


@dataclass(frozen=True)
class DatasetFit:
    """A solver on a data set, by default with unscaled features and no intercepts, as in papers.

    share: rank over the number of labels, 0 without a rank. observed: fraction of observed labels. tune_by: metric that
    chooses regularization and iterations on held-out samples. unit_rows: whether samples have norm 1 and labels have
    intercepts. trial: seed of split, observed labels and solver.
    """

    data: str
    files: Files
    solver: str
    share: float
    observed: float
    iterations: int
    tune_by: str
    unit_rows: bool = False
    settings: tuple[tuple[str, Value], ...] = ()
    trial: int = 0


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
    spec: Any = place_near(search.spec, search.along, high)
    return float(spec.measurements or spec.values()[search.along])


def cost(trial: Trial) -> list[dict[str, float]]:
    """Return the processor seconds of a trial's solver, and the peak memory of a second run in megabytes.

    The seconds exclude the simulation of the data; the memory includes the data.
    """
    seconds = run_trial(trial).seconds
    tracemalloc.start()
    try:
        run_job(trial.seeded, scored=())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return [{"trial": trial.number, "processor": seconds, "megabytes": peak / 1e6}]


def fit_dataset(task: DatasetFit) -> dict[str, Any]:
    """Return the test scores of the tuned solver, its regularization, and the seconds of the last fit.

    The rank is at most the number of features. refused: the solver's sentence if it rejects the data, or "". trace: the
    scores after each iteration. blocks: the final scores on each of BLOCKS blocks of the test samples.
    """
    about = {name: getattr(task, name) for name in ("data", "solver", "share", "observed", "trial")}
    try:
        train, test, labels = task.files
        training = read(train, labels, beside=test)
        fresh = read(test, labels, like=training)
        if task.unit_rows:
            # Importing scikit-learn takes a second, which pages do not need.
            from sklearn.preprocessing import normalize

            training, fresh = (replace(data, X=normalize(data.X)) for data in (training, fresh))
        about["rank"] = min(training.d, max(1, round(task.share * training.L))) if task.share else 0
        job = job_of(
            (hide(training, task.observed, task.trial), fresh),
            solver=task.solver,
            tune_by=task.tune_by,
            max_iter=task.iterations,
            max_seconds=MOST_SECONDS,
            intercept=task.unit_rows,
            scaling="none",
            seed=task.trial,
            **({"rank": about["rank"]} if about["rank"] else {}),
            **dict[str, Any](task.settings),
        )
    except InputError as error:
        return {**about, "regularization": None, "refused": str(error), "trace": []}
    trace = solve.run(job, worker=False)
    scored, weight = [named(row) for row in trace.rows], dict(job.options).get("regularization")
    own = {**about, "regularization": weight, "refused": "", "trace": scored}
    if not scored:
        return own
    problem: Any = job.spec.build()
    estimate: Any = trace.estimate
    X, Y = problem.X_test, problem.Y_test
    parts = [part for part in np.array_split(np.arange(X.shape[0]), BLOCKS) if len(part)]
    return {**own, **scored[-1], "blocks": [named(measured(estimate, X[part], Y[part])) for part in parts]}


def named(row: Row) -> Row:
    """Return scores by their names in papers: precision in percent, the others as fractions."""
    return {
        name.replace("_", "@") if name[-1].isdigit() else name: 100.0 * value if "precision" in name else value
        for name, value in row.items()
        if name not in ("objective", "residual")
    }


def hide(data: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the rows with a random fraction of their known labels."""
    if fraction == 1:
        return data
    drawn = drawn_pattern(np.random.default_rng(seed), data.Y.shape, fraction)
    known = drawn if data.observed is None else csr_array(drawn.multiply(data.observed))
    return replace(data, Y=only_observed(data.Y, known), observed=known)


class Placed(NamedTuple):
    """A series in a panel, both as in the file; the panel has also the keys of the figure.

    axis, values: the axis with its values. spec: without the axis. settings: of the solver.
    """

    panel: Toml
    series: Toml
    axis: str
    values: Sequence[Any]
    spec: Spec
    settings: Mapping[str, Any]

    @property
    def below(self) -> float | None:
        """The level of success of a series that shows a fraction of runs, otherwise None."""
        return None if "fewest" in self.series else self.series.get("below")

    @property
    def varies_spec(self) -> bool:
        """Whether the axis is a parameter of the spec; other axes are the iteration, and places of a quantity."""
        return self.axis in axes(type(self.spec)) or (self.axis != STEPS and "quantity" not in self.series)

    def at(self, value: Any) -> Spec:
        """Return the spec at a value of the axis, rounded for a parameter of whole numbers."""
        return place_near(self.spec, self.axis, value) if self.varies_spec else self.spec


def iterates(preset: Preset) -> bool:
    """Return whether the figure shows every iterate."""
    figure = preset.content["figure"]
    return bool(figure.get("steps")) or figure.get("against") in TIMES


def placed_in(preset: Preset) -> list[Placed]:
    """Return all pairs of a panel and a series in it."""
    placed = []
    for panel, series in product(preset.panels, preset.series):
        if series["label"] not in panel.get("only", panel.get("ratio", [series["label"]])):
            continue
        look, spec = {**preset.content["figure"], **panel}, preset.spec(panel, series)
        look |= {"against": series["against"]} if "against" in series else {}
        axis, values = (STEPS, [0.0]) if iterates(preset) else axis_of(preset, series if "axes" in series else panel)
        placed.append(Placed(look, series, axis, values, spec, settings_of(preset, panel, series)))
    return placed


def items_of(preset: Preset, one: Placed, trials: int | None) -> Iterator[tuple[dict[str, Any], int, Item | str]]:
    """Yield the items of a series after labels and numbers of their rows, or why a solver rejects a value."""
    own, series = {"panel": one.panel["title"], "series": one.series["label"]}, one.series
    if "quantity" in series or "fewest" in series:
        for value, count in zip(one.values, counts(preset, one.panel, len(one.values), trials), strict=True):
            labels = {**own, one.axis: value}
            yield from ((labels, number, _drawing(preset, one, value, number)) for number in range(count))
        return
    if one.axis == STEPS:
        cells: Sequence[Cell] = [Cell({}, "", make_job(one.spec, series["solver"], **one.settings))]
    else:
        axes, solver = ((one.axis, tuple(one.values)),), (series["solver"],)
        cells = Sweep(spec=one.spec, axes=axes, solvers=solver, settings=tuple(one.settings.items())).cells
    for cell, count in zip(cells, counts(preset, one.panel, len(cells), trials), strict=True):
        labels = own | dict(cell.axes)
        if cell.job is None:
            yield {**labels, "solver": cell.solver}, 0, cell.refused
            continue
        yield from ((labels, number, Trial(cell.job, number)) for number in range(count))


def _drawing(preset: Preset, one: Placed, value: float, number: int) -> Drawing | Search:
    """Return the quantity or the search of a series at a value of its axis."""
    series, spec = one.series, one.at(value)
    if "quantity" in series:
        return Drawing(spec, series["quantity"], number, None if one.varies_spec else value)
    along, first, last = (series["fewest"][key] for key in ("along", "from", "to"))
    settings = tuple(one.settings.items())
    close = QUICK_CLOSE if preset.quick else CLOSE
    metric, below = one.panel["metric"], series["below"]
    return Search(spec, series["solver"], settings, metric, below, along, first, last, number, close)


def settings_of(preset: Preset, panel: Toml, series: Toml) -> dict[str, Any]:
    """Return the settings of a series in a panel or column."""
    special = panel.get("settings", {}).get(series["label"], {})
    return {**preset.content.get("settings", {}), **series.get("settings", {}), **special}


def axis_of(preset: Preset, panel: Toml) -> tuple[str, Sequence[Any]]:
    """Return the axis of a panel, or else of the file, with its values."""
    ((axis, values),) = panel.get("axes", preset.content.get("axes", {})).items()
    given = make_axis(values)
    return axis, given.values(axis) if isinstance(given, Span) else given


def counts(preset: Preset, panel: Toml, count: int, trials: int | None) -> list[int]:
    """Return the number of trials per value in a panel or column."""
    given = panel.get("trials", preset.content["trials"])
    numbers = given if isinstance(given, list) else [given] * count
    return [int(COUNT.check(trials or number)) for number in numbers]
