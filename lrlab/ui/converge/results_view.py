"""Shows a run of solvers: equation, verdict, measurements, estimates, error; tabs with the rest."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Any

import streamlit as st

from lrlab.catalog import family, model_entry
from lrlab.engine.live import LiveRun, LiveRuns
from lrlab.figures import convergence, picture, theme
from lrlab.figures.build import Figure
from lrlab.figures.recovery import MOST_POINTS, MOVING_MARKS, Recovery
from lrlab.figures.runs import measures_of, outcomes, recoveries, truth_of
from lrlab.model_entry import Measured
from lrlab.parameters import InputError, counted, display_name
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.ui.converge import estimates, refinement, result_tabs
from lrlab.ui.converge.run_controls import HEIGHT, LEGEND, PINNED, CurveSettings
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import plot

WIDTHS = [1.35, 1.1, 0.72]
AXIS = 50
"""Height of the ticks and the title of an axis, in pixels."""
CHANGED = "converge.changed"


def shown(
    settings: CurveSettings,
    runs: Sequence[LiveRun],
    *,
    alive: bool = False,
    dragged: bool = False,
    figures: bool = True,
) -> tuple[Sequence[Recovery], Parts]:
    """Return runs with their looks, and their live parts; they may still grow or follow a slider.

    figures: whether the parts contain figures.
    """
    spec = runs[0].job.spec
    settings, drawn = settings.of(family(spec.model).measures), recoveries(spec, runs)
    sentence = escape(family(spec.model).verdict(spec, outcomes(runs, drawn)))
    begun = alive or any(run.trace.rows for run in runs)
    parts: dict[str, Any] = {
        "converge.sentence": f"<strong>{sentence}</strong>" if begun else f"{sentence} Press Run.",
        "converge.progress": progress.run_bar(runs) if alive else "",
        "converge.cards": result_tabs.cards(runs, drawn, family(spec.model).measures),
    }
    if figures:
        parts["converge.curves"] = curves(settings, spec, drawn, alive)
        most = MOVING_MARKS if alive or dragged else MOST_POINTS
        parts |= estimates.figures(spec, truth_of(spec), drawn, settings.height, most)
    return drawn, parts


def live_parts(settings: CurveSettings) -> Callable[[LiveRuns], Parts]:
    """Return what makes the live parts of the run that is followed."""
    rows = 0

    def parts(following: LiveRuns) -> Parts:
        # The place of a run that waits changes with every end of another: its figures are those that the script drew.
        nonlocal rows
        before, rows = rows, sum(len(run.trace.rows) for run in following.runs)
        return shown(settings, following.runs, alive=True, figures=rows != before)[1]

    return parts


def draw(settings: CurveSettings, jobs: Sequence[Job], wanted: object) -> None:
    """Draw the run that is followed, or, before the first one, the chosen jobs with their predictions.

    wanted: the spec, or the InputError of its parameters, which the page shows.
    """
    following = live.current("converge")
    runs = following.runs if following else [LiveRun(job) for job in jobs]
    if not runs:
        if not isinstance(wanted, InputError):
            st.info("Choose a solver on the left that can handle this problem.")
        return
    spec, alive = runs[0].job.spec, following is not None and following.alive
    settings = settings.of(family(spec.model).measures)
    drawn, parts = shown(settings, runs, alive=alive)
    curve, recovered, measured = st.columns(WIDTHS, gap="medium")
    with curve:
        with st.container(horizontal=True):
            st.markdown(f"**{settings.title}**", width="content")
            name = "converge.progress" if alive else CHANGED
            progress.strip({**parts, **changes(jobs)}[name], name, alive=True)
        label = message(drawn, settings.measure)
        plot.show(parts["converge.curves"], key="converge.curves", label=label, link="converge")
    with recovered:
        st.markdown("**Recovered**")
        estimates.show(spec, truth_of(spec), drawn, following, parts, settings.time)
    with measured:
        show_measured(measured_parts(spec))
    with st.container(key="converge-equation"):
        st.latex(spec.equation)
    with st.container(key="converge-verdict"):
        plot.words(parts["converge.sentence"], key="converge.sentence")
    result_tabs.show(settings, spec, runs, drawn, parts, ran=following is not None)


def pin_button() -> None:
    """Show the button that keeps the curves of a run under the next ones, or forgets them."""
    following = live.current("converge")
    if st.session_state.get(PINNED):
        st.button("Unpin", key="converge-unpin", on_click=st.session_state.pop, args=(PINNED,))
    elif following is not None and not following.alive and any(run.trace.rows for run in following.runs):
        words = "Pale curves of this run stay under the next runs."
        st.button("Pin this run", key="converge-pin", help=words, on_click=_pin, args=(following.runs,))


def _pin(runs: Sequence[LiveRun]) -> None:
    spec = runs[0].job.spec
    kept = [
        replace(run, title=f"{run.title}, pinned", color=theme.pale(run.color), predictions={})
        for run in recoveries(spec, runs)
    ]
    st.session_state[PINNED] = model_entry(spec.model).family.name, tuple(kept)


def changes(jobs: Sequence[Job]) -> Parts:
    """Return the live part that says whether the jobs differ from the run that the page follows."""
    following = live.current("converge")
    changed = following and jobs and live.about("converge") != list(jobs)
    return {CHANGED: "<mark>changed</mark> press Run" if changed else ""}


def refine() -> None:
    """Have theory computed at the size of the run that is shown, once it is over."""
    following = live.current("converge")
    if following is not None and not following.alive:
        refinement.show("converge", [run.job for run in following.runs])


def measured_parts(spec: Spec) -> Parts:
    """Return the first measurements of a spec as live parts."""
    known = measured_of(spec)
    words = {"converge.measured.words": escape(known.words)}
    if not known.panels:
        return words
    height = 300 if len(known.panels) != 2 else HEIGHT - 60
    return {"converge.measured": picture.measured(known.panels, height), **words}


def show_measured(parts: Parts) -> None:
    """Show the first measurements."""
    st.markdown("**Measured**")
    words = parts["converge.measured.words"]
    if "converge.measured" in parts:
        plot.show(parts["converge.measured"], key="converge.measured", label=f"measured: {words}")
    plot.words(words, key="converge.measured.words", small=True)


@lru_cache(maxsize=64)
def measured_of(spec: Spec) -> Measured:
    """Return the first measurements of a spec."""
    return family(spec.model).measured(spec)


def curves(settings: CurveSettings, spec: Spec, drawn: Sequence[Recovery], alive: bool) -> Figure:
    """Return the figure of a measure of all runs, with their ends; its axis has the height of the axis of estimates."""
    figure = convergence.curves(
        [*settings.pinned, *drawn],
        settings.measure,
        settings.time,
        measures=measures_of(spec),
        log_x=settings.log_x,
        log_y=settings.log_y,
        height=settings.height,
        hold=True,
        growing=alive,
    )
    named = theme.name_ends(figure, [run.title for run in drawn])
    return named.update_layout(height=settings.height + LEGEND, margin_b=LEGEND + AXIS)


def message(drawn: Sequence[Recovery], measure: str) -> str:
    """Return the message of the curves: the last value of each run, and the prediction."""
    words = []
    for run in drawn:
        if run.rows and measure in run.rows[-1]:
            predicted = convergence.prediction(run.predictions, measure)
            theory = f", predicted {predicted:.2g}" if predicted is not None else ""
            last = f"{run.rows[-1][measure]:.2g} after {counted(int(run.rows[-1]['iteration']), 'iteration')}"
            words.append(f"{run.title}: {display_name(measure)} {last}{theory}")
    return ". ".join(words) or f"{display_name(measure)} of {', '.join(run.title for run in drawn)}: nothing is run yet"
