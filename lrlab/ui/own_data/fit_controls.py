"""Controls of fits to *own data*: solvers and settings, manual or tuned, always with the baseline; the same as code."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import streamlit as st

from lrlab.engine.engine import Engine
from lrlab.fits import own_files
from lrlab.fits.metrics import METRIC, METRICS
from lrlab.fits.settings import FitSettings, fit_settings
from lrlab.fits.tuned_run import TunedRun
from lrlab.models.own_rows import OwnRows, packed
from lrlab.parameters import InputError, Parameter, Value, declared, display_name
from lrlab.protocol import Limits
from lrlab.runs.job import Job, make_job
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import code, live, solver_controls
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

BASELINE = "binary-relevance"
FIRST = ("leml-squared", BASELINE)
ESTIMATE_BYTES = 2**28
"""Largest size of a full-rank estimate, which the worker sends back and the session stores."""

RANK = Parameter(
    meaning="rank of the low-rank solvers; 0 takes half of the largest possible, at most 100, or leaves it to tuning",
    name="rank",
    symbol="k",
    kind=int,
    default=0,
    low=0,
    high=10_000,
)
OBSERVED = Parameter(
    meaning="share of the known training labels that solvers observe, drawn with the seed; the rest is hidden",
    name="observed",
    symbol="observed",
    kind=float,
    default=1.0,
    low=1e-3,
    high=1,
)
ITERATIONS = Parameter(
    meaning="most iterations; accuracy on new rows is often best after 2 to 5",
    name="iterations",
    symbol="iterations",
    kind=int,
    default=10,
    low=1,
    high=1000,
)
SECONDS = Parameter(
    meaning="most time of a solver",
    name="max_seconds",
    symbol="max_seconds",
    unit="s",
    kind=float,
    default=60.0,
    low=0,
    high=86_400,
    scale="log",
)
INTERCEPT, SCALING = (declared(OwnRows)[name] for name in ("intercept", "scaling"))
NUMBERS = (RANK, OBSERVED, ITERATIONS, SECONDS, SCALING, INTERCEPT)
SEED = declared(OwnRows)["seed"]
SETTINGS = {"hand": "manual", "tuned": "tuned"}


class FitPlan(NamedTuple):
    """Jobs on the rows, with the tasks of tuning, which are empty where settings are manual."""

    rows: RowTables
    jobs: Sequence[Job]
    tasks: Sequence[FitSettings]

    @property
    def spec(self) -> Any:
        """The spec of all jobs."""
        return self.jobs[0].spec


def choose(link: Permalink, rows: RowTables | InputError | None) -> FitPlan | InputError | None:
    """Show settings and solvers; return the plan, the error in a setting, or None without rows."""
    values = controls.widgets(link, NUMBERS)
    metric = tuned_by(link)
    values["seed"] = controls.widget(link, SEED)
    st.header("Solvers", anchor=False)
    # Solvers are listed even before there are rows.
    spec: Any = InputError("rows", "chosen above", "none", "upload a file")
    ending: Any = spec
    try:
        numbers = {p.name: p.check(values[p.name]) for p in (*NUMBERS, SEED)}
        ending = Limits(max_iter=int(numbers["iterations"]), max_seconds=float(numbers["max_seconds"]))._asdict()
        spec = specified(rows, numbers) if isinstance(rows, RowTables) else spec
    except InputError as error:
        spec = error
    jobs = solver_controls.choose_jobs(link, OwnRows.model, spec, ending, default=FIRST)
    if not isinstance(rows, RowTables):
        return None
    return spec if isinstance(spec, InputError) else planned(rows, spec, jobs, ending, metric, int(numbers["rank"]))


def tuned_by(link: Permalink) -> str:
    """Show whether settings are tuned; return the measure by which they are tuned, or an empty text."""
    meaning = "tuned: rank, regularisation and iterations are chosen on rows held out, alike for all solvers"
    link.accept(["metric"])
    if controls.choose(link, "settings", SETTINGS, "hand", meaning, "Settings") == "hand":
        return ""
    names = {name: display_name(name) for name in METRICS}
    meaning = "the measure by which settings are chosen"
    metric = controls.choose_one(link, "metric", names, meaning, "Chosen by", default=METRIC)
    st.caption(
        "A fifth of the training rows is held out, of few rows one fifth after another; then all are fitted with the "
        "settings that were best on them. "
        "A rank above 0 and a regularization other than the default are not tuned."
    )
    return metric


def specified(rows: RowTables, numbers: Mapping[str, Any]) -> OwnRows:
    """Return the spec of the rows with settings; InputError where they do not fit."""
    d, L = rows.columns.d, rows.columns.L
    own_files.require_rank(int(numbers["rank"]), rows.columns)
    if 8 * (d + L) * min(d, L) > ESTIMATE_BYTES:
        expected = f"such that a full-rank estimate takes at most {ESTIMATE_BYTES >> 20} MB on this page"
        raise InputError("features x labels", expected, f"{d} x {L}", "fit them from the shell: python -m lrlab fit")
    rank = int(numbers["rank"]) or own_files.default_rank(own_files.max_rank(rows.columns))
    return rows.spec(
        rank=rank,
        share=float(numbers["observed"]),
        seed=int(numbers["seed"]),
        intercept=bool(numbers["intercept"]),
        scaling=str(numbers["scaling"]),
    )


def planned(
    rows: RowTables, spec: OwnRows, jobs: Sequence[Job], ending: Mapping[str, Any], metric: str, rank: int
) -> FitPlan | InputError:
    """Return the plan of the jobs and the baseline."""
    try:
        if BASELINE not in [job.solver for job in jobs]:
            jobs = [*jobs, make_job(spec, BASELINE, **ending)]
        return FitPlan(rows, jobs, [tuning_task_of(job, metric, rank) for job in jobs] if metric else [])
    except InputError as error:
        return error


def tuning_task_of(job: Job, metric: str, rank: int) -> FitSettings:
    """Return the settings for tuning; options other than the defaults are not tuned."""
    given = {name: value for name, value in job.options if value != job.entry.options[name].default}
    spec = cast(OwnRows, job.spec)
    settings = fit_settings(
        job.solver,
        given,
        rank=rank,
        iterations=job.limits.max_iter,
        max_seconds=job.limits.max_seconds,
        metric=metric,
        scaling=spec.scaling,
        intercept=spec.intercept,
        seed=spec.seed,
    )
    return settings.of_labels(spec.labels)


def begin(engine: Engine, plan: FitPlan) -> live.Running:
    """Start the plan; workers without access to this machine's files get the rows with the jobs."""
    jobs = plan.jobs
    if not engine.local:
        spec = plan.spec.replace(train=packed(plan.rows.train_file), test=packed(plan.rows.test_file))
        jobs = [job.on(spec) for job in jobs]
    return TunedRun(engine, jobs, plan.tasks) if plan.tasks else engine.follow(jobs)


