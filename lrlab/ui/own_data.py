"""Your data: files or an example with what lrlab reads in them, curves of the held-out score, the estimate, code."""

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from lrlab.data.dataset import COUNT
from lrlab.data.examples import EXAMPLE, EXAMPLES
from lrlab.data.hints import NOTHING, Hints
from lrlab.data.label_task import FIRST
from lrlab.data.recover import OFFERED, Fit, Task, data_models, in_units, read_task
from lrlab.data.vectors import ResponsesProblem
from lrlab.engine.engine import get_engine
from lrlab.figures import recovery, theme
from lrlab.figures.build import Figure
from lrlab.figures.runs import measures_of, recoveries
from lrlab.parameters import InputError, Parameter, Value, declared
from lrlab.protocol import Limits, View
from lrlab.runs.job import Job
from lrlab.ui.converge import results_view, run_controls
from lrlab.ui.converge.run_controls import HEIGHT, CurveSettings
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import code, live, page, problem_controls, progress
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain, with_code

LIMIT_MB = 100
SUFFIXES = "csv tsv txt dat data npz parquet arff svm svmlight libsvm xml gz bz2".split()
LISTS = (".xml", ".names")
TILES: Mapping[str, tuple[str, str]] = {
    "breast-cancer": ("One-bit responses", "x1, x2, x3, **target**\n\n0.3, 1.1, -0.2, **yes**"),
    "wine": ("Matrix with missing entries", "a, b, c\n\n1.2,  **?**,  0.4"),
    "ratings": ("Ratings", "user, item, **rating**\n\nann, movie 3, **4**"),
    "diabetes": ("Real responses", "x1, x2, x3, **y**\n\n0.3, 1.1, -0.2, **151**"),
    "digit": ("Diffraction patterns", "npz: **patterns**, masks\n\n|fft2(mask x image)|"),
    "labels": ("Labels", "x1, x2, **sad**, **calm**\n\n0.3, 1.1, **0**, **1**"),
}
"""Examples of the kinds of files."""
FEATURES = {"rows": ("user", "row"), "columns": ("item", "movie", "column")}
"""Owners of features, by words in the names of their files."""
AUTOMATIC = "automatic"
TITLES = {"y": "Response column", "Z": "Columns of z", "missing": "Missing value", "labels": "Label columns"}
"""Titles of what you may state about a file, if they are not the names."""
RANK = Parameter(
    meaning="rank of the matrix; 0 chooses it on held-out numbers", name="rank", kind=int, default=0, low=0, high=1000
)
PAGE = "own_data"
BESIDE = {"flipped-logistic": ("glm",), "inductive-completion": ("soft-impute",), "multilabel": FIRST}
"""By model: solvers that run at first, besides the default one."""
BEFORE = "The metric on held-out data and the estimate appear here."


@dataclass(frozen=True, eq=False)
class Shown:
    """A task and its description: the spec of all solvers, options of `fit`, and the file, or `example:NAME`."""

    task: Task
    spec: Any
    options: dict[str, Value]
    file: str
    hints: Hints


def short_name(name: str) -> str:
    """Return the name of an upload without folders, cut at the front by its bytes."""
    return Path(name).name.encode(errors="ignore")[-80:].decode(errors="ignore")


def carry_out(contents: Mapping[str, bytes], *, files: Mapping[str, str], hints: Hints) -> Task:
    """Return the task of files, on a worker, from their contents by name and their names by role."""
    with tempfile.TemporaryDirectory(prefix="lrlab-own-") as folder:
        for name, content in contents.items():
            (Path(folder) / name).write_bytes(content)
        paths: dict[str, Any] = {role: Path(folder) / name for role, name in files.items()}
        return read_task(paths.pop("file"), hints, **paths)


def roles(names: Sequence[str]) -> dict[str, str]:
    """Return what several files are, by their names: data, test samples, features of rows or columns, label names."""
    if len(names) == 1:
        return {"file": names[0]}
    found = dict[str, str]()
    for name in names:
        stem, suffix = Path(name).stem.lower(), Path(name).suffix.lower()
        role = "labels" if suffix in LISTS else "test" if "test" in stem else ""
        role = role or next((side for side, words in FEATURES.items() if any(word in stem for word in words)), "file")
        if role in found:
            raise InputError("files", "one of each role", f"{found[role]} and {name}", f"drop one file as {role}")
        found[role] = name
    if "file" not in found:
        raise InputError(
            "files", "the data among them", ", ".join(names), "put test into the name of the file of test samples"
        )
    return found


def choose(link: Permalink) -> Shown | InputError | None:
    """Show the drop area, the tiles, and the choices; None without data."""
    names = ("", *EXAMPLES)
    parameter = Parameter(meaning="example", name="measurements", kind=str, default="", choices=names)
    key = link.key("measurements")
    if key not in st.session_state:
        st.session_state[key] = link.value("measurements", parameter)
    link.accept(["data", "rows", "show", "settings", "metric", "iterations", "top", "solvers"])
    with st.container(key="own_data-drop"):
        dropped = st.file_uploader(
            "Drop a file anywhere: CSV, parquet, npz, ARFF or svmlight",
            SUFFIXES,
            accept_multiple_files=True,
            key=link.key("file"),
            max_upload_size=LIMIT_MB,
            help=f"Test samples, label names and features of rows or columns in further files. At most {LIMIT_MB} MB.",
        )
        plot.send("drop", "own_data-anywhere", {}, height=1)
    if dropped:
        st.session_state[key] = ""
    example = str(st.session_state[key])
    if not (dropped or example):
        tiles(key)
    link.put("measurements", example, parameter)
    with st.sidebar:
        hints = say(link)
    if not (dropped or example):
        # They count once there are data.
        link.accept([*declared(Limits), "seed", *(f"own.{name}" for name in (RANK.name, *OFFERED))])
        return None
    try:
        task, file, hints = read(example, dropped, hints)
        with st.sidebar:
            options: dict[str, Any] = choose_options(link, task)
        spec = live.once("own_data:spec", (id(task), tuple(options.items())), lambda: task.plan(**options)[0].spec)
        return Shown(task, spec, options, file, hints)
    except InputError as error:
        return error


