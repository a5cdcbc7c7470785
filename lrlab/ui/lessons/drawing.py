"""Draw the phase transition: people draw the 50% contour of a phase diagram, and lrlab compares it with trials.

A drawing has one value of s/n per column of the grid, so that a class of sixty sends a few kilobytes. One person draws
first; then the diagram fills under the line.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.arrays import Array
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Results
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.sweeps import RATE, SweepData, View, maps
from lrlab.figures.transition import NOT_MEASURED, WHITE, Layers, Scale
from lrlab.parameters import InputError
from lrlab.presets import sweeps as library
from lrlab.runs.run import Trial, run_trial
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.tables import midpoints
from lrlab.ui.classroom import room
from lrlab.ui.classroom.room import Poll, Truth
from lrlab.ui.lessons import lesson_view
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live, page, progress
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import show_error

Drawing = tuple[float, ...]
TITLE = "Draw the phase transition"
TEXT = (
    "A signal has p = 200 entries: s of them are ±1, the others are 0. Approximate message passing (AMP) gets n exact "
    "samples of it. **Draw the 50% success contour.** Below it, with fewer non-zeros "
    "per sample, most trials succeed; above it most fail."
)
AXIS = "ratio"
"""The axis of the columns."""
MOST_LINES = 60
"""Lines that a figure shows; the scores count all."""
LINE, CONTOUR = theme.PALETTE[1], theme.PALETTE[0]
PAGE = "learn"
SUBMITTED = "learn:line"
"""Session key of the submitted line."""


@cache
def sweep() -> Sweep:
    """Return the diagram: Donoho and Tanner's, of one solver and a size that fills within seconds."""
    known = library.load(library.FIRST).sweep
    settings = {**dict(known.settings), "max_iter": 200}
    spec = replace(known.spec, p=200)  # type: ignore[call-arg]
    return replace(known, spec=spec, solvers=("amp",), trials=5, adaptive=False, settings=settings)


@cache
def plane() -> SweepData:
    """Return the diagram without trials; it keeps scales and theory, which take half a second to compute."""
    return SweepData(SweepResults(sweep()))


def scales() -> Sequence[Scale]:
    """Return the scales of the columns and of the rows."""
    return plane().scales


@cache
def trials() -> Sequence[Trial]:
    """Return the trials in their order of computation: first one trial per grid point."""
    return [Trial(job, number) for number in range(sweep().trials) for job in sweep().jobs]


def begin() -> Results:
    """Have the workers compute the diagram."""
    return on_workers(run_trial, trials())


def checked(given: object) -> Drawing:
    """Return a drawing that a browser has sent; InputError if it isn't one, as it may be anything."""
    columns, rows = scales()
    low, high = rows.edges[[0, -1]].tolist()
    values = given if isinstance(given, list) else []
    if len(values) != len(columns.values):
        got = f"{len(values)} values"
    elif all(type(value) in (int, float) and low <= value <= high for value in values):
        return tuple(map(float, values))
    else:
        got = "values outside of the diagram"
    expected = f"{len(columns.values)} values from {low:g} to {high:g}, one per column"
    raise InputError("drawing", expected, got, "draw the line again")


class DrawnPoll(Poll):
    """The contour that a class draws. A prediction is a `Drawing`."""

    title, text, axis, options = "Where is the success rate 50%?", TEXT, "", list[str]()

    def begin(self) -> Results:  # noqa: D102
        return begin()

    def truth(self, computed: Results, answers: Collection[Drawing] = ()) -> Truth:  # noqa: D102
        return Truth(-1, "" if computed.alive else class_words(answers, measured(computed)), {})

    def rows(self, answers: Collection[Drawing], computed: Results | None) -> list[dict[str, object]]:
        """Return a row per drawing and column: the drawn and, once it is computed, the measured contour."""
        columns, rows = scales()
        contour = measured(None if computed is None or computed.alive else computed)
        known = contour.assign(**{columns.name: contour.index}).to_dict("records")
        return [
            {"drawing": number, columns.name: row[columns.name], f"{rows.name} drawn": value}
            | {f"{rows.name} {name}": row[name] for name in ("half", "low", "high")}
            for number, drawing in enumerate(answers, 1)
            for value, row in zip(drawing, known, strict=True)
        ]


def results_of(computed: Results | None) -> SweepResults:
    """Return the trials that are computed so far as results of the sweep."""
    results = SweepResults(sweep())
    results.add({trials()[number]: result for number, result in progress.computed(computed).items()})
    return results


def measured(computed: Results | None) -> pd.DataFrame:
    """Return the measured 50% contour: half, low, high (95% interval) in each column, nan if none crosses 50%."""
    return _contour(computed, len(computed.values) if computed else 0)


@lru_cache(maxsize=4)
def _contour(computed: Results | None, count: int) -> pd.DataFrame:  # noqa: ARG001
    """Return the contour of so many trials, computed once for all students of a class."""
    columns, rows = scales()
    table = midpoints(sweep(), results_of(computed).table(sweep().contour.metric))
    known = table.set_index(AXIS)[["half", "low", "high"]]
    return known.reindex(list(columns.values)).astype(float).clip(*rows.edges[[0, -1]])


def distances(drawings: Collection[Drawing], contour: pd.DataFrame) -> Array:
    """Return the mean distance of each drawing from the measured contour, in grid rows."""
    half = contour["half"].to_numpy()
    # Columns that do not cross 50% have no distance.
    distance: Array = np.nanmean(np.abs(np.array([*drawings]) - half), axis=1) / row_step()
    return distance


