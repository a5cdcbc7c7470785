"""The part of *own data* for measurements: solvers, their misfit on what is held out, what they recover."""

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.figures import convergence, picture, theme
from lrlab.figures.build import Figure, trace
from lrlab.figures.ends import name_ends
from lrlab.lowrank import LowRank
from lrlab.model_entry import Panel
from lrlab.own import saved
from lrlab.own.answers import REFINEMENT, OwnAnswersProblem
from lrlab.own.recover import first_solver, in_units, kind_of
from lrlab.own.tables import OwnTableProblem
from lrlab.parameters import InputError
from lrlab.runs.drawn import measures_of, recoveries
from lrlab.runs.job import Job
from lrlab.runs.trace import Trace
from lrlab.ui.converge import result_tabs
from lrlab.ui.live.changes import State
from lrlab.ui.live.tabs import View
from lrlab.ui.own_data import measurements_source
from lrlab.ui.own_data.measurements_source import OwnProblem
from lrlab.ui.shared import live, page, progress, solver_controls
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

PAGE = "own_measurements"
HEIGHT = 360
BESIDE = {("flipped-logistic", REFINEMENT): ("logistic",), ("inductive-completion", "als"): ("soft-impute",)}
"""By model and first solver: those that run at first beside it."""


def show(link: Permalink, kind: str) -> None:
    """Show measurements, solvers, and what they recover."""
    with st.sidebar:
        shown = measurements_source.choose(link, kind)
        limits = solver_controls.choose_limits(link)
        st.header("Solvers", anchor=False)
        ready = shown if isinstance(shown, OwnProblem) else None
        model = ready.model if ready else measurements_source.MODELS[kind][0]
        spec: Any = ready.spec if ready else InputError("measurements", "chosen above", "none", "upload a file")
        first = first_solver(kind_of(model)[0], *(ready.given[1:3] if ready else ()))
        jobs = solver_controls.choose_jobs(link, model, spec, limits, default=(first, *BESIDE.get((model, first), ())))
    page.show_errors(shown, limits)
    if ready:
        st.caption(plain(ready.words))
    elif shown is None:
        st.info(measurements_source.FILES[kind])
    live.buttons(PAGE, lambda: get_engine().follow(jobs), ready=bool(jobs), about=ready)
    live.follow(PAGE, lambda: draw(kind, jobs), live_view(kind))
    if ready and jobs:
        page.fold_code(python(ready, jobs), shell(ready, jobs))


def parts_of(runs: Sequence[Any], alive: bool) -> State:
    """Return the live parts of runs: progress, curves of the misfit, a card for each."""
    spec = runs[0].job.spec
    measures, drawn = measures_of(spec), recoveries(spec, runs)
    first = next(iter(measures)) if spec.held.any() else list(measures)[1]
    curves = convergence.curves(
        drawn, first, "iteration", measures=measures, log_x=False, log_y=True, height=HEIGHT, hold=True, growing=alive
    )
    return {
        f"{PAGE}.progress": progress.run_bar(runs) if alive else "",
        f"{PAGE}.curves": name_ends(curves, [run.title for run in drawn]),
        f"{PAGE}.cards": result_tabs.cards(runs, drawn, measures),
    }


def live_view(kind: str) -> View | None:
    """Return the view of the run that is followed, for its live channel; none of another kind of measurements."""
    running = live.current(PAGE)
    return (lambda: parts_of(running.runs, True)) if running is not None and is_of(kind) else None


def is_of(kind: str) -> bool:
    """Return whether the run that is followed is of this kind of measurements."""
    return live.about(PAGE) is not None and live.about(PAGE).model in measurements_source.MODELS[kind]


def draw(kind: str, jobs: Sequence[Job]) -> None:
    """Draw the run that is followed, and what it has recovered. jobs: what is chosen now, of this kind."""
    running, about = live.current(PAGE), live.about(PAGE)
    if running is None or not is_of(kind):
        st.caption("The misfit on measurements that are held out appears here, and what is recovered.")
        return
    parts = parts_of(running.runs, running.alive)
    progress.strip(parts[f"{PAGE}.progress"], f"{PAGE}.progress", alive=running.alive)
    if list(jobs) != [run.job for run in running.runs]:
        st.caption("**The measurements or settings have changed since this run: press Run.**")
    measure = next(iter(measures_of(running.runs[0].job.spec).values()))
    left, right = st.columns([1, 1.1], gap="medium")
    with left:
        plot.show(parts[f"{PAGE}.curves"], key=f"{PAGE}.curves", label=f"{measure.title} by iteration")
        st.caption(f"**{measure.title}**: {measure.meaning}.")
    with right:
        done = {run.job.entry.title: run for run in running.runs if run.over and run.trace.estimate is not None}
        if done and not running.alive:
            titles = {run.job.solver: title for title, run in done.items()}
            chosen = st.selectbox("Recovered by", list(titles.values()), key=f"{PAGE}-solver")
            recovered(in_units(done[chosen].trace), about)
    plot.words(parts[f"{PAGE}.cards"], key=f"{PAGE}.cards")