def tiles(key: str) -> None:
    """Show examples of the kinds of files; a click takes an example."""

    def take(name: str) -> None:
        st.session_state[key] = name

    columns = st.columns(3, gap="medium")
    for place, (name, (title, words)) in enumerate(TILES.items()):
        with columns[place % 3].container(border=True, height=190):
            st.markdown(f"**{title}**")
            st.caption(words)
            st.button("Try this example", key=f"own_data-tile-{name}", on_click=take, args=(name,))


def say(link: Permalink) -> Hints:
    """Show choices that replace lrlab's reading of a file; everything may stay empty."""
    said = dict[str, str]()
    with controls.fold("Content of the file", "own_data-hints") as place:
        for name, one in declared(Hints).items():
            if one.hidden:
                continue
            choices = data_models() if name == "model" else one.choices
            look: dict[str, Any] = {"format_func": lambda value: value or AUTOMATIC} if choices else {}
            look |= {"name": name.lower(), "shown": place.open, "label": TITLES.get(name, name.capitalize())}
            one = replace(one, choices=("", *choices) if choices else (), kind=str)
            said[name] = str(controls.widget(link, one, **look) or "").strip()
    return Hints(**said)


def read(example: str, dropped: Sequence[Any], hints: Hints) -> tuple[Task, str, Hints]:
    """Return the task of an example or of dropped files, read again only if something changes; its file and hints."""
    if example:
        return live.once("own_data:task", example, lambda: (read_task(EXAMPLE + example), EXAMPLE + example, NOTHING))

    def reading() -> tuple[Task, str, Hints]:
        names, labels = [short_name(one.name) for one in dropped], hints.labels
        files, contents = roles(names), {name: one.getvalue() for name, one in zip(names, dropped, strict=True)}
        # Names, and never a path, which would be one on the server.
        columns = labels if not labels or COUNT.fullmatch(labels) else tuple(map(str.strip, labels.split(",")))
        with st.spinner("Reading the file..."):
            task = live.on_worker(partial(carry_out, files=files, hints=replace(hints, labels=columns)), contents)
        further = {role: name for role, name in files.items() if role != "file"}
        return task, files["file"], replace(hints, **further)

    return live.once("own_data:task", (tuple(one.file_id for one in dropped), hints), reading)


def choose_options(link: Permalink, task: Task) -> dict[str, Any]:
    """Show the settings of a task; return the settings of the data and the ones that you change."""
    first, known = task.given.options, task.settings()
    usual = [p for p in known if p.name not in ("rank", "r")]
    # By separate names in the address: `data` is an older question of this page.
    look: dict[str, Any] = {"scope": task.model, "prefix": "own."}
    values = controls.widgets(link, [RANK] if len(usual) < len(known) else [], **look)
    with controls.fold("Settings of the data", "own_data-settings") as place:
        values |= controls.widgets(link, controls.with_defaults(usual, first), shown=place.open, **look)
    said = {p.name: values[p.name] for p in usual if p.name in first or values[p.name] != p.default}
    return {**said, **({"rank": values["rank"]} if values.get("rank") else {})}


def show(link: Permalink, shown: Shown | InputError | None) -> None:
    """Show lrlab's reading, solvers, and their estimates."""
    ready = shown if isinstance(shown, Shown) else None
    page.show_errors(shown)
    jobs: list[Job] = []
    if ready:
        name = ready.file.removeprefix(EXAMPLE)
        about = EXAMPLES.get(name)
        source = f" Source: {about.source}. License: {about.license}." if about else ""
        st.markdown(with_code(f"{name}: {ready.task.source()}{source}"))
        jobs = choose_jobs(link, ready)
    live.buttons(PAGE, lambda: get_engine().follow(jobs), ready=bool(jobs), about=ready)
    live.follow(PAGE, lambda: draw(jobs), lambda running: parts_of(running.runs, True))
    if ready and jobs:
        page.fold_code(python(ready, jobs), shell(ready, jobs))


def choose_jobs(link: Permalink, ready: Shown) -> list[Job]:
    """Show solvers and limits of a run; return the jobs."""
    first = ready.task.default_solver(**ready.options)
    beside = () if first == "altmin" else BESIDE.get(ready.task.model, ())
    with st.sidebar:
        limits = problem_controls.choose_limits(link)
        jobs = problem_controls.choose_jobs(
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
        f"{PAGE}.cards": run_controls.cards(runs, drawn, measures),
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
        return recovery.measured({title: View(values) for title, values in problem.parts(fit.trace).items()}, HEIGHT)
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
    lines = ["import lrlab", ""]
    for job in jobs:
        name, options = job.solver.replace("-", "_"), {**shown.hints.given, "solver": job.solver, **said(shown, job)}
        lines.append(f"{name} = lrlab.fit({code.arguments([repr(shown.file)], options)})")
        lines.append(f"print({name}.trace.metrics)")
    return "\n".join(lines)


def shell(shown: Shown, jobs: Sequence[Job]) -> str:
    """Return the runs as commands."""
    words = ["python -m lrlab fit", shlex.quote(shown.file)]
    words += [f"--{name.lower()} {shlex.quote(value)}" for name, value in shown.hints.given.items()]
    return "\n".join(
        " ".join([*words, f"--solver {job.solver}", *(f"--set {k}={v}" for k, v in said(shown, job).items())])
        for job in jobs
    )
