"""Figures of a sweep: lines with bands along one axis, maps over two, and their tables."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.aliases import VALUES
from lrlab.catalog import family
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.convergence import LIMITS, prediction, series
from lrlab.figures.runs import styles
from lrlab.figures.transition import MapMetric, Scale, transition, winners_map
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
from lrlab.sweeps.winners import comparable, error_metric, winners_of

RATE, WINNER = "success_rate", "winner"
"""Choices of a sweep's values besides metrics: the success rate, and who wins where."""
EFFORT = {
    "iterations": Measure("iterations", "iterations until the run ended"),
    "seconds": Measure("solver time (s)", "processor time of the solver"),
}
"""The metrics of trials that no problem computes."""

BOUNDED = ("overlap", "support", "coverage", "precision_1", "precision_3", "precision_5", "hamming", "auc")
"""Metrics that lie between 0 and 1."""
ERRORS = ("error", "misfit")
"""Words in the names of metrics that have a logarithmic axis."""
MEANS = ("coverage",)
"""Fractions of a trial's entries, shown by their mean as in claims; of few entries a median would be coarse."""


class SweepData:
    """Tables, lines and inferred grid points of the results of a sweep."""

    def __init__(self, results: SweepResults) -> None:
        self.results, self.sweep = results, results.sweep
        self._inferred: tuple[int, Any] = -1, None

    def metric(self, show: str) -> str:
        """Return the metric behind a choice."""
        if show == WINNER:
            return error_metric(self.sweep)
        return self.sweep.contour.metric if show == RATE else show

    def table(self, show: str) -> pd.DataFrame:
        """Return a row per grid point, see `SweepResults.table`."""
        return self.results.table(self.metric(show))

    def cells(self, show: str) -> pd.DataFrame:
        """Return the grid points in the columns of maps; an adaptive sweep infers values of points without trials."""
        # Before the table, as trials may arrive meanwhile: they count as new the next time.
        changes, (x, y) = self.results.changes, self.sweep.grid
        table = self.table(show)
        if show == first_shown(self.sweep):
            known, inferred = self._inferred
            if known != changes:
                # It takes longer than a drag of the crosshair allows.
                inferred = infer(self.results, table)
                self._inferred = changes, inferred
            table = inferred
        else:
            table = table.assign(inferred=False)
        if show != RATE:
            table = table.assign(successes=np.nan)
        return table.rename(columns={x: "x", y: "y", (RATE if show == RATE else "mean"): "value"})

    @cached_property
    def scales(self) -> list[Scale]:
        """The scales of the axes."""
        model, grid = type(self.sweep.spec), self.sweep.grid
        titles, names = axes.axes(model), axes.short_names(model)
        return [
            Scale(titles[name], sorted(float(value) for value in grid[name]), spacing(given), names[name])
            for name, given in self.sweep.axes
        ]

    @cached_property
    def theory(self) -> tuple[pd.DataFrame, Sequence[Region]]:
        """The lines and the regions of theory over the plane of two axes."""
        regions, limits = theory.regions(self.sweep)
        points = [(name, *point) for name, several in limits.items() for point in several.tolist()]
        return pd.concat([theory.lines(self.sweep), pd.DataFrame(points, columns=["line", "x", "y"])]), regions


def metrics(sweep: Sweep) -> Mapping[str, Measure]:
    """Return the metrics of a sweep's trials, by name."""
    return {**family(sweep.spec.model).measures, **EFFORT}


def first_shown(sweep: Sweep) -> str:
    """Return the first choice of a sweep: who wins a race, the success rate if it has one, or else a metric."""
    if sweep.race:
        return WINNER
    return RATE if sweep.success else sweep.contour.metric


def _success_title(sweep: Sweep) -> str:
    """Return the title of success rates, with the rule of success."""
    rule = sweep.contour
    return f"success rate ({display_name(rule.metric)} {'>' if rule.below is None else '<'} {rule.level:g})"


class View(NamedTuple):
    """The choices about a figure. show: a metric, "success_rate" or "winner"; apart: one map per solver.

    without: oracle information that excludes a solver from the comparison of winners.
    """

    show: str
    apart: bool
    theory: bool
    without: tuple[str, ...] = ()


def maps(data: SweepData, view: View, columns: int = 3) -> Figure:
    """Return the maps of a sweep; one per solver in so many columns, or together."""
    if view.show == WINNER:
        outcomes, _, excluded = winners_of(data.results, view.without)
        wins = Counter(name for one in outcomes for name in one.best)
        looks = styles(data.sweep.spec.model, [name for name, _ in wins.most_common()])
        x, y = data.scales
        return winners_map(outcomes, looks, data.sweep.titles, x, y, excluded)
    sweep, cells, (x, y) = data.sweep, data.cells(view.show), data.scales
    lines, regions = data.theory if view.theory else (None, ())
    looks = styles(sweep.spec.model, sweep.titles)
    several = [(look, cells[cells["solver"] == solver]) for solver, look in looks.items()]
    columns *= view.apart
    return transition(several, x, y, map_metric(sweep, view.show), columns=columns, lines=lines, regions=regions)


def map_metric(sweep: Sweep, show: str) -> MapMetric:
    """Return the metric that is shown of a sweep, with its colors and its contour."""
    if show == RATE:
        return MapMetric(_success_title(sweep))
    low, high = (0.0, 1.0) if show in BOUNDED else (None, None)
    rule, title = sweep.contour, f"mean {display_name(show)}"
    level = rule.level if show == rule.metric else None
    return MapMetric(title, low, high, level, f"{title} = {rule.level:g}", theme.METRIC_COLORS)