def recovered(shown: Trace, about: OwnProblem) -> None:
    """Draw what a solver has recovered, and offer it as a file."""
    problem: Any = shown.problem
    plot.show(figure(shown), key=f"{PAGE}.recovered", label="what is recovered")
    if isinstance(problem, OwnAnswersProblem):
        st.caption("The chance of the larger answer along the direction, with its 95% band.")
        if len(problem.y_held):
            losses = shown.link.compared(problem.rows_held, problem.y_held)
            words = ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())
            st.caption(f"Log loss of held-out answers by link: {words}.")
    table = saved.recovered_table(shown, about.given)
    tables.view(table)
    tables.download_csv("Download CSV", table, "recovered", key=f"{PAGE}-csv")


def figure(shown: Trace) -> Figure:
    """Return the picture of what is recovered: the link of answers, the image, the table, or the units of a form."""
    problem: Any = shown.problem
    what: Any = shown.estimate
    if isinstance(problem, OwnAnswersProblem):
        return link_figure(shown)
    if isinstance(problem, OwnTableProblem):
        return picture.measured([Panel("completed table", problem.completed(what))], HEIGHT)
    if isinstance(what, LowRank):
        two = np.shape(what.U) != np.shape(what.V) or not np.allclose(what.U, what.V)
        units = [Panel("left units" if two else "hidden units", (what.U * np.abs(what.s)).T)]
        return picture.measured(units + [Panel("right units", what.V.T)] * two, HEIGHT)
    image = np.abs(what) if np.ndim(what) == 2 else np.vstack([np.real(what), np.imag(what)])
    return picture.measured([Panel("image, up to a phase" if np.ndim(what) == 2 else "real, imaginary", image)], HEIGHT)


def link_figure(shown: Trace) -> Figure:
    """Return the link as a curve with its band."""
    link, colour = shown.link.table, theme.PALETTE[0]
    look: dict[str, Any] = {"mode": "lines", "line": {"width": 0, "color": colour}, "hoverinfo": "skip"}
    chart = Figure(trace("scatter", x=link["index"], y=link["low"], showlegend=False, **look))
    band = {"fill": "tonexty", "fillcolor": theme.faint(colour, 0.2), "name": "95% band"}
    chart.add_trace(trace("scatter", x=link["index"], y=link["high"], **look, **band))
    line = {"mode": "lines", "line": {"color": colour, "width": 2}, "name": "chance"}
    chart.add_trace(trace("scatter", x=link["index"], y=link["chance"], **line))
    chart.update_yaxes(range=[0, 1])
    return theme.style(chart, "index", "chance of the larger answer", height=HEIGHT)


def python(shown: OwnProblem, jobs: Sequence[Any]) -> str:
    """Return the runs as Python."""
    if name := measurements_source.example_name(shown):
        lines = ["from lrlab.own.examples import example", "", f"given = example({name!r}).make()"]
    else:
        columns = ", ".join(f"{key}={value!r}" for key, value in shown.columns._asdict().items() if value)
        lines = ["from lrlab.own.files import Columns, read_measurements", ""]
        lines += [f"given = read_measurements({shown.file!r}, Columns({columns}))"]
    options = "".join(f", {key}={value!r}" for key, value in shown.options.items())
    runs = [
        f"{job.solver.replace('-', '_')} = lrlab.recover(given.y, given.X, given.Z, model={shown.model!r}, "
        f"solver={job.solver!r}{options})"
        for job in jobs
    ]
    prints = [f"print({job.solver.replace('-', '_')}.metrics)" for job in jobs]
    return "\n".join(["import lrlab", *lines, *runs, *prints])


def shell(shown: OwnProblem, jobs: Sequence[Any]) -> str:
    """Return the runs as commands."""
    file = f"example:{name}" if (name := measurements_source.example_name(shown)) else shown.file
    said = [f"--set {key}={value}" for key, value in shown.options.items()]
    y, Z, triples = shown.columns
    said += [f"--{name} {shlex.quote(value)}" for name, value in (("y", y), ("z", Z)) if value]
    said += ["--triples"] * triples
    command = f"python -m lrlab recover {shlex.quote(file)} --model {shown.model}"
    return "\n".join(" ".join([command, f"--solver {job.solver}", *said]) for job in jobs)
