"""Figures of a sweep: lines with bands along one axis, maps over two, and their tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from lrlab.catalog import family
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.convergence import LIMITS, prediction
from lrlab.figures.ends import name_ends
from lrlab.figures.recovery import Recovery
from lrlab.figures.runs import styles
from lrlab.figures.series import series
from lrlab.figures.transition import Scale, Score, transition
from lrlab.model_entry import Measure
from lrlab.models import axes
from lrlab.parameters import display_name, require_known
from lrlab.runs import theory as finite_size
from lrlab.sweeps import theory
from lrlab.sweeps.adaptive import infer
from lrlab.sweeps.definition import Sweep, spacing
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.tables import midpoint_words, midpoints, results_of
from lrlab.sweeps.theory import Region

SHARE = "share"
"""Choice of a sweep's values: this share of successes, or a metric."""
EFFORT = {
    "iterations": Measure("iterations", "iterations until the run ended"),
    "seconds": Measure("solver time (s)", "processor time of the solver"),
}
"""The metrics of trials that no problem scores."""

BOUNDED = ("overlap", "support", "coverage", "precision_1", "precision_3", "precision_5", "hamming", "auc")
"""Scores that lie between 0 and 1."""
ERRORS = ("error", "misfit")
"""Words in the names of scores that have a logarithmic axis."""
WIDE = 100.0
"""Ratio of the largest to the smallest value above which the axis of any other score is logarithmic."""
MEANS = ("coverage",)
"""Fractions of a trial's entries, shown by their mean as in claims; of few entries a median would be coarse."""

T = TypeVar("T")


class SweepData:
    """Tables, lines and inferred cells of the results of a sweep."""

    def __init__(self, results: SweepResults) -> None:
        self.results, self.sweep = results, results.sweep
        self._memory: dict[str, Any] = {}

    def once(self, name: str, source: object, make: Callable[[], T]) -> T:
        """Return `make()`, called again if its source has changed: the number of trials or of theory's numbers."""
        if self._memory.get(name, (None,))[0] != source:
            self._memory[name] = (source, make())
        made: T = self._memory[name][1]
        return made

    def metric(self, show: str) -> str:
        """Return the metric behind a choice."""
        return self.sweep.contour.metric if show == SHARE else show

    def table(self, show: str) -> pd.DataFrame:
        """Return a row per cell, see `SweepResults.table`."""
        metric = self.metric(show)
        share = metrics(self.sweep)[metric].quotient[0] if show != SHARE else ""
        unknown = len(finite_size.not_cached(job.spec for job in self.sweep.jobs)) if share else 0
        return self.once(f"{metric} {unknown}", self.results.changes, lambda: self.results.table(metric))

    def cells(self, show: str) -> pd.DataFrame:
        """Return the cells in the columns of maps; an adaptive sweep infers values of points without trials."""
        x, y = self.sweep.grid
        value = "share" if show == SHARE else "mean"
        cells = self.table(show).rename(columns={x: "x", y: "y", value: "value"}).assign(inferred=False)
        if show != SHARE:
            cells["successes"] = np.nan
        if not self.sweep.adaptive or show != first_shown(self.sweep):
            return cells
        picture = self.once("picture", self.results.changes, lambda: infer(self.results, self.table(show)))
        merged = cells[["x", "y", "solver"]].merge(picture, on=["x", "y", "solver"], how="left")
        inferred = merged["inferred"].fillna(False).to_numpy(dtype=bool)
        cells.loc[inferred, "value"] = merged["mean"].to_numpy()[inferred]
        return cells.assign(inferred=inferred)

    @cached_property
    def scales(self) -> list[Scale]:
        """The scales of the axes."""
        model, grid = type(self.sweep.spec), self.sweep.grid
        titles, names = axes.axes(model), axes.short_names(model)
        return [
            Scale(titles[name], sorted(float(value) for value in grid[name]), spacing(given), names[name])
            for name, given in self.sweep.axes
        ]

    def theory(self, show: str) -> tuple[pd.DataFrame, Sequence[Region]]:
        """Return the lines and the regions of theory over the plane of two axes; show: the choice of the map."""
        lines, regions = self._asymptotic
        if show not in (SHARE, self.sweep.contour.metric):
            return lines, regions
        half = show == SHARE
        name = f"contours of {'medians' if half else 'means'}"
        contours = self.once(name, finite_size.n_cached(), lambda: theory.contours(self.sweep, half=half))
        return pd.concat([contours, lines]) if len(contours) else lines, regions

    @cached_property
    def _asymptotic(self) -> tuple[pd.DataFrame, Sequence[Region]]:
        limits = theory.regions(self.sweep)
        points = [(name, *point) for name, several in limits.lines.items() for point in several]
        lines = pd.concat([theory.lines(self.sweep), pd.DataFrame(points, columns=["line", "x", "y"])])
        return lines, limits.regions


