"""What a run of solvers looks like: curves, the estimate, a row a solver, the table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.catalog.families import family
from lrlab.figures import convergence, theme
from lrlab.figures.measures import CONSTANT, MEASURES, Measure
from lrlab.figures.recovery import Recovery
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.ui.converge import cards, estimates
from lrlab.ui.shared import live
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Link


class View(NamedTuple):
    """What a person has chosen to see."""

    measure: str
    time: str
    log_x: bool
    log_y: bool


def choices(link: Link, model: str, spec: object) -> View:
    """Show what can be chosen about the curves."""
    known = measures(model)
    names = [name for name in known if name not in absent(model, spec)]
    words = {name: display_name(name) for name in names}
    measure = controls.choose(link, "show", words, names[0], known[names[0]].meaning, "Show")
    time = controls.choose(
        link, "against", {"iteration": "iteration", "seconds": "seconds"}, "iteration",
        "iterations, or the time a solver took, scoring not counted", "against",
    )  # fmt: skip
    scale = controls.choose(
        link, "axes", {"linear": "linear", "log-y": "log y", "log-x": "log x", "log-log": "log-log"}, "log-y",
        "which axes are logarithmic; an objective that is not positive stays linear", "axes",
    )  # fmt: skip
    return View(measure, time, scale in ("log-x", "log-log"), scale in ("log-y", "log-log"))


def measures(model: str) -> Mapping[str, Measure]:
    """Return the scores of a model's family."""
    return MEASURES[family(model).name]


def absent(model: str, spec: object) -> set[str]:
    """Return the scores that a model, or a spec of it, does not have, and those that no iterate changes."""
    nothing = set(CONSTANT)
    if not (isinstance(spec, Spec) and spec.values().get("sparsity")):
        nothing.add("support")
    if model not in ("polynomial-network", "multilabel-regression"):
        nothing.add("test_error")
    if model != "inductive-completion":
        nothing.add("cold_error")
    return nothing


def recoveries(spec: Spec, runs: Sequence[Any]) -> list[Recovery]:
    """Return engine's runs as they are drawn; a solver has its own colour on a model, whichever others run."""
    names = [entry.name for entry in catalog.solvers_for(spec.model)]
    colour, dash, symbol = theme.colours(names), theme.dashes(names), theme.symbols(names)
    shown = estimates.aligned(spec, truth_of(spec))
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
                history=[(k, shown(estimate)) for k, estimate in trace.history] if trace else (),
                estimate=shown(trace.estimate) if trace and trace.estimate is not None else None,
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
            drawn, view.measure, view.time, family=family(spec.model).name, log_x=view.log_x, log_y=view.log_y,
            height=370 + 14 * len(runs),
        )  # fmt: skip
        plot.show(figure, key="converge.curves", label=f"{view.measure} against {view.time}")
        meaning = measures(spec.model)[view.measure].meaning
        st.caption(f"**{display_name(view.measure)}**: {meaning}. " + theory_words(drawn, view.measure))
        estimates.show_values(truth_of(spec), drawn)
    with found:
        estimates.show(spec, truth_of(spec), drawn, following)
    if following:
        cards.show(following.runs, drawn, measures(spec.model))
        tables.show(
            lambda: table(following.runs), key="converge-table", file=f"{spec.model}-convergence",
            note="One row an iterate. seconds: solver time. " + meanings(spec.model),
        )  # fmt: skip


def theory_words(drawn: Sequence[Recovery], measure: str) -> str:
    """Say what the lines and marks of theory are, where there are any."""
    if any(convergence.prediction(run.predictions, f"start_{measure}") is not None for run in drawn):
        return "Star: the exact prediction of the start, for large m and p."
    if all(convergence.prediction(run.predictions, measure) is None for run in drawn):
        return ""
    return "Dashed: the exact prediction at this n/p, for large n and p, of where the solver ends."


def meanings(model: str) -> str:
    """Return what each score of a model means."""
    return " ".join(f"{name}: {measure.meaning}." for name, measure in measures(model).items())


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


@st.cache_data(max_entries=64, show_spinner=False)
def truth_of(spec: Spec) -> Any:
    """Return the truth of a spec."""
    return getattr(spec.build(), "truth", None)


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
