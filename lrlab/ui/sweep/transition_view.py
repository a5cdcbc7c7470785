"""What a sweep over two axes looks like while it is measured; a click on a cell opens its trial."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.figures.map_layers import Scale
from lrlab.figures.transition import Score, multiples, transition
from lrlab.parameters import Parameter, display_name
from lrlab.runs import axes
from lrlab.sweeps import overview, theory_lines
from lrlab.sweeps.cells import cells
from lrlab.sweeps.definition import Sweep
from lrlab.ui.shared import live
from lrlab.ui.shared.captions import describe_spec
from lrlab.ui.sweep import sweep_files, sweep_run
from lrlab.ui.sweep.sweep_open import opened
from lrlab.ui.widgets import controls, plot
from lrlab.ui.widgets.permalink import Permalink

SHARE = "share"
BOUNDED = ("overlap", "support", "precision_1", "precision_3", "precision_5", "hamming", "auc")
"""Scores that lie between 0 and 1."""
LINES = {
    "predicted threshold": "The predicted threshold is exact for large n and p.",
    "degrees of freedom": "With fewer measurements than degrees of freedom nothing can succeed.",
    "statistical dimension": "At the statistical dimension the convex programme goes from failure to success "
    "(Amelunxen et al. 2014).",
}


class View(NamedTuple):
    """What a person has chosen to see. show: a score, or "share" of successes; apart: one map a solver."""

    show: str
    apart: bool
    theory: bool
    fits: bool


def toggles(link: Permalink, show: str, *, maps: bool = True, apart: bool = False) -> View:
    """Show what can be chosen about the figure. maps: over two axes; apart: each solver has its own at first."""

    def toggle(name: str, label: str, meaning: str, default: bool) -> bool:
        parameter = Parameter(meaning=meaning, name=name, kind=bool, default=default)
        return bool(controls.widget(link, parameter, label=label))

    link.accept(["apart"])
    with st.container(horizontal=True, key=f"{link.page}-toggles", width="content"):
        words = "side by side, or contours over the map of the first solver"
        own = toggle("apart", "One map a solver", words, apart) if maps else False
        theory = toggle("theory", "Theory", "what theory draws beside the measurements", True)
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
    return [
        Scale(titles[name], sorted(map(float, sweep.grid[name])), overview.spacing(given)) for name, given in sweep.axes
    ]


def held(sweep: Sweep, table: pd.DataFrame) -> None:
    """Say what a figure is of: the widgets may say something else by now; and what is left out, and why."""
    trials = f"{sweep.trials} trials a cell{', at most' if sweep.adaptive else ''}"
    words = [f"{describe_spec(sweep.spec, without=sweep.decided)}; {', '.join(sweep.solvers)}; {trials}"]
    refused = table["refused"][table["refused"] != ""]
    if len(refused):
        words.append(f":orange[{len(refused)} cells are left out.] {refused.iloc[0]}")
    # One element, so that the figure below keeps its place.
    st.caption("  \n".join(words))


def draw(page: str, asked: Sweep | None, view: View) -> None:
    """Draw the maps of the sweep that a page follows, or, before the first one, of the one that is asked for."""
    run = sweep_run.current(page)
    sweep = run.sweep if run else asked
    if sweep is None:
        return
    metric = sweep.contour.metric if view.show == SHARE else view.show
    table = sweep_run.table(page, sweep, metric)
    held(sweep, table)
    x, y = scales(sweep)
    lines = live.once(f"{page}:lines", sweep, lambda: theory_lines.lines(sweep)) if view.theory else None
    score, every = _score(sweep, view.show), _every(page, sweep, table, view.show)
    maps, narrow = {solver: every[every["solver"] == solver] for solver in sweep.solvers}, None
    if view.apart:
        figure, narrow = (multiples(maps, x, y, score, columns=columns, lines=lines) for columns in (3, 1))
    else:
        fits = overview.midpoints(sweep, table).rename(columns={next(iter(sweep.grid)): "x"}) if view.fits else None
        figure = transition(maps, x, y, score, lines=lines, fits=fits)
    click = opened(sweep, cells(sweep), 2, together=not view.apart)
    plot.show(figure, key=f"{page}.map", label=f"{score.name} over the plane", narrow=narrow, on_click=click)
    _explain(score, lines)
    shown = table.assign(shown=every["value"], inferred=every["inferred"])
    sweep_files.offer(page, sweep, figure, f"{page}.map", shown, metric)


def _score(sweep: Sweep, show: str) -> Score:
    ends = (0.0, 1.0) if show in (SHARE, *BOUNDED) else (None, None)
    if show == SHARE:
        return Score(title(sweep, show), *ends)
    rule = sweep.contour
    level = rule.level if show == rule.metric else None
    return Score(title(sweep, show), *ends, level, f"mean {display_name(show)} = {rule.level:g}")


def _every(page: str, sweep: Sweep, table: pd.DataFrame, show: str) -> pd.DataFrame:
    """Return the cells of all solvers as maps want them."""
    x, y = sweep.grid
    every = table.rename(columns={x: "x", y: "y", "share" if show == SHARE else "mean": "value"})
    every["inferred"] = False
    if show != SHARE:
        every["successes"] = np.nan
    if sweep.adaptive and show == first_shown(sweep):
        return _inferred(page, sweep, every)
    return every


def _inferred(page: str, sweep: Sweep, every: pd.DataFrame) -> pd.DataFrame:
    picture = sweep_run.picture(page, sweep)
    told = every[["x", "y", "solver"]].merge(picture, on=["x", "y", "solver"], how="left")
    inferred = told["inferred"].fillna(False).to_numpy(dtype=bool)
    every.loc[inferred, "value"] = told["mean"].to_numpy()[inferred]
    return every.assign(inferred=inferred)


def _explain(score: Score, lines: Any) -> None:
    names = [] if lines is None else dict.fromkeys(name.partition(",")[0] for name in lines["line"])
    told = " ".join(LINES[name] for name in names)
    st.caption(f"Colour: {score.name}. {told} **A click on a cell opens its first trial on Converge.**")