def row_step() -> float:
    """Return the distance between two rows of the grid."""
    low, high = scales()[1].values[:2]
    return high - low


def own_words(line: Drawing, contour: pd.DataFrame) -> str:
    """Return how far a line is from the contour."""
    if contour["half"].isna().all():
        return ""
    [distance] = distances([line], contour)
    return f"Your line is {distance:.1f} grid rows from the measured contour, averaged over the columns."


def class_words(drawings: Collection[Drawing], contour: pd.DataFrame) -> str:
    """Return how far the lines of a class are from the contour, and how precisely trials determine it."""
    known = contour.dropna()
    if known.empty:
        return "The contour is unknown: no column was measured on both sides of 50%."
    words = []
    if drawings:
        scores = distances(drawings, contour)
        low, half, high = np.quantile(scores, [0.25, 0.5, 0.75])
        words += [f"{len(scores)} lines: the median is {half:.1f} grid rows from the measured contour."]
        words += [f"Half of the lines are {low:.1f} to {high:.1f} rows away, the best {scores.min():.1f}."]
    precision = float((known["high"] - known["low"]).mean()) / 2.0 / row_step()
    words += [f"Trials determine the contour to ±{precision:.1f} rows in {len(known)} of {len(contour)} columns."]
    return " ".join(words)


def figure(drawings: Collection[Drawing], computed: Results | None, mine: Drawing | None = None) -> Figure:
    """Return the diagram as far as it is computed, below the lines; `mine` is thick.

    After the last trial come the measured contour with its 95% intervals, and theory.
    """
    over = computed is not None and not computed.alive
    (columns, rows), drawn = scales(), maps(SweepData(results_of(computed)), View(RATE, False, False))
    # The contour of the map interpolates; crosses of points that wait would hide thin lines.
    drawn.data = [one for one in drawn.data if one.type != "contour" and one.name != NOT_MEASURED]
    others = [line for line in list(drawings)[-MOST_LINES:] if line != mine]
    # To the edges of the diagram, and apart by nan.
    x = [columns.edges[0], *columns.values, columns.edges[-1], np.nan]
    y = [value for line in others for value in (line[0], *line, line[-1], np.nan)]
    if others:
        theme.line(drawn, x * len(others), y, theme.faint(LINE, 0.75), width=1.5, name="lines of the class")
    if over:
        Layers(drawn, columns, rows).theory(plane().theory[0])
    if over and not (known := measured(computed).dropna()).empty:
        ends = {"array": known["high"] - known["half"], "arrayminus": known["half"] - known["low"]}
        look: dict[str, Any] = {"error_y": {**theme.BARS, **ends, "color": WHITE}}
        theme.line(drawn, known.index, known["half"], WHITE, width=6, **look)
        theme.line(drawn, known.index, known["half"], CONTOUR, width=3, name="measured contour")
    if mine:
        own = [mine[0], *mine, mine[-1]]
        theme.line(drawn, x[:-1], own, WHITE, width=7)
        theme.line(drawn, x[:-1], own, LINE, width=4, name="your line")
    return drawn


def ask(key: str, line: Drawing | None, taken: Any) -> None:
    """Show the empty diagram to draw on, with a former line; `taken` is called with whatever the browser sends."""

    def sent() -> None:
        taken(st.session_state[key].get("drawn"))

    sides = [
        {"title": axis.title, "name": axis.name, "values": axis.values, "ends": axis.edges[[0, -1]].tolist()}
        for axis in scales()
    ]
    plot.send("draw", key, {"plane": json.dumps({"sides": sides, "line": line})}, on_drawn_change=sent)


def show(link: Permalink) -> None:
    """Show the empty diagram, or, once a line is submitted, the diagram as it fills."""
    page.heading(TITLE)
    line = st.session_state.get(SUBMITTED)
    with st.container(horizontal=True, vertical_alignment="center", key="learn-bar"):
        st.button("All lessons", key="learn-cards", type="tertiary", on_click=lesson_view.open_lesson, args=(link, ""))
        room.offer(TITLE, lambda: [DrawnPoll()])
    text, diagram = st.columns(lesson_view.WIDTHS, gap="large")
    with text:
        st.markdown(TEXT)
        if line is not None:
            _buttons()
    with diagram:
        if line is None:
            ask("learn-draw", None, _take)
        else:
            live.follow(PAGE, lambda: _draw(line, live.current(PAGE)), partial(_parts, line))


def _take(sent: object) -> None:
    try:
        st.session_state[SUBMITTED] = checked(sent)
    except InputError as error:
        show_error(error)


def _buttons() -> None:
    running = live.current(PAGE)
    with page.row():
        if running is None or running.alive or running.done < running.total:
            live.buttons(PAGE, begin, ready=True, wanted=running is None, label="Compute")
        else:
            # Otherwise `follow` would draw the page again, for the buttons of a run that has ended.
            live.alive_as_shown(PAGE)
        st.button("Draw again", key="learn-redraw", on_click=partial(st.session_state.pop, SUBMITTED))
    progress.show(live.current(PAGE), PAGE, changed=False, button="Compute")


def _parts(line: Drawing, running: Any) -> Parts:
    return {**progress.parts(running, PAGE), "learn.diagram": figure([], running, line)}


def _draw(line: Drawing, running: Any) -> None:
    said = ""
    if running is not None and not running.alive:
        contour = measured(running)
        said = f"{own_words(line, contour)} {class_words([], contour)}"
        plot.send("status", "learn-score-status", {"words": said}, height=1)
    plot.show(figure([], running, line), key="learn.diagram", label=f"Phase diagram with your line. {said}")
    st.markdown(f"**{said}**" if said else "")
