"""What a run of solvers looks like: curves, the estimate, a row a solver, the table."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.experiments.convergence import Job
from lrlab.figures import convergence, picture, recovery, theme
from lrlab.figures.convergence import MEASURES
from lrlab.figures.recovery import Recovery
from lrlab.protocol import Spec
from lrlab.ui import cards, controls, live, plot, tables
from lrlab.ui.permalink import Link


class View(NamedTuple):
    """What a person has chosen to see."""

    measure: str
    time: str
    log_x: bool
    log_y: bool


def choices(link: Link, sparse: bool) -> View:
    """Show what can be chosen about the curves."""
    measures = [name for name in MEASURES if sparse or name != "support"]
    measure = controls.choose(
        link, "show", {name: name for name in measures}, "error", MEASURES["error"].meaning, "Show"
    )
    time = controls.choose(
        link, "against", {"iteration": "iteration", "seconds": "seconds"}, "iteration",
        "iterations, or the time a solver took, scoring not counted", "against",
    )  # fmt: skip
    scale = controls.choose(
        link, "axes", {"linear": "linear", "log-y": "log y", "log-x": "log x", "log-log": "log-log"}, "log-y",
        "which axes are logarithmic; an objective that is not positive stays linear", "axes",
    )  # fmt: skip
    return View(measure, time, scale in ("log-x", "log-log"), scale in ("log-y", "log-log"))


def recoveries(spec: Spec, runs: Sequence[Any]) -> list[Recovery]:
    """Return engine's runs as they are drawn; a solver has its own colour on a model, whichever others run."""
    names = [entry.name for entry in catalog.solvers_for(spec.model)]
    colour, dash, symbol = theme.colours(names), theme.dashes(names), theme.symbols(names)
    drawn = []
    for run in runs:
        name, trace = run.job.solver, getattr(run, "trace", None)
        drawn.append(
            Recovery(
                run.job.entry.title,
                colour[name],
                dash[name],
                symbol[name],
                rows=trace.rows if trace else (),
                predictions=run.job.predictions,
                history=trace.history if trace else (),
                estimate=trace.estimate if trace else None,
            )  # fmt: skip
        )
    return drawn


class Waiting(NamedTuple):
    """A job that has not been started: it shows its problem and its prediction."""

    job: Job


def draw(view: View, jobs: Sequence[Job]) -> None:
    """Draw the run that is followed, or, before the first one, what is about to be run."""
    following = live.current("converge")
    runs = following.runs if following else [Waiting(job) for job in jobs]
    if not runs:
        st.info("Choose a solver on the left that can handle this problem.")
        return
    spec = runs[0].job.spec
    drawn = recoveries(spec, runs)
    progress(following)
    changed = following and jobs and jobs[0].spec != spec
    st.caption(described(spec) + (". **The settings have changed since: press Run.**" if changed else ""))
    curves, found = st.columns([1.35, 1], gap="medium")
    with curves:
        figure = convergence.curves(
            drawn, view.measure, view.time, log_x=view.log_x, log_y=view.log_y, height=370 + 14 * len(runs)
        )
        plot.show(figure, key="converge.curves", label=f"{view.measure} against {view.time}")
        st.caption(f"**{view.measure}**: {MEASURES[view.measure].meaning}. " + theory_words(drawn))
    with found:
        estimate(spec, drawn, following)
    if following:
        cards.show(following.runs, drawn)
        tables.show(
            lambda: table(following.runs), key="converge-table", file=f"{spec.model}-convergence",
            note="One row an iterate. seconds: solver time. " + meanings(),
        )  # fmt: skip


def theory_words(drawn: Sequence[Recovery]) -> str:
    """Say what the dashed lines are, where there are any."""
    if not any(run.predictions for run in drawn):
        return ""
    return "Dashed: the exact prediction at this n/p, for large n and p, of where the solver ends."


def meanings() -> str:
    """Return what each score means."""
    return " ".join(f"{name}: {measure.meaning}." for name, measure in MEASURES.items())


def described(spec: Spec, *, without: Sequence[str] = ()) -> str:
    """Return a spec in one line."""
    values = {k: v for k, v in spec.public_values().items() if k not in ("picture", "seed", *without)}
    values["seed"] = spec.seed
    return f"{spec.title}: " + ", ".join(
        f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in values.items()
    )


def progress(following: Any) -> None:
    """Show how far a run is, and how long it can take at most."""
    # Empty where nothing runs: figures that moved to another place would be drawn from scratch, and lose their zoom.
    place = st.empty()
    if following is None or not following.alive:
        return
    shares, left = zip(*(share_and_rest(run) for run in following.runs), strict=True)
    done = sum(run.state in ("done", "failed") for run in following.runs)
    words = f"{done} of {len(following.runs)} solvers done, at most {live.duration(max(left))} left"
    place.progress(min(1.0, sum(shares) / len(shares)), text=words)


def share_and_rest(run: Any) -> tuple[float, float]:
    """Return how much of a run's limits is used, and the seconds that it can still take."""
    if run.state in ("done", "failed"):
        return 1.0, 0.0
    limits, rows = run.job.limits, run.trace.rows if run.trace else []
    if not rows:
        return 0.0, limits.max_seconds
    seconds, count = rows[-1]["seconds"], len(rows)
    by_iterations = seconds / count * (limits.max_iter - count)
    share = max(count / limits.max_iter, seconds / limits.max_seconds if limits.max_seconds else 1.0)
    return share, max(0.0, min(by_iterations, limits.max_seconds - seconds))


def estimate(spec: Spec, drawn: Sequence[Recovery], following: Any) -> None:
    """Draw the estimates against the truth: as pictures where the truth is one; with a slider when the run is over."""
    truth = truth_of(spec)
    side = getattr(spec, "side", 0)
    frames = ""
    if following and not following.alive and any(len(run.history) > 1 for run in drawn):
        make = picture.picture_frames if side else recovery.recovery_frames
        frames = live.once("converge:frames", id(following), lambda: plot.encode_frames(make(truth, drawn)))
    if side:
        figure = picture.pictures(truth, drawn, columns=2)
        words = f"The truth is a picture of {side} x {side} pixels; every estimate in the truth's grey levels."
    else:
        figure = recovery.recovery(truth, drawn, legend=False, height=360)
        words = "Grey: the truth, a unit vector. Colours: the estimates, each with the sign nearer to it."
    plot.show(figure, key="converge.picture" if side else "converge.estimate", label="estimates", frames=frames)
    st.caption(words + (" The slider leads through the kept iterates." if frames else ""))


@st.cache_data(max_entries=64, show_spinner=False)
def truth_of(spec: Spec) -> Any:
    """Return the truth of a spec."""
    return spec.build().truth


def table(runs: Sequence[Any]) -> pd.DataFrame:
    """Return all iterates of all runs, with the predictions."""
    rows = [
        {"solver": run.job.solver, **row, **run.job.predictions}
        for run in runs
        for row in (run.trace.rows if run.trace else ())
    ]
    return pd.DataFrame(rows, columns=None if rows else ["solver", "iteration", "seconds"])


def seen() -> bool:
    """Tell whether the followed run has anything to show."""
    following = live.current("converge")
    return following is None or any(run.trace and run.trace.rows for run in following.runs)


def finite(value: float | None) -> bool:
    """Tell whether there is a number to show."""
    return value is not None and math.isfinite(value)
