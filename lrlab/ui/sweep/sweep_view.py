"""Figures of a sweep, also while it runs: curves with bands along an axis, a phase diagram over two, who wins where."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.figures.convergence import LIMITS
from lrlab.figures.sweeps import (
    MEANS,
    RATE,
    WINNER,
    SweepData,
    View,
    first_shown,
    lines,
    map_metric,
    maps,
    metrics,
)
from lrlab.figures.transition import Scale
from lrlab.parameters import InputError, Parameter, counted, display_name
from lrlab.sweeps import winners
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import RACE_SECONDS
from lrlab.sweeps.theory import Region
from lrlab.sweeps.winners import comparable
from lrlab.ui.converge.results_view import refine_theory
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live, progress
from lrlab.ui.sweep import sweep_controls, sweep_offers, sweep_run
from lrlab.ui.widgets import controls, permalink, plot
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
RULES = (
    "All solvers of a grid point see the same data. A solver wins if its error is more than 10% smaller than every "
    "other's, by paired intervals of 95%, corrected for the numbers of solvers and looks. Stripes: up to "
    "three solvers that nobody clearly beats, the fastest first; gray: more. If several recover exactly, with errors "
    "below 0.001, the seconds per solved problem decide, from a factor of 1.5."
)


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


def draw(data: SweepData | None, view: View, at: sweep_offers.Place | None) -> None:
    """Draw the data of a sweep with a crosshair, or, before the first one, its empty figure."""
    if data is None:
        return
    if view.show == WINNER:
        _draw_winners(data, view)
    elif len(data.sweep.grid) == 2:
        _draw_map(data, view, at)
    else:
        _draw_lines(data, view)


def live_parts(data: SweepData, view: View, at: sweep_offers.Place | None, changed: bool, run: Any) -> Parts:
    """Return the live parts of a sweep with a crosshair; changed: whether the settings differ from it."""
    known = progress.parts(run, "transition", changed=changed)
    if view.show == WINNER:
        sentence = winners.winners_of(data.results, view.without).sentence
        return {**known, "transition.map": maps(data, view), "transition.said": plot.strong(sentence)}
    if len(data.sweep.grid) == 2:
        return {**known, "transition.map": sweep_offers.marked(maps(data, view), data.scales, at)}
    figure, _, sentence = lines(data, view)
    return {**known, "transition.lines": figure, "transition.said": plot.strong(sentence)}


def _draw_lines(data: SweepData, view: View) -> None:
    sweep, table, (figure, title, sentence) = data.sweep, data.table(view.show), lines(data, view)
    click = sweep_offers.open_on_click(sweep, 3, together=False)
    along = data.scales[0].title
    label = f"{title} along {along}: {sentence or 'nothing is run yet'}"
    plot.show(figure, key="transition.lines", label=label, on_click=click)
    sweep_run.caption(sweep, table)
    plot.words(plot.strong(sentence), key="transition.said")
    band = "95% intervals of the success rates" if view.show == RATE else "from the first to the third quartile"
    band = "95% intervals of the means" if view.show in MEANS else band
    theory = "Dashed: theory at each size, the median of its samples; the palest bands hold 80% of them. "
    names = [one.name or "" for one in figure.data]
    limited = any(name.startswith("asymptotic limit of") for name in names)
    own = "Pale and dotted: a solver's own asymptotic limit. " * limited
    words = f"{theory if view.theory and view.show != RATE else ''}{own}{_limit_words(names)}"
    st.caption(f"Bands: {band}. {words}**A click on a point opens its first trial in Run.**")
    sweep_offers.offer(sweep, figure, table, data.metric(view.show), together=False)


def _limit_words(names: Sequence[str]) -> str:
    limits = [name for name in names if name in LIMITS.values()]
    hard = "; dotted: the limit of polynomial-time methods" if len(limits) > 1 else ""
    return f"Gray and dashed: asymptotic information-theoretic limit{hard}. " if limits else ""


def refine(view: View) -> None:
    """Let lrlab compute theory at the sizes of a finished sweep's grid points, if the figure shows it."""
    run = live.current("transition")
    if run is None or run.alive or view.show == WINNER:
        return
    sweep: Sweep = run.results.sweep
    measure = metrics(sweep).get(view.show)
    if len(sweep.grid) == 1 and view.theory and view.show != RATE:
        refine_theory("transition", sweep.jobs)
    elif measure is not None and measure.quotient[0]:
        refine_theory("transition", sweep.jobs, bounds=True)