def metrics(sweep: Sweep) -> Mapping[str, Measure]:
    """Return the metrics of a sweep's trials, by name."""
    return {**family(sweep.spec.model).measures, **EFFORT}


def first_shown(sweep: Sweep) -> str:
    """Return the first choice of a sweep: the success rate if it has one, or else a metric."""
    return SHARE if sweep.success else sweep.contour.metric


def title_of(sweep: Sweep, show: str) -> str:
    """Return the title of a figure's values."""
    if show != SHARE:
        return f"mean {display_name(show)}"
    rule = sweep.contour
    return f"success rate ({display_name(rule.metric)} {'>' if rule.below is None else '<'} {rule.level:g})"


class View(NamedTuple):
    """The choices about a figure. show: a score, or "share" of successes; apart: one map per solver."""

    show: str
    apart: bool
    theory: bool


def maps(data: SweepData, view: View, columns: int = 3) -> Figure:
    """Return the maps of a sweep; one per solver in so many columns, or together."""
    sweep, cells, (x, y) = data.sweep, data.cells(view.show), data.scales
    lines, regions = data.theory(view.show) if view.theory else (None, ())
    several = {title: cells[cells["solver"] == solver] for solver, title in sweep.titles.items()}
    score = score_of(sweep, view.show)
    look: dict[str, Any] = {"columns": columns * view.apart, "looks": looks(sweep)}
    return transition(several, x, y, score, lines=lines, regions=regions, **look)


def looks(sweep: Sweep) -> dict[str, Recovery]:
    """Return the styles of the solvers of a sweep, by their titles."""
    return {look.title: look for look in styles(sweep.spec.model, sweep.titles).values()}


def score_of(sweep: Sweep, show: str) -> Score:
    """Return the score that is shown of a sweep, with its colors and its contour."""
    low, high = (0.0, 1.0) if show in (SHARE, *BOUNDED) else (None, None)
    if show == SHARE:
        return Score(title_of(sweep, show), low, high)
    rule = sweep.contour
    level = rule.level if show == rule.metric else None
    name = f"mean {display_name(show)} = {rule.level:g}"
    return Score(title_of(sweep, show), low, high, level, name, theme.SCORES)


class Lines(NamedTuple):
    """The figure of a sweep along one axis; its title and points; the limits in it; its message, as a sentence.

    own_limit: whether it shows a limit of a solver.
    """

    figure: Figure
    title: str
    points: pd.DataFrame
    limits: pd.DataFrame | None
    said: str
    own_limit: bool


def lines(data: SweepData, view: View) -> Lines:
    """Return the figure of a sweep along one axis."""
    sweep, [x], show, titles = data.sweep, data.scales, view.show, data.sweep.titles
    measure = metrics(sweep).get(show)
    points = _points(sweep, data.table(show), show).replace({"series": titles})
    halves = midpoints(sweep, data.table(show)) if show == SHARE else None
    average = "mean" if show in MEANS else "median"
    title = title_of(sweep, SHARE) if measure is None else f"{average} {measure.title}"
    predicted, limits, known = None, None, finite_size.n_cached()
    if view.theory:
        limits = data.once(f"limits {show}", known, lambda: _limits(sweep, show))
    if view.theory and show != SHARE:
        predicted = data.once(f"theory {show}", known, lambda: _theory(sweep, show))
    # Shares of a limit are read from 0 to 1 and a little above, as trials of finite size go beyond it by chance.
    quotient = measure is not None and bool(measure.quotient[0])
    figure = series(
        points,
        axis_title=x.title,
        value_title=title,
        log_x=x.spacing == "log",
        log_y=_log(points, show, quotient),
        bands=True,
        theory=predicted,
        limits=limits,
        looks=looks(sweep),
    )
    ends = x.edges[[0, -1]]
    figure.update_xaxes(range=list(np.log10(ends) if x.spacing == "log" else ends))
    if show in (SHARE, *BOUNDED):
        figure.update_yaxes(range=[-0.02, 1.02])
    name_ends(figure, list(titles.values()))
    said = [] if halves is None else midpoint_words(sweep, halves)
    said += _constant(points, x.title.rpartition(", ")[2]) if show == SHARE else []
    own = predicted is not None and bool((predicted["kind"] == "limit").any())
    return Lines(figure, title, points, limits, " ".join(said or _ends(points)), own)


