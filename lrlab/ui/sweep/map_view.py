"""Maps of a sweep over two axes, also while it runs; a click on a cell opens its first trial."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.catalog import family
from lrlab.figures.map_layers import Region, Scale
from lrlab.figures.transition import Score, multiples, transition
from lrlab.models import axes
from lrlab.parameters import Parameter, display_name
from lrlab.runs import theory as bounds_of
from lrlab.sweeps import theory_lines, theory_regions
from lrlab.sweeps.adaptive import infer
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.definition_parts import spacing
from lrlab.sweeps.results import Results
from lrlab.sweeps.statistics import midpoints
from lrlab.ui.shared import live, refinement
from lrlab.ui.shared.captions import describe_spec
from lrlab.ui.sweep import sweep_offers
from lrlab.ui.widgets import controls, plot
from lrlab.ui.widgets.permalink import Permalink

SHARE = "share"
BOUNDED = ("overlap", "support", "coverage", "precision_1", "precision_3", "precision_5", "hamming", "auc")
"""Scores that lie between 0 and 1."""
LINES = {
    "asymptotic threshold": "Above the asymptotic threshold a method does better than a guess in large problems; "
    "at small sizes the change is gradual.",
    "asymptotic weak recovery": "From asymptotic weak recovery on, some fast method does better than a guess in "
    "large problems.",
    "degrees of freedom": "With fewer measurements than degrees of freedom nothing can succeed.",
    "statistical dimension": "At the statistical dimension the convex programme goes from failure to success "
    "(Amelunxen et al. 2014).",
}


REGIONS = {
    "impossible": "Impossible: in large problems no method can do better than {level}; at small sizes some trials do.",
    "hard": "Hard: in large problems some method can, but no fast method is known to.",
}


class View(NamedTuple):
    """The choices about a figure. show: a score, or "share" of successes; apart: one map per solver."""

    show: str
    apart: bool
    theory: bool
    fits: bool


def toggles(link: Permalink, show: str, *, maps: bool = True, apart: bool = False) -> View:
    """Show the switches of the figure. maps: it is over two axes; apart: by default each solver has its own map."""

    def toggle(name: str, label: str, meaning: str, default: bool) -> bool:
        parameter = Parameter(meaning=meaning, name=name, kind=bool, default=default)
        return bool(controls.widget(link, parameter, label=label))

    link.accept(["apart"])
    with st.container(horizontal=True, key=f"{link.page}-toggles", width="content"):
        words = "side by side, or contours over the map of the first solver"
        own = toggle("apart", "One map per solver", words, apart) if maps else False
        theory = toggle("theory", "Theory", "show the predictions of theory, too", True)
        words = "where a logistic curve fitted to the successes passes 1/2, with its 95% interval"
        return View(show, own, theory, toggle("fits", "Midpoints", words, False))


def first_shown(sweep: Sweep) -> str:
    """Return what is shown of a sweep at first: the share of successes where it counts them, or else a score."""
    return SHARE if sweep.success else sweep.contour.metric


def title(sweep: Sweep, show: str) -> str:
    """Return what a map shows, in words."""
    if show != SHARE:
        return f"mean {display_name(show)}"
    rule = sweep.contour
    return f"share of trials with {display_name(rule.metric)} {'>' if rule.below is None else '<'} {rule.level:g}"


def scales(sweep: Sweep) -> list[Scale]:
    """Return the axes of a sweep as they are drawn."""
    titles = axes.axes(type(sweep.spec))
    return [Scale(titles[name], sorted(map(float, sweep.grid[name])), spacing(given)) for name, given in sweep.axes]


def held(page: str, results: Results, view: View) -> tuple[str, pd.DataFrame]:
    """Name what a figure shows, as widgets may have changed since, and what is left out; return metric and table."""
    sweep = results.sweep
    metric = sweep.contour.metric if view.show == SHARE else view.show
    share = family(sweep.spec.model).measures[metric].quotient[0] if view.show != SHARE else ""
    unknown = len(bounds_of.missing_bounds(job.spec for job in sweep.jobs)) if share else 0
    source = (results, results.changes, unknown)
    table = live.once(f"{page}:table-{metric}", source, lambda: results.table(metric))
    trials = f"{'up to ' if sweep.adaptive else ''}{sweep.trials} trials per cell"
    words = [f"{describe_spec(sweep.spec, without=sweep.decided)}; {', '.join(sweep.titles.values())}; {trials}"]
    refused = table["refused"][table["refused"] != ""]
    if len(refused):
        words.append(f":orange[{len(refused)} cells are left out.] {refused.iloc[0]}")
    # One element, so that the figure below keeps its place.
    st.caption("  \n".join(words))
    return metric, table


def refine(page: str, view: View) -> None:
    """Have theory computed at the sizes of the cells of a sweep that is over, where the figure shows it."""
    run = live.current(page)
    if run is None or run.alive:
        return
    sweep: Sweep = run.results.sweep
    measure = family(sweep.spec.model).measures.get(view.show)
    if len(sweep.grid) == 1 and view.theory and view.show != SHARE:
        refinement.show(page, sweep.jobs)
    elif measure is not None and measure.quotient[0]:
        refinement.show(page, sweep.jobs, bounds=True)


def draw(page: str, results: Results, view: View) -> None:
    """Draw the maps of a sweep over two axes."""
    sweep, across = results.sweep, next(iter(results.sweep.grid))
    metric, table = held(page, results, view)
    x, y = scales(sweep)
    lines, regions = live.once(f"{page}:lines", sweep, lambda: theory(sweep)) if view.theory else (None, ())
    score, cells = _score(sweep, view.show), _cells(page, results, table, view.show)
    maps, narrow = {title: cells[cells["solver"] == solver] for solver, title in sweep.titles.items()}, None
    if view.apart:
        figure, narrow = (
            multiples(maps, x, y, score, columns=columns, lines=lines, regions=regions) for columns in (3, 1)
        )
    else:
        fits = midpoints(sweep, table).rename(columns={across: "x"}) if view.fits else None
        fits = None if fits is None else fits.replace({"solver": sweep.titles})
        figure = transition(maps, x, y, score, lines=lines, regions=regions, fits=fits)
    click = sweep_offers.open_on_click(sweep, 2, together=not view.apart)
    plot.show(figure, key=f"{page}.map", label=message(score.name, cells, x, y), narrow=narrow, on_click=click)
    _explain(sweep, score, lines, regions)
    shown = table.assign(shown=cells["value"], inferred=cells["inferred"])
    sweep_offers.offer(page, sweep, figure, shown, metric, together=not view.apart)


def _score(sweep: Sweep, show: str) -> Score:
    low, high = (0.0, 1.0) if show in (SHARE, *BOUNDED) else (None, None)
    if show == SHARE:
        return Score(title(sweep, show), low, high)
    rule = sweep.contour
    level = rule.level if show == rule.metric else None
    return Score(title(sweep, show), low, high, level, f"mean {display_name(show)} = {rule.level:g}")


def _cells(page: str, results: Results, table: pd.DataFrame, show: str) -> pd.DataFrame:
    """Return the cells of all solvers in the columns of maps; inferred ones where an adaptive sweep has no trials."""
    x, y = results.sweep.grid
    cells = table.rename(columns={x: "x", y: "y", "share" if show == SHARE else "mean": "value"})
    cells["inferred"] = False
    if show != SHARE:
        cells["successes"] = np.nan
    if not results.sweep.adaptive or show != first_shown(results.sweep):
        return cells
    picture = live.once(f"{page}:picture", (results, results.changes), lambda: infer(results))
    merged = cells[["x", "y", "solver"]].merge(picture, on=["x", "y", "solver"], how="left")
    inferred = merged["inferred"].fillna(False).to_numpy(dtype=bool)
    cells.loc[inferred, "value"] = merged["mean"].to_numpy()[inferred]
    return cells.assign(inferred=inferred)


def theory(sweep: Sweep) -> tuple[pd.DataFrame, Sequence[Region]]:
    """Return the lines and the regions that theory draws over the plane of a sweep."""
    limits = theory_regions.regions(sweep)
    points = [(name, *point) for name, several in limits.lines.items() for point in several]
    lines = pd.concat([theory_lines.lines(sweep), pd.DataFrame(points, columns=["line", "x", "y"])])
    return lines, limits.regions


def _explain(sweep: Sweep, score: Score, lines: pd.DataFrame | None, regions: Sequence[Region]) -> None:
    names = [] if lines is None else list(dict.fromkeys(name.partition(",")[0] for name in lines["line"]))
    words = [LINES[name] for name in names if name in LINES]
    if any(" = " in name for name in names):
        words.append("Beside the contour: where it lies in large problems.")
    level = sweep.contour.at.words
    words += [REGIONS[region.name].format(level=level) for region in regions if region.name in REGIONS]
    words.append("**A click on a cell opens its first trial on Converge.**")
    st.caption(f"Colour: {score.name}. {' '.join(words)}")


def message(name: str, cells: pd.DataFrame, x: Scale, y: Scale) -> str:
    """Return what a map shows, in words: how many cells are known, and what they reach."""
    known = cells[cells["value"].notna()]
    plane = f"{name} over {x.title} and {y.title}"
    if known.empty:
        return f"{plane}: nothing is run yet"
    high, low = (known.loc[known["value"].astype(float).agg(end)] for end in ("idxmax", "idxmin"))
    ends = " and ".join(f"{one['value']:.2g} at {one['x']:.4g}, {one['y']:.4g}" for one in (high, low))
    return f"{plane}: {len(known)} of {len(cells)} cells, between {ends}"
