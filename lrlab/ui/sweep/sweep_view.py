"""Figures of a sweep: curves with bands along one axis, a phase diagram over two, also while it runs."""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.figures.sweeps import (
    MEANS,
    RATE,
    WINNER,
    Lines,
    SweepData,
    View,
    first_shown,
    lines,
    map_metric,
    maps,
    metrics,
)
from lrlab.figures.transition import Scale
from lrlab.parameters import Parameter, display_name
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.theory import Region
from lrlab.sweeps.winners import comparable
from lrlab.ui.converge import refinement
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live, progress
from lrlab.ui.sweep import crosshair, sweep_offers, sweep_run, winners_view
from lrlab.ui.widgets import controls, plot
from lrlab.ui.widgets.permalink import Permalink

LINES = {
    "asymptotic threshold": "Above its asymptotic threshold a method does better than a guess; at small n and p the "
    "change is gradual.",
    "asymptotic weak recovery": "From asymptotic weak recovery on, some polynomial-time method does better than a "
    "guess.",
    "degrees of freedom": "With fewer measurements than degrees of freedom infinitely many solutions fit exactly: "
    "none is known to be the ground truth, though one may be near.",
    "k entries in every row": "Of half of the tables on this line some row or column has fewer observed entries than "
    "the rank: it cannot be recovered (coupon collector).",
    "statistical dimension": "At the statistical dimension the convex program goes from failure to success "
    "(Amelunxen et al. 2014).",
}

REGIONS = {
    "impossible": "Impossible: no method exceeds {level} asymptotically, and hardly any trial does at this n and p.",
    "hard": "Hard: some method can, but no polynomial-time method is known to.",
}


def choices(link: Permalink, sweep: Sweep | None, data: SweepData | None) -> View:
    """Show the choices about the figure of the visible data: the settings, `sweep`, may belong to another model."""

    def toggle(name: str, label: str, meaning: str, default: bool) -> bool:
        parameter = Parameter(meaning=meaning, name=name, kind=bool, default=default)
        return bool(controls.widget(link, parameter, label=label))

    link.accept(["apart", "show", "fits"])
    if data is None:
        return View(RATE, False, True)
    drawn, first = data.sweep, first_shown(data.sweep)
    meaning = "the value of each grid point: the success rate, or a metric"
    scope = f"{drawn.spec.model}.{first}"
    show = controls.choose(link, "show", _shown(drawn), meaning, "Show", default=first, scope=scope)
    if sweep and show not in _shown(sweep):
        link.leave_out("show")
    words = "side by side, or contours over the map of the first solver"
    if show == WINNER:
        link.accept(["theory"])
        return View(show, False, False)
    apart = toggle("apart", "One map per solver", words, False) if len(drawn.grid) == 2 else False
    theory = toggle("theory", "Theory", "show the predictions of theory, too", True)
    return View(show, apart, theory)


def _shown(sweep: Sweep) -> dict[str, str]:
    """Return the titles of a sweep's metrics, by name."""
    absent = {*sweep.jobs[0].spec.absent_metrics} & {*sweep.jobs[-1].spec.absent_metrics}
    known_metrics = {name: display_name(name) for name in metrics(sweep) if name not in absent}
    winner = {WINNER: "who wins where"} if comparable(sweep) else {}
    return {RATE: "success rate"} | winner | known_metrics


def draw(data: SweepData | None, view: View) -> None:
    """Draw the data of a sweep, or, before the first one, its empty figure."""
    if data is None:
        return
    if view.show == WINNER:
        winners_view.draw(data, view)
    elif len(data.sweep.grid) == 2:
        _draw_map(data, view)
    else:
        _draw_lines(data, view)


def live_parts(data: SweepData, view: View, at: crosshair.Place | None, changed: bool, run: Any) -> Parts:
    """Return the live parts of a sweep with a crosshair; changed: whether the settings differ from it."""
    known = progress.parts(run, "transition", changed=changed)
    if view.show == WINNER:
        return {**known, **winners_view.parts(data, view)}
    if len(data.sweep.grid) == 2:
        return {**known, "transition.map": crosshair.marked(maps(data, view), data.scales, at)}
    drawn = lines(data, view)
    return {**known, "transition.lines": drawn.figure, "transition.said": said(drawn)}


