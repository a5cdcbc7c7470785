"""What theorems have on their page: the statement, and a slider with the figures of a quick run at each position."""

from concurrent.futures import wait
from functools import lru_cache

import streamlit as st

from lrlab import presets
from lrlab.engine.engine import together
from lrlab.engine.messages import Failure
from lrlab.models.axes import axes
from lrlab.parameters import Parameter, counted
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel, Plan
from lrlab.ui.live.tabs import Parts, waiting
from lrlab.ui.papers.panels import all_panels, figure_name, frame
from lrlab.ui.shared import live
from lrlab.ui.widgets import slider
from lrlab.ui.widgets.permalink import Permalink

NAME = "at"


def statement(preset: Preset) -> None:
    """Show the theorem that a preset is of, in the symbols of its paper; nothing where it is of none."""
    if text := preset.content["figure"].get("statement"):
        st.latex(text.strip())


def position(link: Permalink, preset: Preset) -> float | None:
    """Return the position that the address names; None where it is that of the stored result."""
    known = preset.positions
    link.accept([NAME])
    if not known:
        return None
    texts = tuple(f"{value:g}" for value in known)
    start, key = f"{preset.start:g}", link.key(NAME)
    if st.session_state.get(key, start) not in texts:
        # That of another theorem.
        del st.session_state[key]
    parameter = Parameter(meaning="position of the slider", name=NAME, kind=str, default=start, choices=texts)
    text = link.held(parameter)
    return None if text == start else known[texts.index(text)]


def show(link: Permalink, preset: Preset, at: float | None) -> None:
    """Show the slider of a preset, if it has one; what is drawn follows it."""
    known = preset.positions
    if not known:
        return
    name, start = preset.content["slider"]["name"], preset.start
    texts, drag = [f"{value:g}" for value in known], live.slider("papers.slider")
    drag.show = lambda place: _parts(preset.name, known[place], start)

    def rest(place: int) -> None:
        st.session_state[link.key(NAME)] = texts[place]

    title = axes(type(preset.first_spec))[name]
    label = f"{title} (stored: {start:g})"
    here = known.index(start if at is None else at)
    slider.show(label, texts, here, drag, key="papers.slider", on_rest=rest)


def figures(name: str, at: float, seconds: float = 6.0) -> tuple[list[Panel], str]:
    """Return all panels of a quick run at a position, and in words how many of its trials there are by then."""
    shown, done, total = _quick(name, at, seconds) if (name, at) not in _finished else _finished[name, at]
    so_far = "" if done == total else f", {done} of them so far: press Compute again for the others"
    # One without any trial so far shows none, not the trials of the previous position.
    shown = all_panels(presets.load(name, True, at), _plan(name, at), shown)
    return shown, f"A reduced run at {at:g}, computed now: {counted(total, 'trial')}{so_far}."


_finished: dict[tuple[str, float], tuple[list[Panel], int, int]] = {}
"""Finished runs: a few kilobytes each, of as many as sliders have positions."""


def _quick(name: str, at: float, seconds: float) -> tuple[list[Panel], int, int]:
    plan = _plan(name, at)
    futures = [together.submit(plan.function, item) for item in plan.items]
    with waiting():
        wait(futures, seconds)
    values = [one.result() if one.done() else None for one in futures]
    good = [None if isinstance(value, Failure) else value for value in values]
    done = sum(value is not None for value in good)
    made = plan.finish(good).panels if done else [], done, len(futures)
    if done == len(futures):
        _finished[name, at] = made
    return made


@lru_cache(maxsize=64)
def _plan(name: str, at: float) -> Plan:
    return presets.plan(presets.load(name, True, at))


def _parts(name: str, at: float, start: float) -> Parts:
    """Return the figures at a position by the names that they have on the page."""
    run, preset = shipped.load(name), presets.load(name)
    stored = run.panels if run else []
    # A slider that passes waits less than one that rests.
    shown = stored if at == start else figures(name, at, 2.0)[0]
    # Parts that a quick run leaves out stay empty until the slider rests.
    empty = {figure_name(preset, panel): frame(panel.figure) for panel in stored}
    return empty | {figure_name(preset, panel): panel.figure for panel in shown}