def lines(data: SweepData, view: View) -> tuple[Figure, str, str]:
    """Return the figure of a sweep along one axis, its title, and its message as sentences."""
    sweep, [x], show, titles = data.sweep, data.scales, view.show, data.sweep.titles
    measure, table = metrics(sweep).get(show), data.table(show)
    points = _points(sweep, table, show).replace({"series": titles})
    average = "mean" if show in MEANS else "median"
    title = _success_title(sweep) if measure is None else f"{average} {measure.title}"
    # Shares of a limit are read from 0 to 1 and a little above, as trials of finite size go beyond it by chance.
    quotient = measure is not None and bool(measure.quotient[0])
    figure = series(
        points,
        axis_title=x.title,
        value_title=title,
        log_x=x.spacing == "log",
        log_y=_log(points, show, quotient),
        bands=True,
        theory=_theory(sweep, show) if view.theory and show != RATE else None,
        limits=_limits(sweep, show) if view.theory else None,
        looks=list(styles(sweep.spec.model, sweep.titles).values()),
    )
    theme.tick_logs(figure.update_xaxes(range=x.range))
    if show in (RATE, *BOUNDED):
        figure.update_yaxes(range=[-0.02, 1.02])
    theme.name_ends(figure, list(titles.values()))
    said = []
    if show == RATE:
        said = midpoint_words(sweep, midpoints(sweep, table))
        asked = Counter(titles[name] for name in table["solver"][table["refused"] == ""])
        said += _constant(points, x.title.rpartition(", ")[2], asked)
    return figure, title, " ".join(said or _ends(points))


def _constant(points: pd.DataFrame, along: str, asked: Mapping[str, int]) -> list[str]:
    """Return which series succeed always, and which never, as sentences; of those that have all points they asked."""
    series = [(str(name), rows["y"]) for name, rows in points.groupby("series", sort=False)]
    series = [(name, y) for name, y in series if len(y) == asked[name]]
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
    value, low, high = (RATE, "low", "high") if show == RATE else ("median", "lower_quartile", "upper_quartile")
    if show in MEANS:
        error = 1.96 * table["spread"] / np.sqrt(table["trials"].where(table["trials"] > 0))
        table = table.assign(low=table["mean"] - error, high=table["mean"] + error)
        value, low, high = "mean", "low", "high"
    columns = {"solver": "series", axis: "x", value: "y", low: "low", high: "high"}
    points = table[["solver", axis, value, low, high, "trials"]].rename(columns=columns)
    known = points[points["y"].notna()].sort_values(["x"], kind="stable")
    return known.astype(dict.fromkeys(("y", "low", "high"), float))


def _log(points: pd.DataFrame, show: str, quotient: bool) -> bool:
    if show in (RATE, *BOUNDED) or quotient or points.empty:
        return False
    smallest, largest = points[["y", "low"]].min().min(), points[["y", "high"]].max().max()
    # Errors, and any metric of more than two decades.
    return bool(smallest > 0 and (largest / smallest > 100.0 or any(word in show for word in ERRORS)))


def _theory(sweep: Sweep, show: str) -> pd.DataFrame:
    """Return predictions of each solver at each grid point, and limits: kind, series, x, y (medians), low, high."""
    [axis], titles, rows = sweep.grid, sweep.titles, []
    for cell in sweep.cells:
        if cell.job is None:
            continue
        metric, bound = finite_size.fractions(cell.job.spec).get(show, (show, 1.0))
        numbers = finite_size.predictions(cell.job)
        for kind in ("predicted", "limit"):
            ends = [numbers.get(f"{kind}_{metric}_{end}", math.nan) for end in ("low", "high")]
            # The figure shows medians of trials, which differ from means of skewed samples; limits have no spread.
            center = numbers.get(f"{kind}_{metric}_median", prediction(numbers, metric, kind))
            several = [math.nan if v is None else v / bound for v in (center, *ends)]
            rows.append((kind, titles[cell.solver], cell.axes[axis], *several))
    return pd.DataFrame(rows, columns=["kind", "series", "x", "y", "low", "high"]).dropna(subset=["y"])


def _limits(sweep: Sweep, show: str) -> pd.DataFrame:
    """Return the asymptotic limits of all methods, and of polynomial-time ones: name, x, y."""
    points = theory.limits(sweep).to_dict("index").items()
    rows = [(title, x, prediction(numbers, show, limit)) for limit, title in LIMITS.items() for x, numbers in points]
    return pd.DataFrame(rows, columns=["name", "x", "y"]).dropna()


def map(
    table: pd.DataFrame, x: str = "", y: str = "", show: str = "", *, apart: bool = False, theory: bool = True
) -> Any:
    """Return the figure of a sweep as on the page *Phase transitions*, a figure of plotly.

    table: one that `lrlab.sweep` returned, or rows of it. x, y: its axes, by default in their order; a sweep along one
    axis gives lines. show: "success_rate" (the default with a success rule), "winner" (who wins where; the
    default of a race) or a metric; a map shows its means, and lines its medians. apart: one map per solver, instead of
    contours over the first. InputError if the table has no such axis or metric.
    """
    results = results_of(table, [name for name in (x, y) if name])
    shares = (RATE,) if results.sweep.success else ()
    names = (*metrics(results.sweep), *shares, *((WINNER,) if comparable(results.sweep) else ()))
    if VALUES.get(show) in names:
        show = VALUES[show]
    show = show or first_shown(results.sweep)
    require_known(show, names, what="show")
    data, view = SweepData(results), View(show, apart, theory)
    return (maps(data, view) if len(results.sweep.grid) == 2 else lines(data, view)[0]).plotly()