def _draw_map(data: SweepData, view: View, at: sweep_offers.Place | None) -> None:
    """Draw the maps of a sweep over two axes."""
    sweep, table, cells = data.sweep, data.table(view.show), data.cells(view.show)
    together = not view.apart
    metric, shown = map_metric(sweep, view.show), sweep_offers.marked(maps(data, view), data.scales, at)
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


def race_button(sweep: Sweep | None) -> None:
    """Show the button that races all solvers over the plane of a sweep, with its budget."""
    count = len(catalog.solvers_for(sweep.spec.model)) if sweep else 0
    lacks = "Needs two solvers." if count < 2 else ""
    if sweep is None or len(sweep.grid) < 2:
        lacks = "Add a second axis first."
    words = (
        f"Runs all solvers that apply, of {count}, at up to {winners.COLUMNS} × {winners.ROWS} grid points, and pauses "
        f"{RACE_SECONDS:.0f} s after the first result: up to {winners.TRIALS} trials each, of at most "
        f"{winners.TRIAL_SECONDS:.0f} s, most if they are close. Resume adds {RACE_SECONDS:.0f} s."
    )
    name, key = f"Who wins where ({RACE_SECONDS:.0f} s)", "transition-race"
    st.button(name, key=key, disabled=bool(lacks), help=lacks or words, on_click=_begin_race, args=(sweep,))


def _begin_race(sweep: Sweep) -> None:
    """Open the race over a sweep's plane and run it, from a callback."""
    try:
        race = winners.race(sweep)
    except InputError as error:
        st.session_state["transition:refused"] = str(error)
        return
    title = f"{race.spec.title}: who wins where, {counted(len(race.solvers), 'solver')} over {' and '.join(race.grid)}"
    st.session_state["transition:title"] = (race, title)
    permalink.take("transition", sweep_controls.address(race))
    live.request("transition")


def allowed(link: Permalink, data: SweepData | None, view: View) -> View:
    """Show a switch for each kind of oracle information of the compared solvers; return the view without those off."""
    switches = [f"know-{name.replace(' ', '-')}" for entry in catalog.ENTRIES for name in entry.oracle]
    link.accept(switches)
    if view.show != WINNER or data is None:
        return view
    link.renew(switches, data.sweep.spec.model)
    own = sorted(frozenset[str]().union(*winners.oracles(data.sweep).values()))
    if not own:
        return view
    off = []
    with st.container(horizontal=True, vertical_alignment="center", key="transition-know"):
        st.caption("Solvers may know the", width="content")
        for name in own:
            meaning = f"solvers that use the {name}"
            parameter = Parameter(meaning=meaning, name=f"know-{name.replace(' ', '-')}", kind=bool, default=True)
            off += [] if controls.widget(link, parameter, label=name) else [name]
    return view._replace(without=tuple(off))


def _draw_winners(data: SweepData, view: View) -> None:
    """Draw who wins where: the sentence, the map, its rules, and the files."""
    sweep, metric, shown = data.sweep, data.metric(WINNER), maps(data, view)
    outcomes, sentence, _ = winners.winners_of(data.results, view.without)
    plot.words(plot.strong(sentence), key="transition.said")
    click = sweep_offers.open_on_click(sweep, 2, together=True)
    plot.show(shown, key="transition.map", label=f"Who wins where: {sentence or 'nothing is run yet'}", on_click=click)
    rule = f"Hatched: no solver reaches {sweep.contour.words} at a rate of 50%."
    pause = f"A run pauses {RACE_SECONDS:.0f} s after its first result; *Resume* goes on for as long. "
    budget = pause if sweep.race else ""
    sweep_run.caption(sweep, data.table(WINNER))
    st.caption(f"{RULES} {rule} {budget}**A click on a grid point opens its first trial in Run.**")
    best = {(*one.point, name) for one in outcomes for name in one.best}
    table = data.table(metric)
    keys = zip(*(table[name] for name in (*sweep.grid, "solver")), strict=True)
    offered = table.assign(among_best=[key in best for key in keys], inferred=False)
    sweep_offers.offer(sweep, shown, offered, metric, together=True)
