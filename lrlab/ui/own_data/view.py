"""The results of *Your data*: curves of the held-out score, the estimate, a baseline, and code."""

import shlex
from collections.abc import Sequence
from typing import Any

import streamlit as st

from lrlab.data.label_task import FIRST
from lrlab.data.recover import Fit, in_units
from lrlab.data.responses import ResponsesProblem
from lrlab.engine.engine import get_engine
from lrlab.figures import picture, theme
from lrlab.figures.build import Figure
from lrlab.figures.runs import measures_of, recoveries
from lrlab.model_entry import Panel
from lrlab.parameters import InputError
from lrlab.runs.job import Job
from lrlab.ui.converge import result_tabs, results_view
from lrlab.ui.converge.run_controls import HEIGHT, CurveSettings
from lrlab.ui.live.tabs import Parts
from lrlab.ui.own_data.source import Shown
from lrlab.ui.shared import code, live, page, progress, solver_controls
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain, with_code

PAGE = "own_data"
BESIDE = {"flipped-logistic": ("glm",), "inductive-completion": ("soft-impute",), "multilabel": FIRST}
"""By model: solvers that run at first, besides the default one."""
BEFORE = "The metric on held-out data and the estimate appear here."


def show(link: Permalink, shown: Shown | InputError | None) -> None:
    """Show lrlab's reading, solvers, and their estimates."""
    ready = shown if isinstance(shown, Shown) else None
    page.show_errors(shown)
    jobs: list[Job] = []
    if ready:
        st.markdown(with_code(ready.words))
        jobs = choose_jobs(link, ready)
    live.buttons(PAGE, lambda: get_engine().follow(jobs), ready=bool(jobs), about=ready)
    live.follow(PAGE, lambda: draw(jobs), lambda running: parts_of(running.runs, True))
    if ready and jobs:
        page.fold_code(python(ready, jobs), shell(ready, jobs))


def choose_jobs(link: Permalink, ready: Shown) -> list[Job]:
    """Show solvers and limits of a run; return the jobs."""
    first = ready.task.default_solver()
    beside = () if first == "altmin" else BESIDE.get(ready.task.model, ())
    with st.sidebar:
        limits = solver_controls.choose_limits(link)
        jobs = solver_controls.choose_jobs(
            link, ready.task.model, ready.spec, limits, default=(first, *beside), recommended=1 + len(beside)
        )
    return [] if page.show_errors(limits) else jobs


def parts_of(runs: Sequence[Any], alive: bool) -> Parts:
    """Return the live parts of runs: progress, curves of the score, a card for each."""
    spec = runs[0].job.spec
    measures, drawn = measures_of(spec), recoveries(spec, runs)
    names = list(measures)
    first = names[0] if spec.held.any() or spec.model == "multilabel" else names[1]
    settings = CurveSettings(first, "iteration", log_y=True).of(measures)
    return {
        f"{PAGE}.progress": progress.run_bar(runs) if alive else "",
        f"{PAGE}.curves": results_view.curves(settings, spec, drawn, alive),
        f"{PAGE}.cards": result_tabs.cards(runs, drawn, measures),
    }


def draw(jobs: Sequence[Job]) -> None:
    """Draw the run that the page follows, and its estimates. jobs: the current choice."""
    running, about = live.current(PAGE), live.about(PAGE)
    if running is None or about is None:
        st.caption(BEFORE)
        return
    parts = parts_of(running.runs, running.alive)
    progress.strip(parts[f"{PAGE}.progress"], f"{PAGE}.progress", alive=running.alive)
    if list(jobs) != [run.job for run in running.runs]:
        st.caption("**The data or settings have changed since this run: press Run.**")
    measure = next(iter(measures_of(running.runs[0].job.spec).values()))
    left, right = st.columns([1, 1.1], gap="medium")
    with left:
        plot.show(parts[f"{PAGE}.curves"], key=f"{PAGE}.curves", label=f"{measure.title} by iteration")
        st.caption(f"**{measure.title}**: {measure.meaning}.")
    with right:
        done = {run.job.entry.title: run for run in running.runs if run.over and run.trace.estimate is not None}
        if done and not running.alive:
            chosen = st.selectbox("Recovered by", list(done), key=f"{PAGE}-solver")
            recovered(Fit(about.task, in_units(done[chosen].trace)))
    plot.words(parts[f"{PAGE}.cards"], key=f"{PAGE}.cards")