def _draw_lines(data: SweepData, view: View) -> None:
    sweep, table, shown = data.sweep, data.table(view.show), lines(data, view)
    click = sweep_offers.open_on_click(sweep, 3, together=False)
    along = data.scales[0].title
    label = f"{shown.title} along {along}: {shown.said or 'nothing is run yet'}"
    plot.show(shown.figure, key="transition.lines", label=label, on_click=click)
    sweep_run.caption(sweep, table)
    plot.words(said(shown), key="transition.said")
    band = "95% intervals of the success rates" if view.show == RATE else "from the first to the third quartile"
    band = "95% intervals of the means" if view.show in MEANS else band
    theory = "Dashed: theory at each size, the median of its samples; the palest bands hold 80% of them. "
    own = "Pale and dotted: a solver's own asymptotic limit. " * shown.own_limit
    words = f"{theory if view.theory and view.show != RATE else ''}{own}{_limit_words(shown.limits)}"
    st.caption(f"Bands: {band}. {words}**A click on a point opens its first trial in Run.**")
    sweep_offers.offer(sweep, shown.figure, table, data.metric(view.show), together=False)


def _limit_words(limits: pd.DataFrame | None) -> str:
    names = [] if limits is None else list(limits["name"].unique())
    if not names:
        return ""
    hard = "; dotted: the limit of polynomial-time methods" if len(names) > 1 else ""
    return f"Gray and dashed: asymptotic information-theoretic limit{hard}. "


def said(shown: Lines) -> str:
    """Return the message of a figure as HTML."""
    return f"<strong>{escape(shown.said)}</strong>"


def refine(view: View) -> None:
    """Let lrlab compute theory at the sizes of a finished sweep's grid points, if the figure shows it."""
    run = live.current("transition")
    if run is None or run.alive or view.show == WINNER:
        return
    sweep: Sweep = run.results.sweep
    measure = metrics(sweep).get(view.show)
    if len(sweep.grid) == 1 and view.theory and view.show != RATE:
        refinement.show("transition", sweep.jobs)
    elif measure is not None and measure.quotient[0]:
        refinement.show("transition", sweep.jobs, bounds=True)


def _draw_map(data: SweepData, view: View) -> None:
    """Draw the maps of a sweep over two axes."""
    sweep, table, cells = data.sweep, data.table(view.show), data.cells(view.show)
    at, together = crosshair.place(sweep), not view.apart
    metric, shown = map_metric(sweep, view.show), crosshair.marked(maps(data, view), data.scales, at)
    click = sweep_offers.open_on_click(sweep, 2, together=together, crossed=at is not None)
    narrow = maps(data, view, columns=1).layout if view.apart else None
    label = message(metric.name, cells, *data.scales)
    plot.show(shown, key="transition.map", label=label, narrow=narrow, on_click=click)
    sweep_run.caption(sweep, table)
    _explain(sweep, metric.name, bool(at), *(data.theory if view.theory else (None, ())))
    offered = table.assign(shown=cells["value"], inferred=cells["inferred"])
    sweep_offers.offer(sweep, shown, offered, data.metric(view.show), together=together)


def _explain(sweep: Sweep, color: str, crossed: bool, lines: pd.DataFrame | None, regions: Sequence[Region]) -> None:
    names = [] if lines is None else list(dict.fromkeys(name.partition(",")[0] for name in lines["line"]))
    words = [LINES[name] for name in names if name in LINES]
    if any(" = " in name for name in names):
        words.append("Next to the contour: its asymptotic position.")
    level = sweep.contour.words
    words += [REGIONS[region.name].format(level=level) for region in regions if region.name in REGIONS]
    done = "moves the crosshair to it" if crossed else "opens its first trial in Run"
    words.append(f"**A click on a grid point {done}.**")
    st.caption(f"Color: {color}. {' '.join(words)}")


def message(name: str, cells: pd.DataFrame, x: Scale, y: Scale) -> str:
    """Return the message of a phase diagram: the number of known grid points, and their range."""
    known = cells[cells["value"].notna()]
    plane = f"{name} over {x.title} and {y.title}"
    if known.empty:
        return f"{plane}: nothing is run yet"
    high, low = (known.loc[known["value"].astype(float).agg(end)] for end in ("idxmax", "idxmin"))
    ends = " and ".join(f"{one['value']:.2g} at {one['x']:.4g}, {one['y']:.4g}" for one in (high, low))
    return f"{plane}: {len(known)} of {len(cells)} grid points, between {ends}"
