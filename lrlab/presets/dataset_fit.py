"""Fits a solver to a data set in files, with settings chosen on held-out rows, as tables of papers have them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lrlab.data import rows
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import hide
from lrlab.data.recover import job_of
from lrlab.engine import solve
from lrlab.models.multilabel_problem import MultilabelProblem, measured
from lrlab.parameters import InputError, Value
from lrlab.presets.published import Files
from lrlab.runs.trace import Row

MOST_SECONDS = 3600.0
"""Most time of a run."""
BLOCKS = 20
"""Blocks of the test rows, whose scores say how sure a difference between solvers is."""


@dataclass(frozen=True)
class DatasetFit:
    """A solver on a data set: rank `share` of the number of labels (0: the solver has none), share of labels observed.

    Features are taken as they are, and predictors have no intercepts, as in papers.
    tune_by: the metric by which held-out rows choose regularization and iterations. trial: seeds the split, the draw of
    the observed labels and the solver.
    """

    data: str
    files: Files
    solver: str
    share: float
    observed: float
    iterations: int
    tune_by: str
    settings: tuple[tuple[str, Value], ...] = ()
    trial: int = 0


def fit_dataset(task: DatasetFit) -> dict[str, Any]:
    """Return the test scores of the tuned solver, what the split chose, and how long the last fit took.

    The rank is at most the number of features. `refused` is the sentence by which the solver refuses the data, or "".
    trace: the scores after each iteration. blocks: those of the last one on each of BLOCKS blocks of the test rows.
    """
    about = {name: getattr(task, name) for name in ("data", "solver", "share", "observed", "trial")}
    try:
        training, fresh = rows_of(task)
        about["rank"] = min(training.d, max(1, round(task.share * training.L))) if task.share else 0
        settings: dict[str, Any] = dict(task.settings)
        job = job_of(
            (hide(training, task.observed, task.trial), fresh),
            solver=task.solver,
            tune_by=task.tune_by,
            max_iter=task.iterations,
            max_seconds=MOST_SECONDS,
            intercept=False,
            scaling="none",
            seed=task.trial,
            **({"rank": about["rank"]} if about["rank"] else {}),
            **settings,
        )
    except InputError as error:
        return {**about, "regularization": None, "refused": str(error), "trace": []}
    trace = solve.run(job, worker=False)
    scored, weight = [named(row) for row in trace.rows], dict(job.options).get("regularization")
    own = {**about, "regularization": weight, **(scored[-1] if scored else {}), "refused": "", "trace": scored}
    return own | ({"blocks": blocks_of(trace.estimate, job.spec.build())} if scored else {})


def blocks_of(estimate: Any, problem: MultilabelProblem) -> list[Row]:
    """Return the scores of an estimate on each of some blocks of the test rows."""
    parts = np.array_split(np.arange(problem.X_test.shape[0]), BLOCKS)
    return [named(measured(estimate, problem.X_test[part], problem.Y_test[part])) for part in parts if len(part)]


def named(row: Row) -> Row:
    """Return scores by the names that papers print: precision in percent, the others as fractions."""
    at = {name: name.replace("_", "@") if name[-1].isdigit() else name for name in row}
    left_out = ("objective", "residual")
    return {
        at[name]: (100.0 if name.startswith("precision") else 1.0) * value
        for name, value in row.items()
        if name not in left_out
    }


def rows_of(task: DatasetFit) -> tuple[Dataset, Dataset]:
    """Return the rows to learn from and to test on."""
    train, test, labels = task.files
    training = rows.read(train, labels, beside=test)
    return training, rows.read(test, labels, like=training)
