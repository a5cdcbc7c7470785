"""Shows a run of solvers, its theory, and figures that follow a dragged slider: estimates, errors, tabs."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from functools import lru_cache, partial
from html import escape
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from lrlab import catalog
from lrlab.catalog import family, model_entry
from lrlab.engine.engine import on_workers, together
from lrlab.engine.live import LiveRun, LiveRuns
from lrlab.engine.results import Failure, Results
from lrlab.figures import convergence, recovery, theme
from lrlab.figures.build import Figure, Node
from lrlab.figures.recovery import MOST_POINTS, MOVING_MARKS, Recovery
from lrlab.figures.runs import measures_of, outcomes, real_parts, recoveries, truth_of
from lrlab.lowrank import LowRank
from lrlab.parameters import InputError, counted, display_name
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import quick_run
from lrlab.runs.trace import Trace
from lrlab.ui.converge import run_controls
from lrlab.ui.converge.run_controls import HEIGHT, LEGEND, PINNED, CurveSettings
from lrlab.ui.live import script_queue
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live, problem_controls, progress
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.permalink import Permalink

MOST_SIZES = 40
"""Number of sizes with a bound on all methods in one figure: each bound takes some seconds."""
TOO_LONG = "The theory shown is asymptotic: at so many different sizes it would take minutes."
WIDTHS = [1.35, 1.1, 0.72]
AXIS = 50
"""Height of the ticks and the title of an axis, in pixels."""


class Kind(NamedTuple):
    """The plot of a kind of estimates: the name of the live part, its figure, its frames, and words below it."""

    part: str
    figure: Callable[[], Figure]
    frames: Callable[[], Sequence[Node]]
    words: str


def kind(
    spec: Spec, drawn: Sequence[Recovery], *, height: int = 400, time: str = "iteration", most: int = MOST_POINTS
) -> Kind:
    """Return the plot of estimates against the ground truth; time: the clock of the frames; most: points per run."""
    make: Callable[[Sequence[Recovery]], Figure]
    truth = truth_of(spec)
    if spec.view(None) is not None:
        part, words, make = "picture", spec.view_words, partial(recovery.views, spec.view, height=height)
    elif truth is None:
        # A fit to labels has no ground truth to compare with; the figure shows its spectrum instead.
        words = "Singular values of the coefficients, features x labels, fitted by each solver."
        return Kind("converge.estimate", partial(recovery.singular_values, None, drawn, height=height), list, words)
    elif isinstance(truth, LowRank):
        cut = [side for side, size in zip(("rows", "columns"), truth.shape, strict=True) if size > recovery.SIDE]
        shown = f", {recovery.SIDE} of its {' and '.join(cut)}" if cut else ""
        words = f"The matrix, {truth.shape[0]} × {truth.shape[1]}{shown}."
        part, make = "matrices", partial(recovery.matrices, truth, height=height)
    elif side := spec.side:
        words = f"The ground truth is an image of {side} x {side} pixels; estimates use its gray levels."
        part, make = "picture", partial(recovery.pictures, real_parts(truth, spec), columns=2, height=height)
    else:
        real, signal = real_parts(truth, spec), catalog.family(spec.model).signal
        words = _vector_words(spec, len(real) <= recovery.STEMS, np.iscomplexobj(truth))
        if len(real) <= recovery.STEMS and any(run.intervals and np.isfinite(run.intervals.low).any() for run in drawn):
            words += " Bars: 95% intervals of the entries."
        part, make = "estimate", partial(recovery.recovery, real, symbol=signal, height=height, most=most)
    return Kind(f"converge.{part}", partial(make, drawn), partial(recovery.frames, make, drawn, time), words)


def _show_estimates(spec: Spec, drawn: Sequence[Recovery], following: Any, parts: Parts, time: str) -> None:
    """Draw the estimates against the truth, with a slider over the iterates, or over time, when the run is over."""
    own, frames = kind(spec, drawn, time=time), ""
    if following and not following.alive and any(len(run.history) > 1 for run in drawn):
        frames = live.once("converge:frames", (id(following), time), lambda: plot.encode_frames(own.frames()))
    what = "singular values" if truth_of(spec) is None and spec.view(None) is None else "estimates"
    label = f"{spec.title}: {what} of {', '.join(run.title for run in drawn)}"
    plot.show(parts[own.part], key=own.part, label=label, frames=frames, link="converge")
    st.container(key="converge-estimate-words").caption(own.words)


def _vector_words(spec: Spec, stems: bool, is_complex: bool) -> str:
    """Return the text of the figure of a vector: entry by entry, or estimates against the truth."""
    phase = f"with the {'phase' if is_complex else 'sign'} that is closest to the ground truth"
    aligned = {"nothing": "", "phase": f", each {phase}", "scale": f", each a unit vector {phase}"}[spec.undetermined]
    if stems:
        parts = " The real parts of all entries come first, then the imaginary ones." if is_complex else ""
        return f"Gray: the ground truth. Colors: the estimates{aligned}.{parts}"
    mark = "the real or the imaginary part of an entry" if is_complex else "an entry"
    return f"A mark: {mark}. On the gray line estimates are exact. Colors: the estimates{aligned}."


class Refinement:
    """Items of `theory.exact` that a page waits for; begun when it has shown the same ones for a while."""

    def __init__(self, items: list[Any]) -> None:
        self.items, self._since = items, time.monotonic()
        self._results: Results | None = None

    @property
    def alive(self) -> bool:
        """Whether something is still to come."""
        return self._results is None or self._results.alive

    @property
    def version(self) -> int:
        """A number that grows with what arrives."""
        return self._results.done if self._results else 0

    def refresh(self) -> None:
        """Begin once the page has been visible for a while, and take the results that have arrived."""
        if self._results is None:
            # A page that somebody leaves at once costs nothing.
            if time.monotonic() > self._since + 1.5:
                self._results = on_workers(theory.exact, self.items)
            return
        for result in self._results.refresh():
            # If this fails, the asymptotic limits stay.
            theory.cache(result.item, {} if isinstance(result.value, Failure) else result.value)

    def cancel(self) -> None:
        """Cancel the calculations."""
        if self._results is not None:
            self._results.cancel()


def refine_theory(page: str, jobs: Sequence[Job], *, bounds: bool = False) -> None:
    """Have theory refined at the sizes of jobs, say so while it is, and have the page drawn again when it is there.

    Calculations for other jobs end: the newest of a page count. bounds: only of all methods.
    """
    specs = theory.not_cached(job.spec for job in jobs)
    if len(specs) > MOST_SIZES:
        st.caption(TOO_LONG)
        return
    items = specs if bounds else [*specs, *theory.missing_draws(jobs)]
    pending: Refinement | None = st.session_state.get(f"{page}:theory")
    if pending and not set(items) <= set(pending.items):
        pending.cancel()
        pending = None
    if items and (pending is None or pending.alive):
        pending = pending or Refinement(items)
        st.session_state[f"{page}:theory"] = pending
        live.when_over(page, "theory", pending)
        st.caption("lrlab is computing the finite-size theory.")


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
        "converge.cards": run_controls.cards(runs, drawn, family(spec.model).measures),
    }
    if figures:
        parts["converge.curves"] = curves(settings, spec, drawn, alive)
        most = MOVING_MARKS if alive or dragged else MOST_POINTS
        own, truth = kind(spec, drawn, height=settings.height, most=most), truth_of(spec)
        parts[own.part] = own.figure()
        if isinstance(truth, LowRank) or (truth is None and own.part == "converge.picture"):
            parts["converge.values"] = recovery.singular_values(truth, drawn)
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
            changed = following and jobs and live.about("converge") != list(jobs)
            name, html = "converge.changed", "<mark>changed</mark> press Run" if changed else ""
            if alive:
                name, html = "converge.progress", parts["converge.progress"]
            progress.strip(html, name, alive=True)
        label = message(drawn, settings.measure)
        plot.show(parts["converge.curves"], key="converge.curves", label=label, link="converge")
    with recovered:
        st.markdown("**Recovered**")
        _show_estimates(spec, drawn, following, parts, settings.time)
    with measured:
        st.markdown("**Measured**")
        first = measured_parts(spec)
        words = first["converge.measured.words"]
        if "converge.measured" in first:
            plot.show(first["converge.measured"], key="converge.measured", label=f"measured: {words}")
        plot.words(words, key="converge.measured.words", small=True)
    with st.container(key="converge-equation"):
        st.latex(spec.equation)
    with st.container(key="converge-verdict"):
        plot.words(parts["converge.sentence"], key="converge.sentence")
    run_controls.show_tabs(settings, spec, runs, drawn, parts, ran=following is not None)


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


def refine() -> None:
    """Have theory computed at the size of the run that is shown, once it is over."""
    following = live.current("converge")
    if following is not None and not following.alive:
        refine_theory("converge", [run.job for run in following.runs])


@lru_cache(maxsize=64)
def measured_parts(spec: Spec) -> Parts:
    """Return the first measurements of a spec as live parts."""
    known = family(spec.model).measured(spec)
    words = {"converge.measured.words": escape(known.words)}
    if not known.panels:
        return words
    height = 300 if len(known.panels) != 2 else HEIGHT - 60
    return {"converge.measured": recovery.measured(known.panels, height), **words}


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


class Dragged:
    """What *Run* shows at every position of a dragged slider: runs that are quick, and theory, of workers.

    Called with a spec for each position of a slider. A solver that is not quick keeps a pale curve: that of the
    previous run, in `ran`, until a quick run ends early with some iterates, and then theirs.
    """

    def __init__(self, settings: CurveSettings, jobs: Sequence[Job], ran: Sequence[LiveRun] = ()) -> None:
        self._settings, self._jobs = settings, jobs
        self._rows = {run.job.solver: run.trace.rows for run in ran if run.trace.rows}
        self._slow_until = dict[str, float]()

    def __call__(self, spec: Spec) -> Parts:
        """Return the live parts for a spec."""
        jobs = [make_job(spec, job.solver, **dict(job.options), **job.limits._asdict()) for job in self._jobs]
        begun = time.monotonic()
        measures = family(spec.model).measures
        # If all are slow the first one shows how far it comes.
        quick = [job for job in jobs if self._slow_until.get(job.solver, 0.0) < begun] or jobs[:1]
        runs = {job: together.submit(quick_run, job) for job in quick}
        lines = {job: together.submit(theory.quick, job) for job in theory.not_cached(jobs, quickly=True)}
        measured = measured_parts(spec)
        with script_queue.pause():
            # Many tabs share the workers.
            wait([*runs.values(), *lines.values()], 2.0)
        for job, line in lines.items():
            if line.done() and not isinstance(line.result(), Failure):
                theory.cache(job, line.result(), exact=False)
        over = [self._over(job, runs.get(job)) for job in jobs]
        drawn, parts = shown(self._settings, over, dragged=True)
        late = [k for k, run in enumerate(over) if not run.over and run.job.solver in self._rows]
        if late:
            looks = list(drawn)
            for k in late:
                look, rows = drawn[k], self._rows[over[k].job.solver]
                title = f"{look.title} (after release)"
                looks[k] = Recovery(title, theme.pale(look.color), look.dash, look.symbol, rows)
            parts = {**parts, "converge.curves": curves(self._settings.of(measures), spec, looks, False)}
        return {**parts, **measured}

    def _over(self, job: Job, run: Any) -> LiveRun:
        """Return a run that is over, or one that has not begun if it isn't quick."""
        live = LiveRun(job)
        if run is None or not run.done():
            return live
        match run.result():
            case Trace(stop=Stop.CANCELLED) as trace:
                # It isn't quick here, and is tried again a second later.
                self._slow_until[job.solver] = time.monotonic() + 1.0
                if trace.rows:
                    self._rows[job.solver] = trace.rows
            case Trace() as trace:
                live.state, live.trace = "done", trace
            case Failure(sentence):
                live.state, live.error = "failed", sentence
        return live


def follow_sliders(link: Permalink, spec: Spec | InputError, settings: CurveSettings, jobs: Sequence[Job]) -> None:
    """Have the figures follow each slider of the problem while it is dragged."""
    following = live.current("converge")
    if jobs and isinstance(spec, Spec):
        ran = following.runs if following else ()
        problem_controls.follow_sliders(link, spec, Dragged(settings, jobs, ran))
