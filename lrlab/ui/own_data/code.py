"""Writes the fits of *own data* as Python code and as shell commands, on the rows as downloaded from the page."""

import shlex
from typing import Any

from lrlab.parameters import Value
from lrlab.runs.job import Job
from lrlab.ui.own_data.fit_controls import FitPlan
from lrlab.ui.shared import code


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
