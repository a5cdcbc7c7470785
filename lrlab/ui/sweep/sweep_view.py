"""Figures of a sweep: lines with bands along one axis, maps over two."""

import math
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.catalog import family
from lrlab.figures.build import Figure
from lrlab.figures.convergence import LIMITS, prediction
from lrlab.figures.series import series
from lrlab.parameters import display_name
from lrlab.runs import theory
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.statistics import midpoint_words, midpoints
from lrlab.ui.live.changes import State
from lrlab.ui.live.tabs import View as LiveView
from lrlab.ui.shared import live
from lrlab.ui.sweep import map_view, sweep_data, sweep_offers, sweep_run
from lrlab.ui.sweep.map_view import BOUNDED, View
from lrlab.ui.sweep.sweep_data import SHARE, SweepData
from lrlab.ui.widgets import controls, plot
from lrlab.ui.widgets.permalink import Permalink

WIDE = 100.0
"""Ratio of the largest to the smallest value above which a scale is logarithmic."""

MEANS = ("coverage",)
"""Shares of a trial's entries whose mean over trials is what is claimed; of few entries a median would be coarse."""


def choices(link: Permalink, sweep: Sweep | None) -> View:
    """Show the choices about the figure."""
    if sweep is None:
        # In the place of what would be there.
        st.container(key="sweep-choices")
        return View(SHARE, True, True, False)
    scores = {name: display_name(name) for name in family(sweep.spec.model).measures}
    if not sweep.spec.best_known:
        scores.pop("excess_risk", None)
    shown = {SHARE: "share of successes"} | scores
    first = sweep_data.first_shown(sweep)
    meaning = "what is drawn of each cell: the share of trials that succeed, or a score"
    with st.container(horizontal=True, vertical_alignment="bottom", key="sweep-choices"):
        with st.container(width=260):
            scope = f"{sweep.spec.model}.{first}"
            show = controls.choose_one(link, "show", shown, meaning, "Show", default=first, scope=scope)
        return map_view.toggles(link, show, maps=len(sweep.grid) == 2, apart=True)


def draw(page: str, sweep: Sweep | None, view: View) -> None:
    """Draw the sweep that a page follows and its progress, or, before the first one, the empty figure of a sweep."""
    sweep_run.show_progress(page, sweep)
    results = sweep_run.results(page, sweep)
    if results is None:
        return
    data = sweep_data.of_page(page, results)
    if len(data.sweep.grid) == 2:
        map_view.draw(page, data, view)
    else:
        _draw_lines(page, data, view)


def live_view(page: str, sweep: Sweep | None, view: View) -> LiveView | None:
    """Return the view of the sweep that a page follows, for its live channel."""
    run = live.current(page)
    if run is None:
        return None
    data, changed = sweep_data.of_page(page, run.results), run.sweep != sweep

    def parts() -> State:
        progress = sweep_run.progress_parts(page, run, changed)
        if len(data.sweep.grid) == 2:
            return {**progress, f"{page}.map": map_view.figure(data, view)}
        drawn = lines(data, view)
        return {**progress, f"{page}.lines": drawn.figure, f"{page}.midpoints": escape(drawn.midpoints)}

    return parts


class Lines(NamedTuple):
    """The figure of a sweep along one axis; its title and points; the limits in it; midpoints in words."""

    figure: Figure
    title: str
    points: pd.DataFrame
    limits: pd.DataFrame | None
    midpoints: str