def arguments(plan: FitPlan, job: Job) -> dict[str, Value]:
    """Return the arguments of `fit` that differ from its defaults: rank, iterations, observed, seed, options."""
    task = plan.tasks[plan.jobs.index(job)] if plan.tasks else None
    spec: Any = job.spec
    own = {name: value for name, value in job.options if value != job.entry.options[name].default}
    rank = task.rank if task else spec.rank
    data = {"observed": spec.kept, "intercept": spec.intercept, "scaling": spec.scaling, "seed": spec.seed}
    given = {"rank": rank, "iterations": job.limits.max_iter, **data, **own}
    absent = {"rank": 0, "observed": 1.0, "intercept": True, "scaling": "auto", "seed": 0}
    given = {name: value for name, value in given.items() if value != absent.get(name)}
    return given | ({"tune_by": task.metric} if task else {})


def python(plan: FitPlan) -> str:
    """Return a script that fits and saves each solver."""
    lines = ["# train.npz, test.npz: as downloaded below, under The rows", "import lrlab", ""]
    for job in plan.jobs:
        first = ["'train.npz'", "'test.npz'", f"solver={job.solver!r}"]
        lines.append(f"result = lrlab.fit({code.arguments(first, arguments(plan, job))})")
        lines += ["print(result.summary())", f"lrlab.save_model({job.solver + '.npz'!r}, result.model)"]
    return "\n".join(lines)


def shell(plan: FitPlan) -> str:
    """Return one command per solver."""
    commands = []
    for job in plan.jobs:
        given = arguments(plan, job)
        plain = ("rank", "iterations", "observed", "scaling", "seed")
        flags = [f"--{name} {given.pop(name)}" for name in plain if name in given]
        flags += ["--no-intercept"] if given.pop("intercept", None) is not None else []
        flags += [f"--tune {given.pop('tune_by')}"] if "tune_by" in given else []
        flags += [f"--set {shlex.quote(f'{name}={value}')}" for name, value in given.items()]
        words = ["python -m lrlab fit train.npz --test test.npz", f"--solver {job.solver}", *flags]
        commands.append(" ".join([*words, f"--save {job.solver}.npz --json"]))
    return "\n".join(commands)
