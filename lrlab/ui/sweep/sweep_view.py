"""Figures of a sweep: lines with bands along one axis, maps over two."""

from html import escape

import pandas as pd
import streamlit as st

from lrlab.parameters import display_name
from lrlab.sweeps import sweep_data
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.drawn import MEANS, Lines, View, lines, maps
from lrlab.sweeps.sweep_data import SHARE, SweepData
from lrlab.ui.live.stream import Parts
from lrlab.ui.live.tabs import View as LiveView
from lrlab.ui.shared import live
from lrlab.ui.sweep import crosshair, map_view, sweep_offers, sweep_run
from lrlab.ui.widgets import controls, plot
from lrlab.ui.widgets.permalink import Permalink


def choices(link: Permalink, sweep: Sweep | None, *, plane: bool) -> View:
    """Show the choices about the figure, of the sweep that is drawn: the settings may be those of another model.

    plane: the page shows one metric, that of the map.
    """
    results = sweep_run.results(link.page, sweep)
    if results is None:
        # In the place of what would be there.
        st.container(key=f"{link.page}-choices")
        return View(SHARE, not plane, True, False)
    drawn, first = results.sweep, sweep_data.first_shown(results.sweep)
    if plane:
        return map_view.toggles(link, first)
    meaning = "what is drawn of each grid point: the success rate, or a metric"
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{link.page}-choices"):
        with st.container(width=260):
            scope = f"{drawn.spec.model}.{first}"
            show = controls.choose_one(link, "show", _shown(drawn), meaning, "Show", default=first, scope=scope)
            if sweep and show not in _shown(sweep):
                link.leave_out("show")
        return map_view.toggles(link, show, maps=len(drawn.grid) == 2, apart=True)


def _shown(sweep: Sweep) -> dict[str, str]:
    """Return the titles, by name, of what can be shown of a sweep."""
    scores = {name: display_name(name) for name in sweep_data.metrics(sweep)}
    if not sweep.spec.best_known:
        scores.pop("excess_risk", None)
    return {SHARE: "success rate"} | scores


def draw(page: str, sweep: Sweep | None, view: View) -> None:
    """Draw the sweep that a page follows and its progress, or, before the first one, the empty figure of a sweep."""
    sweep_run.show_progress(page, sweep)
    results = sweep_run.results(page, sweep)
    if results is None:
        return
    data = sweep_run.data_of(page, results)
    if len(data.sweep.grid) == 2:
        map_view.draw(page, data, view)
    else:
        _draw_lines(page, data, view)


def beside(page: str, sweep: Sweep | None, view: View) -> None:
    """Show the cell of the crosshair of a map."""
    if results := sweep_run.results(page, sweep):
        crosshair.show(page, results.sweep, sweep_run.data_of(page, results), view)


def live_view(page: str, sweep: Sweep | None, view: View) -> LiveView | None:
    """Return the view of the sweep that a page follows, for its live channel."""
    run = live.current(page)
    if run is None:
        return None
    data, changed = sweep_run.data_of(page, run.results), run.sweep != sweep
    at = crosshair.place(page, data.sweep)

    def parts() -> Parts:
        progress = sweep_run.progress_parts(page, run, changed)
        if len(data.sweep.grid) == 2:
            return {**progress, f"{page}.map": crosshair.marked(maps(data, view), data.scales, at)}
        drawn = lines(data, view)
        return {**progress, f"{page}.lines": drawn.figure, f"{page}.said": said(drawn)}

    return parts


def _draw_lines(page: str, data: SweepData, view: View) -> None:
    sweep, table, shown = data.sweep, data.table(view.show), lines(data, view)
    map_view.caption(sweep, table)
    click = sweep_offers.open_on_click(sweep, 3, together=False)
    along = data.scales[0].title
    label = f"{shown.title} along {along}: {shown.said or 'nothing is run yet'}"
    plot.show(shown.figure, key=f"{page}.lines", label=label, on_click=click)
    plot.words(said(shown), key=f"{page}.said")
    band = "95% intervals of the success rates" if view.show == SHARE else "from the first to the third quartile"
    band = "95% intervals of the means" if view.show in MEANS else band
    theory = "Dashed: theory at each size, the median of its draws; the palest bands hold 80% of them. "
    own = "Pale and dotted: a solver's own limit for large sizes. " * shown.own_limit
    words = f"{theory if view.theory and view.show != SHARE else ''}{own}{_limit_words(shown.limits)}"
    st.caption(f"Bands: {band}. {words}**A click on a point opens its first trial on Converge.**")
    sweep_offers.offer(page, sweep, shown.figure, table, data.metric(view.show), together=False)


def _limit_words(limits: pd.DataFrame | None) -> str:
    names = [] if limits is None else list(limits["name"].unique())
    if not names:
        return ""
    hard = "; dotted: that of known fast methods" if len(names) > 1 else ""
    return f"Grey and dashed: limit of all methods for large n and p{hard}. "


def said(shown: Lines) -> str:
    """Return what a figure says as HTML."""
    return f"<strong>{escape(shown.said)}</strong>"
