"""Tasks on a file, by one set of methods: responses, a matrix with missing entries, patterns, and labels."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab import ranking
from lrlab.arrays import Vector
from lrlab.data.arrays import model_of
from lrlab.data.columns import NOTHING, Given, Hints
from lrlab.data.dataset import Dataset
from lrlab.data.files import LIMIT_BYTES, Source, data_suffix
from lrlab.data.label_models import FittedModel, save_model
from lrlab.data.label_task import LabelProblem, hide
from lrlab.data.labels import Labels
from lrlab.data.reading import read_given
from lrlab.data.recover import choices, first_solver, in_units, job_of, kind_of
from lrlab.data.rows import OF_LABELS, File, read
from lrlab.data.spec import Comparison, spec_class
from lrlab.data.svmlight import is_sized
from lrlab.engine import solve
from lrlab.lowrank import LowRank
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError, Parameter
from lrlab.plugins import AnySolver
from lrlab.runs.job import Job
from lrlab.runs.trace import Trace

OFFERED = ("held_out", "threshold", "constant", "biases", "data", "norm", "centered", "rank", "r")
"""The most important parameters of a spec of your data."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Data for the recovery of a vector, an image or a matrix.

    Subclasses show other estimates. given: the data; model: their model.
    """

    given: Given
    model: str

    def source(self) -> str:
        """Return a line that describes the data, and the model."""
        return f"{self.given.words}; model {self.model}."

    def settings(self) -> list[Parameter]:
        """Return the most important parameters for these data."""
        kind, _, base = kind_of(self.model)
        known = choices(spec_class(kind, base))
        return [known[name] for name in OFFERED if name in known]

    def plan(self, solvers: Sequence[AnySolver] = ("",), **options: object) -> list[Job]:
        """Return the job of each solver, "" for the default one."""
        y, X, Z = self.given[:3]
        options = {**(self.given.options if self.model == self.given.model else {}), **options}
        return [job_of(y, X, Z, model=self.model, solver=solver, **options) for solver in solvers]

    def default_solver(self) -> str:
        """Return the default solver."""
        return first_solver(kind_of(self.model)[0], *self.given[1:3])

    def parts(self, trace: Trace) -> Mapping[str, Vector]:
        """Return pictures of the estimate by title: units of a form, an image, or the entries of a signal."""
        what: Any = trace.estimate
        if isinstance(what, LowRank):
            two = np.shape(what.U) != np.shape(what.V) or not np.allclose(what.U, what.V)
            left = {"left units" if two else "hidden units": (what.U * np.abs(what.s)).T}
            return {**left, **({"right units": what.V.T} if two else {})}
        if np.ndim(what) == 2:
            return {"image, up to a phase": np.abs(what)}
        return {"real, imaginary": np.vstack([np.real(what), np.imag(what)])}

    def table(self, trace: Trace) -> pd.DataFrame:
        """Return the matrix of a form, the magnitudes of an image, or a signal."""
        what: Any = trace.estimate
        if isinstance(what, LowRank) or np.ndim(what) == 2:
            return pd.DataFrame(what.dense() if isinstance(what, LowRank) else np.abs(what))
        return pd.DataFrame({"real": np.real(what), "imaginary": np.imag(what)})

    def arrays(self, trace: Trace) -> dict[str, Vector]:
        """Return the arrays of the estimate for a file."""
        what: Any = trace.estimate
        return what._asdict() if isinstance(what, LowRank) else {"estimate": what}

    def packed(self, trace: Trace) -> bytes:
        """Return the estimate as the content of an npz."""
        names = {"names": np.array(self.given.names), "rows": np.array(self.given.rows)}
        np.savez_compressed(memory := io.BytesIO(), allow_pickle=False, **self.arrays(trace), **names)
        return memory.getvalue()

    def save(self, path: File, trace: Trace) -> None:
        """Write the estimate: a table as CSV, or all of it as npz."""
        if Path(path).suffix == ".csv":
            table = self.table(trace)
            table.to_csv(path, index=bool(self.given.rows) and len(table) == len(self.given.rows))
        else:
            Path(path).write_bytes(self.packed(trace))


class Responses(Measurements):
    """One-bit responses: a direction with intervals, and its link."""

    def parts(self, trace: Trace) -> Mapping[str, Vector]:
        """Return the link as columns index, probability and the ends of its band."""
        return {"link": trace.link.table.to_numpy()}

    def table(self, trace: Trace) -> pd.DataFrame:
        """Return the direction, its value in columns of standard deviation 1, and the ends of its 95% interval there.

        The table omits constant columns.
        """
        sizes = self.arrays(trace)
        sizes = {"direction": sizes.pop("estimate"), **sizes}
        names = self.given.names or tuple(str(place + 1) for place in range(len(sizes["direction"])))
        used = np.isfinite(sizes["standardized"])
        return pd.DataFrame({"column": names, **sizes})[used].reset_index(drop=True)

    def arrays(self, trace: Trace) -> dict[str, Vector]:
        """Return the direction and its intervals."""
        known, what = trace.intervals, trace.estimate
        ends = {} if known is None else {"low": known.low, "high": known.high}
        return {"estimate": what, "standardized": trace.problem.standardized(what), **ends}


class Matrix(Measurements):
    """A matrix with missing entries, also as triples, with or without features of rows and columns."""

    def parts(self, trace: Trace) -> Mapping[str, Vector]:
        """Return the completed matrix."""
        return {"completed matrix": trace.problem.completed(trace.estimate)}

    def table(self, trace: Trace) -> pd.DataFrame:
        """Return the completed matrix with the names of its rows and columns."""
        completed = trace.problem.completed(trace.estimate)
        return pd.DataFrame(completed, index=list(self.given.rows) or None, columns=list(self.given.names) or None)

    def arrays(self, trace: Trace) -> dict[str, Vector]:
        """Return the factors and the completed matrix."""
        return {**super().arrays(trace), "completed": trace.problem.completed(trace.estimate)}


class LabeledRows(Measurements):
    """Rows with features and labels."""

    def parts(self, trace: Trace) -> Mapping[str, Vector]:
        """Return the prevalence of each label in the training rows, the most frequent first."""
        return {"label prevalence": np.sort(np.asarray(trace.problem.Y.mean(axis=0)).ravel())[::-1][None]}

    def table(self, trace: Trace) -> pd.DataFrame:
        """Return the positive training rows of each label, and its AUC on held-out rows."""
        problem: LabelProblem = trace.problem
        scores = trace.estimate.estimate.scores(problem.X_test)  # type: ignore[union-attr]
        areas = ranking.label_areas(scores, problem.Y_test, problem.mask_test)
        on = np.asarray(problem.Y.sum(axis=0)).ravel().astype(int)
        return pd.DataFrame({"label": self.rows.names, "positive training rows": on, "AUC on held-out rows": areas})

    @property
    def rows(self) -> Dataset:
        """The training rows."""
        return self.given.y[0] if isinstance(self.given.y, tuple) else self.given.y

    def packed(self, trace: Trace) -> bytes:
        """Return the content of an npz with the model, which predicts labels of new rows."""
        found: Any = trace.estimate
        columns = self.rows.rows(slice(0, 0))
        model = FittedModel(trace.job.solver, dict(trace.job.options), found.estimate, columns, found.scaling)
        save_model(memory := io.BytesIO(), model)
        return memory.getvalue()


TASKS: Mapping[str, type[Measurements]] = {
    "inductive-completion": Matrix,
    "multilabel": LabeledRows,
    **dict.fromkeys(("rank-one-sensing", "polynomial-network", "phase-retrieval"), Measurements),
}
"""Tasks by model; all other models have one-bit responses."""


def task_of(given: Given, model: str = "") -> Measurements:
    """Return the task of data, by the given model or by their form."""
    model = model or given.model or model_of(given.y, given.X, given.Z)
    kind_of(model)
    return TASKS.get(model, Responses)(given, model)


def read_task(
    path: File,
    hints: Hints = NOTHING,
    *,
    test: File | None = None,
    labels: Labels = None,
    rows: File | None = None,
    columns: File | None = None,
    file_format: str = "",
    base: int | None = None,
    limit: int = 0,
    observed: float = 1.0,
    seed: int = 0,
    limit_bytes: int = LIMIT_BYTES,
) -> Measurements:
    """Return the task of a file: labels if its format, `labels` or the model state it, else by its columns.

    test: rows to score labels on, instead of held-out rows. labels, file_format, base, limit: see `rows.read`.
    observed: random fraction of the known training labels that solvers get. rows, columns: files with features of the
    rows and columns of a matrix.
    """
    suffix = data_suffix(Path(path))
    of_labels = labels is not None or file_format or hints.model == Multilabel.model or hints.kind == "labels"
    if suffix == ".txt":
        of_labels = of_labels or test is not None or is_sized(Source(Path(path), "text", limit_bytes))
    if not of_labels and suffix not in OF_LABELS:
        for name, value in (("test", test), ("base", base), ("limit", limit or None)):
            if value is not None:
                raise InputError(name, "left out unless rows have labels", value, "name the label columns")
        return task_of(read_given(path, hints, rows=rows, columns=columns, limit_bytes=limit_bytes), hints.model)
    given = read(path, labels, beside=test, file_format=file_format, base=base, limit=limit, limit_bytes=limit_bytes)
    fresh = test and read(test, labels, like=given, file_format=file_format, limit=limit, limit_bytes=limit_bytes)
    given = hide(given, observed, seed)
    known = "" if given.observed is None else f", {given.observed.sum() / (given.n * given.L):.1%} of them known"
    rest = f", {fresh.n:,} rows to test on" if fresh else ""
    notes = "".join(f" {note}" for note in (*given.notes, *(fresh.notes if fresh else ())))
    words = f"{given.n:,} rows, {given.d:,} features, {given.L:,} labels{known}{rest}{notes}"
    return LabeledRows(Given((given, fresh) if fresh else given, words=words), Multilabel.model)


class Fit(NamedTuple):
    """A run on a file: its task and its trace."""

    task: Measurements
    trace: Trace

    @property
    def compared(self) -> Comparison | None:
        """The metric on held-out data and on a baseline, None without held-out data."""
        held_out = self.trace.job.spec.held.any()  # type: ignore[attr-defined]
        return (
            self.trace.problem.compared(self.trace.estimate) if held_out and self.trace.estimate is not None else None
        )

    @property
    def table(self) -> pd.DataFrame:
        """The estimate as a table."""
        return self.task.table(self.trace)

    def save(self, path: File) -> None:
        """Write the estimate as CSV or npz."""
        self.task.save(path, self.trace)

    def summary(self) -> dict[str, Any]:
        """Return the run as plain values."""
        beside = {} if self.compared is None else {"held_out": self.compared._asdict()}
        return {"understood": self.task.source(), **self.trace.summary(), **beside}


def fit(path: File, hints: Hints = NOTHING, *, solver: AnySolver = "", **options: Any) -> Fit:
    """Read a file, recognize its contents, and run a solver. options: of `read_task`, the solver and its spec.

    The result has `task.source()`, a line that describes the data; `trace`; `table`; `compared`; `save(path)`.
    """
    names = ("test", "labels", "rows", "columns", "file_format", "base", "limit", "observed", "limit_bytes")
    said = {name: options.pop(name) for name in names if name in options}
    task = read_task(path, hints, **said, seed=int(options.get("seed", 0)))
    [job] = task.plan([solver], **options)
    return Fit(task, in_units(solve.run(job)))
