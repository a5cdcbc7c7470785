"""Any solver on your measurements, matrix or labels: `lrlab.recover` on arrays, `lrlab.fit` on a file."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.data.arrays import model_of
from lrlab.data.columns import Given, span
from lrlab.data.dataset import Dataset
from lrlab.data.examples import EXAMPLE, example
from lrlab.data.files import File
from lrlab.data.hints import LABELED, NOTHING, Hints, require_unused
from lrlab.data.label_task import LabelsSpec, label_job
from lrlab.data.low_rank import FormSpec, MatrixSpec
from lrlab.data.reading import opened, read, read_given
from lrlab.data.spec import Comparison, DataSpec, Packed, held, spec_class
from lrlab.data.vectors import MagnitudesSpec, ResponsesSpec
from lrlab.engine import solve
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError, Parameter, counted, declared, require_known, settle
from lrlab.plugins import AnySolver
from lrlab.runs.job import Job, make_job
from lrlab.runs.trace import Trace

KINDS: tuple[type[DataSpec], ...] = (ResponsesSpec, FormSpec, MatrixSpec, MagnitudesSpec, LabelsSpec)
"""Kinds of your data."""
OF_LABELS = ("labels", Multilabel.model)
"""The kind and the model of rows with labels."""
OFFERED = ("held_out", "threshold", "constant", "biases", "data", "norm", "centered", "rank", "r")
"""The most important parameters of a spec of your data."""


def recover(
    y: Any, X: Any = None, Z: Any = None, *, model: str = "", solver: AnySolver = "", **options: object
) -> Trace:
    """Run a solver on your data, and return its trace.

    model: the model of the data, which decides the available solvers:

    - one-bit-sensing, flipped-logistic, one-bit-phase-retrieval, custom-link: y (n,) with two values, X (n, p)
    - rank-one-sensing: y (m,) = x^T W z, X (m, d1), Z (m, d2); polynomial-network: y (m,) = x^T L x, X (m, p)
    - inductive-completion: y a matrix (n1, n2) with nan, masked or, if it is sparse, absent entries, or three vectors
      (rows, columns, values); optional features X (n1, d1) of rows and Z (n2, d2) of columns
    - phase-retrieval: y (m,) = |A x| and X = A (m, p), or patterns y (count, h, w) = |fft2(mask x image)| and masks X
      with the same shape; norm and centered set another convention, and the fit ignores nan pixels
    - multilabel: labels y (n, L) of 0 and 1, nan if unknown, and features X (n, d); without a solver, leml and
      binary-relevance compete on held-out samples; tune_by: a metric that chooses settings there

    You need no model if y is a matrix with missing entries, has two values or holds patterns, or if you give Z.
    Without `rank` (`r` of polynomial-network), held-out measurements choose it. options: options of the solver and its
    limits; held_out (0.2), the fraction of the measurements that lrlab holds out to score the estimates; seed. For
    responses also scaling, and the model's options for the link; for matrices biases (means of rows and columns).

    The trace is as in `lrlab.solve`, without metrics that need a ground truth. `trace.estimate` is in your units;
    `trace.link` is the link of responses. Raises InputError in one sentence for unusable data.
    """
    return in_units(solve.run(job_of(y, X, Z, model=model, solver=solver, **options)))


def in_units(trace: Trace) -> Trace:
    """Return a trace of your data with its estimate and intervals in your units."""
    if trace.estimate is None:
        return trace
    known = trace.intervals
    intervals = None if known is None else trace.problem.intervals_of(known)
    note = trace.note if known is None else trace.note.removesuffix(known.note).strip()
    note = " ".join(filter(None, [note, intervals.note if intervals else ""]))
    return replace(trace, estimate=trace.problem.recovered(trace.estimate), intervals=intervals, note=note)


def job_of(y: Any, X: Any = None, Z: Any = None, *, model: str = "", solver: AnySolver = "", **options: object) -> Job:
    """Return the checked job of `recover`."""
    if not model and isinstance(y[0] if isinstance(y, tuple) and y else y, Dataset):
        model = Multilabel.model
    model = model or model_of(y, X, Z)
    made = kind_of(model)
    if Z is not None and "d2" not in declared(made):
        raise InputError("Z", f"left out of {model}", "a table", "leave it out, or take model=rank-one-sensing")
    labels = issubclass(made, LabelsSpec)
    tune_by = str(options.pop("tune_by", "")) if labels else ""
    arrays = made.arrays_of(y, X, Z)
    chosen, known = solver or made.default_solver(X, Z, **options), made.choices()
    if "r" in known and "rank" in options:
        require_unused({"r": options.get("r", "")}, "a fit with `rank`, which means the same")
        options["r"] = options.pop("rank")
    if isinstance(chosen, str):
        for name in options:
            require_known(name, {**known, **catalog.solver(chosen, model).settings}, what="option")
    said = {name: value for name, value in made.completed(arrays, chosen, options).items() if name in known}
    values = settle(declared(made), said)
    given = ~held(arrays, float(values["held_out"]), int(values["seed"]))
    sizes = made.shape_of(arrays, given, values)
    ranks = {"r", "rank"} & set(known) - set(sizes)
    if ranks and not ranks & set(said):
        sizes |= {**dict.fromkeys(ranks, 1), "rank_guess": "held-out"}
    spec: Any = made(**{**sizes, **said, "file": Packed.of(arrays), "measured": len(arrays["y"])})  # type: ignore[arg-type]
    settings = {name: value for name, value in options.items() if name not in known}
    if labels and isinstance(chosen, str):
        return label_job(spec, str(solver), settings, tune_by, int(spec.rank) if "rank" in options else 0)
    return make_job(spec, chosen, **settings)


def kind_of(model: str) -> type[DataSpec]:
    """Return the class of specs of a model with your data."""
    require_known(model, kinds := data_models(), what="model")
    return spec_class(kinds[model], catalog.MODELS[model])


def data_models() -> dict[str, type[DataSpec]]:
    """Return the models that your data can have, and their kinds."""
    return {name: kind for name, spec in catalog.MODELS.items() for kind in KINDS if issubclass(spec, kind.models)}


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
        known = kind_of(self.model).choices()
        return [known[name] for name in OFFERED if name in known]

    def plan(self, solvers: Sequence[AnySolver] = ("",), **options: object) -> list[Job]:
        """Return the job of each solver, "" for the default one."""
        y, X, Z = self.given[:3]
        options = {**self.given.options, **options}
        return [job_of(y, X, Z, model=self.model, solver=solver, **options) for solver in solvers]

    def default_solver(self, **options: object) -> str:
        """Return the default solver for options of `recover`."""
        return kind_of(self.model).default_solver(*self.given[1:3], **{**self.given.options, **options})


def task_of(given: Given, model: str = "") -> Task:
    """Return the task of data, by the given model or by their form."""
    chosen = model or given.model or model_of(given.y, given.X, given.Z)
    kind_of(chosen)
    return Task(given if chosen == given.model else given._replace(options={}), chosen)


def read_task(path: File, hints: Hints = NOTHING, **stated: Any) -> Task:
    """Return the task of a file: labels if its format, `labels` or the model state it, else by its columns.

    path: of a file, or `example:NAME`. stated: fields of `Hints`, which replace those of `hints`.
    """
    stated = {name: value for name, value in stated.items() if value is not None}
    hints = replace(hints, **{name: value if name == "labels" else str(value) for name, value in stated.items()})
    if hints.model:
        kind_of(hints.model)
    if (name := str(path).removeprefix(EXAMPLE)) != str(path):
        return task_of(example(name).make(), hints.model)
    said, test = hints.given, hints.test
    labels, base = said.get("labels"), int(said["base"]) if "base" in said else None
    of_labels = labels is not None or test or hints.model in OF_LABELS or hints.kind in OF_LABELS
    # ARFF may state its labels.
    of_form = ("svmlight",) if hints.y or hints.kind else ("svmlight", "ARFF")
    if not of_labels and opened(path).kind not in of_form:
        if base is not None:
            raise InputError("base", "left out unless rows have labels", base, "name the label columns")
        return task_of(read_given(path, hints), hints.model)
    unused = {name: word for name, word in said.items() if name not in LABELED and word not in OF_LABELS}
    require_unused(unused, "rows with labels", "leave it out, or save rows with one response as CSV")
    given = read(path, labels, beside=test or None, base=base, missing=hints.missing)
    fresh = test and read(test, labels, like=given, missing=hints.missing)
    known = "" if given.observed is None else f", {given.observed.sum() / (given.n * given.L):.1%} of them known"
    rest = f", {counted(fresh.n, 'row')} to test on" if fresh else ""
    sides = {"features": given.feature_names, "labels": given.label_names}
    names = ", ".join(f"{side} {span(names)}" for side, names in sides.items() if names)
    notes = dict.fromkeys((*given.notes, *(fresh.notes if fresh else ())))
    words = f"{counted(given.n, 'row')}, {counted(given.d, 'feature')}, {counted(given.L, 'label')}{known}{rest}"
    words += f" ({names})" if names else ""
    words += "".join(f". {note.rstrip('.')}" for note in notes)
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
        """The estimate as a table, with the names of the data."""
        given = self.task.given
        table: pd.DataFrame = self.trace.problem.table(self.trace, given.names, given.rows)
        return table

    def packed(self) -> bytes:
        """Return the estimate as the content of an npz: for labels a model that predicts labels of new samples."""
        names = {"names": np.array(self.task.given.names), "rows": np.array(self.task.given.rows)}
        arrays = {**({} if self.task.model == Multilabel.model else names), **self.trace.problem.saved(self.trace)}
        np.savez_compressed(memory := io.BytesIO(), allow_pickle=False, **arrays)
        return memory.getvalue()

    def save(self, path: File) -> None:
        """Write the estimate: a table as CSV, or all of it as npz."""
        if Path(path).suffix == ".csv":
            rows = self.task.given.rows
            self.table.to_csv(path, index=bool(rows) and len(self.table) == len(rows))
        else:
            Path(path).write_bytes(self.packed())

    def summary(self) -> dict[str, Any]:
        """Return the run as plain values."""
        compared = self.compared
        held_out = {} if compared is None else {"held_out": compared._asdict()}
        return {"understood": self.task.source(), **self.trace.summary(), **held_out}


def fit(path: File, hints: Hints = NOTHING, *, solver: AnySolver = "", **options: Any) -> Fit:
    """Read a file or `example:NAME`, recognize its contents, and run a solver.

    options: fields of `Hints`, such as y="price"; options of the solver and its spec.

    The result has `task.source()`, a line that describes the data; `trace`; `table`; `compared`; `save(path)`.
    """
    require_unused({"X": options.pop("X", "")}, "a file, whose columns other than y and Z are X")
    task = read_task(path, hints, **{name: options.pop(name) for name in declared(Hints) if name in options})
    [job] = task.plan([solver], **options)
    return Fit(task, in_units(solve.run(job)))