def lines(data: SweepData, view: View) -> Lines:
    """Return what a sweep along one axis shows."""
    sweep, [x], show, titles = data.sweep, data.scales, view.show, data.sweep.titles
    measure = family(sweep.spec.model).measures.get(show)
    points = _points(sweep, data.table(show), show).replace({"series": titles})
    halves = midpoints(sweep, data.table(show)) if view.fits else None
    rows = () if halves is None else halves.itertuples()
    marks = {f"half succeed, {titles[row.solver]}": row.half for row in rows}
    average = "mean" if show in MEANS else "median"
    title = sweep_data.title(sweep, SHARE) if measure is None else f"{average} {measure.title}"
    limits = data.of_theory(f"limits {show}", lambda: _limits(data, show)) if view.theory else None
    predicted = None
    if view.theory and show != SHARE:
        predicted = data.of_theory(f"theory {show}", lambda: _theory(sweep, show))
    # Shares of a limit are read from 0 to 1 and a little above, as trials of finite size go beyond it by chance.
    quotient = measure is not None and bool(measure.quotient[0])
    figure = series(
        points,
        axis_title=x.title,
        value_title=title,
        log_x=x.spacing == "log",
        log_y=_log(points, show, quotient),
        bands=True,
        marks=marks,
        theory=predicted,
        limits=limits,
    )
    ends = x.edges[[0, -1]]
    figure.update_xaxes(range=list(np.log10(ends) if x.spacing == "log" else ends))
    if show in (SHARE, *BOUNDED):
        figure.update_yaxes(range=[-0.02, 1.02])
    return Lines(figure, title, points, limits, "" if halves is None else " ".join(midpoint_words(sweep, halves)))


def _draw_lines(page: str, data: SweepData, view: View) -> None:
    sweep, table, shown = data.sweep, data.table(view.show), lines(data, view)
    map_view.caption(sweep, table)
    click = sweep_offers.open_on_click(sweep, 3, together=False)
    label = message(shown.title, shown.points, data.scales[0].title)
    plot.show(shown.figure, key=f"{page}.lines", label=label, on_click=click)
    band = "95% intervals of the shares" if view.show == SHARE else "from the first to the third quartile"
    band = "95% intervals of the means" if view.show in MEANS else band
    theory = "Dashed: theory at each size, the median of its draws; the palest bands hold 80% of them. "
    words = f"{theory if view.theory and view.show != SHARE else ''}{_limit_words(shown.limits)}"
    st.caption(f"Bands: {band}. {words}**A click on a point opens its first trial on Converge.**")
    if view.fits:
        plot.words(escape(shown.midpoints), key=f"{page}.midpoints", small=True)
    sweep_offers.offer(page, sweep, shown.figure, table, data.metric(view.show), together=False)


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
    return bool(smallest > 0 and largest / smallest > WIDE)


def _theory(sweep: Sweep, show: str) -> pd.DataFrame:
    """Return what theory says of each solver: series, x, y (medians), low, high at the sizes of cells; limits, too."""
    [axis], titles, rows = sweep.grid, sweep.titles, []
    for cell in sweep.cells:
        if cell.job is None:
            continue
        score, bound = theory.quotients(cell.job.spec).get(show, (show, 1.0))
        numbers = theory.known(cell.job)
        for kind in ("predicted", "limit"):
            ends = [numbers.get(f"{kind}_{score}_{end}", math.nan) for end in ("low", "high")]
            # Of trials medians are drawn, which differ from means where draws are skewed; limits have no spread.
            centre = numbers.get(f"{kind}_{score}_median", prediction(numbers, score, kind))
            several = [math.nan if v is None else v / bound for v in (centre, *ends)]
            rows.append((kind, titles[cell.solver], cell.axes[axis], *several))
    return pd.DataFrame(rows, columns=["kind", "series", "x", "y", "low", "high"]).dropna(subset=["y"])


def _limits(data: SweepData, show: str) -> pd.DataFrame:
    """Return the limits of all methods, and of known fast ones, for large sizes: name, x, y."""
    rows = [
        (LIMITS[limit], x, prediction({f"{limit}_{name}": value for name, value in scores.items()}, show, limit))
        for limit, x, scores in data.limits
    ]
    return pd.DataFrame(rows, columns=["name", "x", "y"]).dropna()


def _limit_words(limits: pd.DataFrame | None) -> str:
    names = [] if limits is None else list(limits["name"].unique())
    if not names:
        return ""
    hard = "; dotted: that of known fast methods" if len(names) > 1 else ""
    return f"Grey and dashed: limit of all methods for large n and p{hard}. "


def message(title: str, points: pd.DataFrame, along: str) -> str:
    """Return what the lines show: the values of each series at both ends."""
    ends = [
        f"{name} " + ", ".join(f"{rows['y'].iloc[at]:.2g} at {rows['x'].iloc[at]:.4g}" for at in (0, -1))
        for name, rows in points.groupby("series", sort=False)
    ]
    return f"{title} along {along}: {'; '.join(ends) or 'nothing is run yet'}"
