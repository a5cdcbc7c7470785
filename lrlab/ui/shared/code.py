"""Writes jobs as Python code and as shell commands, to be copied from a page."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lrlab import catalog
from lrlab.parameters import Value, declared
from lrlab.protocol import Spec
from lrlab.runs.job import Job


def python(jobs: Sequence[Job]) -> str:
    """Return a script that runs the jobs, all of one spec."""
    lines = [imports(jobs[0].spec.model, [job.solver for job in jobs]), "", f"spec = {spec_python(jobs[0].spec)}"]
    for job, name in zip(jobs, names(jobs), strict=True):
        lines.append(f"{name} = lrlab.solve({arguments(['spec', repr(job.solver)], settings(job))})")
        lines.append(f"print({name}.stop.value, {name}.metrics)")
    return "\n".join(lines)


def names(jobs: Sequence[Job]) -> list[str]:
    """Return the variables of the traces in `python`."""
    return [job.solver.replace("-", "_") if len(jobs) > 1 else "trace" for job in jobs]


def figure(jobs: Sequence[Job]) -> str:
    """Return the call that draws the traces of `python` in a notebook."""
    return f"lrlab.compare([{', '.join(names(jobs))}])"


def imports(model: str, solvers: Sequence[str] = ()) -> str:
    """Return the import, and the code that registers a model and solvers from your files."""
    wanted = {f"model {model}", *(f"solver {name}" for name in solvers)}
    own = [one.file for one in catalog.PLUGINS if one.file and one.names & wanted]
    return "\n".join(["import lrlab", *(f"lrlab.register({Path(path).name!r})" for path in own)])


def shell(jobs: Sequence[Job]) -> str:
    """Return one command per job."""
    return "\n".join(
        " ".join(
            [f"python -m lrlab solve {job.spec.model} --solver {job.solver}"]
            + [f"--set {shlex.quote(f'{k}={v}')}" for k, v in {**spec_values(job.spec), **settings(job)}.items()]
            + ["--json"]
        )
        for job in jobs
    )


def notebook(title: str, python: str, figure: str = "") -> str:
    """Return a script as a Jupyter notebook, with a cell for each of its paragraphs, and one with a figure."""
    about = f'# {title}\n\nIt needs lrlab: `pip install ".[notebook]"` in its folder.'
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": about}]
    for number, part in enumerate([*python.split("\n\n"), *([figure] if figure else [])]):
        cell: dict[str, Any] = {"cell_type": "code", "id": f"part-{number}", "metadata": {}, "execution_count": None}
        cells.append({**cell, "outputs": [], "source": part})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about_all = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": about_all, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def spec_python(spec: Spec) -> str:
    """Return the call that makes a spec."""
    return f"lrlab.spec({arguments([repr(spec.model)], spec_values(spec))})"


def spec_values(spec: Spec) -> dict[str, Value]:
    """Return a spec's parameters: sizes and seed always, others if they differ from the default."""
    known = declared(type(spec))
    return {k: v for k, v in spec.public_values().items() if k in ("n", "p", "seed") or v != known[k].default}


def settings(job: Job) -> dict[str, Value]:
    """Return a job's options and limits that differ from the defaults."""
    options = {k: v for k, v in job.options if v != job.entry.options[k].default}
    usual = job.entry.settle({}).limits
    return options | {k: v for k, v in job.limits._asdict().items() if v != getattr(usual, k)}


def arguments(first: Sequence[str], named: dict[str, Value]) -> str:
    """Return the arguments of a call."""
    return ", ".join([*first, *(f"{k}={v!r}" for k, v in named.items())])


def describe_spec(spec: Spec, *, without: Sequence[str] = ()) -> str:
    """Return the title of a spec, its main parameters, and those that are not at their defaults, in one line."""
    main, defaults = catalog.model_entry(spec.model).main, declared(type(spec))
    values = {
        k: v
        for k, v in spec.public_values().items()
        if k not in ("picture", "seed", *without) and (k in main or v != defaults[k].default)
    }
    values["seed"] = spec.seed
    words = ", ".join(f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in values.items())
    remark = spec.remark.removesuffix(".")
    return f"{spec.title}: {words}" + (f". {remark}" if remark else "")
