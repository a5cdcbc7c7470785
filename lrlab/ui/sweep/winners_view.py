"""Who wins where, on a page: the button that races all solvers, what they may know, and the map with its sentence."""

from html import escape

import streamlit as st

from lrlab import catalog
from lrlab.figures.sweeps import WINNER, SweepData, View, maps
from lrlab.parameters import InputError, Parameter, counted
from lrlab.sweeps import winners
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import RACE_SECONDS
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live
from lrlab.ui.sweep import sweep_controls, sweep_offers, sweep_run
from lrlab.ui.widgets import controls, permalink, plot
from lrlab.ui.widgets.permalink import Permalink

RULES = (
    "All solvers of a grid point see the same data. A solver wins if its error is more than 10% smaller than every "
    "other's, by paired intervals of 95%, corrected for the numbers of solvers and looks. Stripes: up to "
    "three solvers that nobody clearly beats, the fastest first; gray: more. If several recover exactly, with errors "
    "below 0.001, the seconds per solved problem decide, from a factor of 1.5."
)


def button(sweep: Sweep | None) -> None:
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
    st.button(name, key=key, disabled=bool(lacks), help=lacks or words, on_click=_begin, args=(sweep,))


def _begin(sweep: Sweep) -> None:
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


def parts(data: SweepData, view: View) -> Parts:
    """Return the live parts of `draw`."""
    return {"transition.map": maps(data, view), "transition.said": _said(data, view)}


def _said(data: SweepData, view: View) -> str:
    return f"<strong>{escape(data.winners(view.without).sentence)}</strong>"


def draw(data: SweepData, view: View) -> None:
    """Draw who wins where: the sentence, the map, its rules, and the files."""
    sweep, metric, shown = data.sweep, data.metric(WINNER), maps(data, view)
    outcomes, sentence, _ = data.winners(view.without)
    plot.words(_said(data, view), key="transition.said")
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