def _constant(points: pd.DataFrame, along: str) -> list[str]:
    """Return which series succeed always, and which never, as sentences."""
    series = [(str(name), rows["y"]) for name, rows in points.groupby("series", sort=False)]
    ends = ((1.0, f"all trials succeed at every {along}"), (0.0, f"no trial succeeds at any {along}"))
    named = [(", ".join(name for name, y in series if (y == end).all()), words) for end, words in ends]
    return [f"{names}: {words}." for names, words in named if names]


def _ends(points: pd.DataFrame) -> list[str]:
    """Return how each series begins and ends, as sentences."""
    words = []
    for name, rows in points.groupby("series", sort=False):
        ends = dict.fromkeys(f"{y:.2g} at {x:.4g}" for x, y in rows[["x", "y"]].iloc[[0, -1]].to_numpy())
        words.append(f"{name}: {', '.join(ends)}.")
    return words


def _points(sweep: Sweep, table: pd.DataFrame, show: str) -> pd.DataFrame:
    [axis] = sweep.grid
    value, low, high = ("share", "low", "high") if show == SHARE else ("median", "lower_quartile", "upper_quartile")
    if show in MEANS:
        error = 1.96 * table["spread"] / np.sqrt(table["trials"].where(table["trials"] > 0))
        table = table.assign(low=table["mean"] - error, high=table["mean"] + error)
        value, low, high = "mean", "low", "high"
    columns = {"solver": "series", axis: "x", value: "y", low: "low", high: "high"}
    points = table[["solver", axis, value, low, high, "trials"]].rename(columns=columns)
    known = points[points["y"].notna()].sort_values(["x"], kind="stable")
    return known.astype(dict.fromkeys(("y", "low", "high"), float))


def _log(points: pd.DataFrame, show: str, quotient: bool) -> bool:
    if show in (SHARE, *BOUNDED) or quotient or points.empty:
        return False
    smallest, largest = points[["y", "low"]].min().min(), points[["y", "high"]].max().max()
    return bool(smallest > 0 and (largest / smallest > WIDE or any(word in show for word in ERRORS)))


def _theory(sweep: Sweep, show: str) -> pd.DataFrame:
    """Return what theory says of each solver: series, x, y (medians), low, high at the sizes of cells; limits, too."""
    [axis], titles, rows = sweep.grid, sweep.titles, []
    for cell in sweep.cells:
        if cell.job is None:
            continue
        score, bound = finite_size.fractions(cell.job.spec).get(show, (show, 1.0))
        numbers = finite_size.predictions(cell.job)
        for kind in ("predicted", "limit"):
            ends = [numbers.get(f"{kind}_{score}_{end}", math.nan) for end in ("low", "high")]
            # The figure shows medians of trials, which differ from means of skewed samples; limits have no spread.
            center = numbers.get(f"{kind}_{score}_median", prediction(numbers, score, kind))
            several = [math.nan if v is None else v / bound for v in (center, *ends)]
            rows.append((kind, titles[cell.solver], cell.axes[axis], *several))
    return pd.DataFrame(rows, columns=["kind", "series", "x", "y", "low", "high"]).dropna(subset=["y"])


def _limits(sweep: Sweep, show: str) -> pd.DataFrame:
    """Return the asymptotic limits of all methods, and of polynomial-time ones: name, x, y."""
    rows = [
        (LIMITS[limit], x, prediction({f"{limit}_{name}": value for name, value in scores.items()}, show, limit))
        for limit, x, scores in theory.limits(sweep)
    ]
    return pd.DataFrame(rows, columns=["name", "x", "y"]).dropna()


def map(
    table: pd.DataFrame, x: str = "", y: str = "", show: str = "", *, apart: bool = False, theory: bool = True
) -> Any:
    """Return the figure of a sweep as on the page *Phase transitions*, a figure of plotly.

    table: one that `lrlab.sweep` returned, or rows of it. x, y: its axes, by default in their order; a sweep along one
    axis gives lines. show: "share" (of successes; the default with a success rule) or a metric; a map shows its means,
    and lines its medians. apart: one map per solver, instead of contours over the first. InputError if the table has no
    such axis or metric.
    """
    results = results_of(table, [name for name in (x, y) if name])
    names = (*metrics(results.sweep), *([SHARE] if results.sweep.success else []))
    show = show or first_shown(results.sweep)
    require_known(show, names, what="show")
    data, view = SweepData(results), View(show, apart, theory)
    return (maps(data, view) if len(results.sweep.grid) == 2 else lines(data, view).figure).plotly()