def recovered(fit: Fit) -> None:
    """Draw the estimate of a solver, its score next to a baseline, and offer it as files."""
    plot.show(figure(fit), key=f"{PAGE}.recovered", label="what is recovered")
    if (compared := fit.compared) is not None:
        st.markdown(f"**{plain(str(compared))}**")
    if note := fit.trace.summary()["message"]:
        st.caption(plain(note))
    table = fit.table
    tables.view(table)
    with st.container(horizontal=True):
        tables.download_csv("Estimate (CSV)", table, "recovered", key=f"{PAGE}-csv")
        title = "Model (.npz)" if fit.task.model == "multilabel" else "Estimate (.npz)"
        tables.download(title, fit.packed, "recovered.npz", key=f"{PAGE}-npz")


def figure(fit: Fit) -> Figure:
    """Return the picture of an estimate: the link of responses, or matrices and images."""
    problem: Any = fit.trace.problem
    if not isinstance(problem, ResponsesProblem):
        return picture.measured([Panel(*part) for part in problem.parts(fit.trace).items()], HEIGHT)
    link, color = fit.trace.link.table, theme.PALETTE[0]
    chart = Figure()
    theme.band(chart, link["index"], link["low"], link["high"], color, "95% band")
    theme.line(chart, link["index"], link["probability"], color, name="probability", hover=None)
    chart.update_yaxes(range=[0, 1])
    return theme.style(chart, "index", "probability of the larger response", height=HEIGHT)


def said(shown: Shown, job: Job) -> dict[str, Any]:
    """Return the settings of the data and of a job that are not their defaults, as `fit` takes them."""
    return {**shown.options, **code.settings(job)}


def python(shown: Shown, jobs: Sequence[Job]) -> str:
    """Return the runs as Python."""
    lines = ["import lrlab"]
    if shown.example:
        lines += ["from lrlab.data.examples import example", "", f"given = example({shown.example!r}).make()"]
        start = f"given.y, given.X, given.Z, model={shown.task.model!r}"
    else:
        words = ", ".join(f"{name}={value!r}" for name, value in shown.hints.given.items())
        lines += ["from lrlab.data.hints import Hints", "", f"hints = Hints({words})"]
        files = {role: name for role, name in shown.files.items() if role != "file"}
        files |= {"labels": shown.labels} if shown.labels else {}
        start = ", ".join([repr(shown.files["file"]), "hints", *(f"{role}={name!r}" for role, name in files.items())])
    for job in jobs:
        name, call = job.solver.replace("-", "_"), "recover" if shown.example else "fit"
        options = "".join(f", {key}={value!r}" for key, value in said(shown, job).items())
        lines.append(f"{name} = lrlab.{call}({start}, solver={job.solver!r}{options})")
        lines.append(f"print({name}{'' if shown.example else '.trace'}.metrics)")
    return "\n".join(lines)


def shell(shown: Shown, jobs: Sequence[Job]) -> str:
    """Return the runs as commands."""
    words = ["python -m lrlab fit", shlex.quote(shown.files.get("file", f"example:{shown.example}"))]
    words += ["--model", shown.task.model] if shown.example else []
    given = {name.lower(): value for name, value in shown.hints.given.items()}
    given |= {role: name for role, name in shown.files.items() if role != "file"}
    given |= {"labels": shown.labels} if shown.labels else {}
    words += [f"--{name} {shlex.quote(value)}" for name, value in given.items()]
    return "\n".join(
        " ".join([*words, f"--solver {job.solver}", *(f"--set {k}={v}" for k, v in said(shown, job).items())])
        for job in jobs
    )
