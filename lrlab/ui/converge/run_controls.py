"""Controls above the figures of the page *Run*: the buttons of a run; measure, time and scales of the curves."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from lrlab.catalog import model_entry
from lrlab.engine.engine import get_engine
from lrlab.figures.recovery import Recovery
from lrlab.model_entry import Measure
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.ui.shared import live
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

SEEDS = 2**32
HEIGHT, LEGEND = 400, 100
"""Height of the large figures of the first screen, and of the legend below the curves, in pixels."""
ON_CHANGE, PINNED = "converge-on-change", "converge:pinned"


class CurveSettings(NamedTuple):
    """The plotted metric, its clock ("iteration" or "seconds"), the logarithmic axes, and curves of pinned runs.

    height: of the curves, and of the estimates beside or above them, in pixels.
    """

    measure: str
    time: str
    log_x: bool = False
    log_y: bool = False
    pinned: tuple[Recovery, ...] = ()
    height: int = HEIGHT

    def of(self, measures: Mapping[str, Measure]) -> "CurveSettings":
        """Return these for a model: its first metric if it lacks the chosen one; shares on a linear axis."""
        measure = self.measure if self.measure in measures else next(iter(measures))
        return self._replace(measure=measure, log_y=self.log_y and not measures[measure].rising)

    @property
    def title(self) -> str:
        """The measure as a heading."""
        name = display_name(self.measure)
        return name[:1].upper() + name[1:]


def buttons(link: Permalink, jobs: Sequence[Job]) -> None:
    """Show the buttons; a link starts a run, and so does a change of the jobs if the user wants that."""
    wanted = link.take_opened() or bool(st.session_state.get(ON_CHANGE))
    live.buttons("converge", lambda: get_engine().follow(jobs), ready=bool(jobs), about=list(jobs), wanted=wanted)
    st.button("New data", key="converge-new", disabled=not jobs, on_click=_new_data, args=(link,))
    st.toggle("Run on change", key=ON_CHANGE, help="start a run whenever a parameter or a solver changes")


def _new_data(link: Permalink) -> None:
    seed = link.key("seed")
    st.session_state[seed] = (int(controls.current(link, seed) or 0) + 1) % SEEDS
    live.request("converge")
    # The seed is not in the part of the page that has the button.
    st.rerun()


def choose(link: Permalink, model: str, spec: object) -> CurveSettings:
    """Show the controls of the curves and return the settings."""
    known = model_entry(model).family.measures
    absent = absent_measures(model, spec)
    titles = {name: display_name(name) for name in known if name not in absent}
    first = next(iter(titles))
    measure = controls.choose(link, "show", titles, known[first].meaning, "Show", few=True)
    scale = controls.choose(
        link,
        "axes",
        {"linear": "linear", "log-y": "log y", "log-x": "log x", "log-log": "log-log"},
        "which axes are logarithmic; fractions, and an objective that is not positive, stay linear",
        "axes",
        default="log-y",
        few=True,
    )
    times = {"iteration": "iteration", "seconds": "seconds"}
    meaning = "iterations, or the time of the solver without scoring; Play uses the same clock"
    time = controls.choose(link, "against", times, meaning, "against", few=True)
    pinned = st.session_state.get(PINNED, ("", ()))
    kept = pinned[1] if pinned[0] == model_entry(model).family.name else ()
    return CurveSettings(measure, time, scale in ("log-x", "log-log"), scale in ("log-y", "log-log"), kept)


def absent_measures(model: str, spec: object) -> set[str]:
    """Return the measures that a model, or a spec of it, does not have, that no iterate changes, or that are shares."""
    entry = model_entry(model)
    known = spec if isinstance(spec, Spec) else entry.spec()
    others = {name for name, one in entry.family.measures.items() if one.constant or one.quotient[0]}
    return others | {*known.absent_metrics}
