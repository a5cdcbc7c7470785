"""Tasks on a file, by one set of methods: responses, a matrix with missing entries, patterns, and labels."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.arrays import Vector
from lrlab.data.arrays import model_of
from lrlab.data.columns import NOTHING, Given, Hints
from lrlab.data.files import LIMIT_BYTES, File
from lrlab.data.labels import Labels
from lrlab.data.reading import opened, read, read_given
from lrlab.data.recover import choices, in_units, job_of, kind_of
from lrlab.data.spec import Comparison
from lrlab.engine import solve
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError, Parameter
from lrlab.plugins import AnySolver
from lrlab.runs.job import Job
from lrlab.runs.trace import Trace

OFFERED = ("held_out", "threshold", "constant", "biases", "data", "norm", "centered", "rank", "r")
"""The most important parameters of a spec of your data."""


@dataclass(frozen=True, eq=False)
class Task:
    """Data and their model: the reading in words, settings, runs, and their results."""

    given: Given
    model: str

    def source(self) -> str:
        """Return a line that describes the data, and the model."""
        return f"{self.given.words}; model {self.model}."

    def settings(self) -> list[Parameter]:
        """Return the most important parameters for these data."""
        known = choices(kind_of(self.model))
        return [known[name] for name in OFFERED if name in known]

    def plan(self, solvers: Sequence[AnySolver] = ("",), **options: object) -> list[Job]:
        """Return the job of each solver, "" for the default one."""
        y, X, Z = self.given[:3]
        options = {**(self.given.options if self.model == self.given.model else {}), **options}
        return [job_of(y, X, Z, model=self.model, solver=solver, **options) for solver in solvers]

    def default_solver(self) -> str:
        """Return the default solver."""
        return kind_of(self.model).default_solver(*self.given[1:3])

    def parts(self, trace: Trace) -> Mapping[str, Vector]:
        """Return pictures of the estimate by title."""
        pictures: Mapping[str, Vector] = trace.problem.parts(trace)
        return pictures

    def table(self, trace: Trace) -> pd.DataFrame:
        """Return the estimate as a table, with the names of the data."""
        return trace.problem.table(trace, self.given.names, self.given.rows)

    def packed(self, trace: Trace) -> bytes:
        """Return the estimate as the content of an npz: for labels a model that predicts labels of new rows."""
        names = {"names": np.array(self.given.names), "rows": np.array(self.given.rows)}
        arrays = {**({} if self.model == Multilabel.model else names), **trace.problem.saved(trace)}
        np.savez_compressed(memory := io.BytesIO(), allow_pickle=False, **arrays)
        return memory.getvalue()


def task_of(given: Given, model: str = "") -> Task:
    """Return the task of data, by the given model or by their form."""
    model = model or given.model or model_of(given.y, given.X, given.Z)
    kind_of(model)
    return Task(given, model)


def read_task(
    path: File,
    hints: Hints = NOTHING,
    *,
    test: File | None = None,
    labels: Labels = None,
    rows: File | None = None,
    columns: File | None = None,
    base: int | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Task:
    """Return the task of a file: labels if its format, `labels` or the model state it, else by its columns.

    test: rows to score labels on, instead of held-out rows. labels, base: see `read`. rows, columns: files with
    features of the rows and columns of a matrix.
    """
    of_labels = labels is not None or test or hints.model == Multilabel.model or hints.kind == "labels"
    if not of_labels and opened(path, limit_bytes).kind not in ("ARFF", "svmlight"):
        if base is not None:
            raise InputError("base", "left out unless rows have labels", base, "name the label columns")
        return task_of(read_given(path, hints, rows=rows, columns=columns, limit_bytes=limit_bytes), hints.model)
    given = read(path, labels, beside=test, base=base, limit_bytes=limit_bytes)
    fresh = test and read(test, labels, like=given, limit_bytes=limit_bytes)
    known = "" if given.observed is None else f", {given.observed.sum() / (given.n * given.L):.1%} of them known"
    rest = f", {fresh.n:,} rows to test on" if fresh else ""
    notes = "".join(f" {note}" for note in (*given.notes, *(fresh.notes if fresh else ())))
    words = f"{given.n:,} rows, {given.d:,} features, {given.L:,} labels{known}{rest}{notes}"
    return Task(Given((given, fresh) if fresh else given, words=words), Multilabel.model)


class Fit(NamedTuple):
    """A run on a file: its task and its trace."""

    task: Task
    trace: Trace

    @property
    def compared(self) -> Comparison | None:
        """The metric on held-out data and on a baseline, None without held-out data."""
        held_out = self.trace.job.spec.held.any() and self.trace.estimate is not None  # type: ignore[attr-defined]
        return self.trace.problem.compared(self.trace.estimate) if held_out else None

    @property
    def table(self) -> pd.DataFrame:
        """The estimate as a table."""
        return self.task.table(self.trace)

    def save(self, path: File) -> None:
        """Write the estimate: a table as CSV, or all of it as npz."""
        if Path(path).suffix == ".csv":
            rows = self.task.given.rows
            self.table.to_csv(path, index=bool(rows) and len(self.table) == len(rows))
        else:
            Path(path).write_bytes(self.task.packed(self.trace))

    def summary(self) -> dict[str, Any]:
        """Return the run as plain values."""
        beside = {} if self.compared is None else {"held_out": self.compared._asdict()}
        return {"understood": self.task.source(), **self.trace.summary(), **beside}


def fit(path: File, hints: Hints = NOTHING, *, solver: AnySolver = "", **options: Any) -> Fit:
    """Read a file, recognize its contents, and run a solver. options: of `read_task`, the solver and its spec.

    The result has `task.source()`, a line that describes the data; `trace`; `table`; `compared`; `save(path)`.
    """
    names = ("test", "labels", "rows", "columns", "base", "limit_bytes")
    task = read_task(path, hints, **{name: options.pop(name) for name in names if name in options})
    [job] = task.plan([solver], **options)
    return Fit(task, in_units(solve.run(job)))
