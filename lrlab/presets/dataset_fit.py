"""Fits a solver to a data set in files, with settings chosen on held-out rows, as tables of papers have them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lrlab.data import rows
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import hide
from lrlab.data.recover import job_of
from lrlab.engine import solve
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError, Value
from lrlab.presets.published import SHAPES, Files
from lrlab.runs.memory import memory_limit, memory_words
from lrlab.runs.trace import Row

MOST_SECONDS = 3600.0
"""Most time of a run."""
MOST_BYTES = 2**25
"""Memory of the features; of larger sets as many rows are simulated as take no more."""
SPARSE = 0.3
"""Fraction of the features that is not 0 above which they are simulated dense."""
RANK, NOISE = 20, 1.0
"""Of the scores that simulated labels come from; the rank is at most half of the largest one."""


@dataclass(frozen=True)
class DatasetFit:
    """A solver on a data set: rank `share` of the number of labels (0: the solver has none), share of labels observed.

    Features are taken as they are, and predictors have no intercepts, as in papers. Without files it is fitted to
    synthetic rows of the set's shape.
    tune_by: the metric by which held-out rows choose regularization and iterations. trial: seeds the split, the draw of
    the observed labels and the solver.
    """

    data: str
    files: Files | None
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
    trace: the scores after each iteration.
    """
    about = {name: getattr(task, name) for name in ("data", "solver", "share", "observed", "trial")}
    about["synthetic"] = task.files is None
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
    scored = [named(row) for row in solve.run(job, worker=False).rows]
    weight = dict(job.options).get("regularization")
    return {**about, "regularization": weight, **(scored[-1] if scored else {}), "refused": "", "trace": scored}


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
    if task.files is None:
        return stand_in(task.data, seed=0)
    train, test, labels = task.files
    training = rows.read(train, labels, beside=test)
    return training, rows.read(test, labels, like=training)


# The same rows for all solvers and trials, as a set is.
@lru_cache(maxsize=1)
def stand_in(name: str, seed: int) -> tuple[Dataset, Dataset]:
    """Return synthetic rows to learn from and to test on, with the set's numbers of features, labels and both per row.

    They are as many as the set has, or fewer in the same proportion. Nothing else is that of the set. InputError if
    there is no memory for them.
    """
    spec, n = stand_in_spec(name, seed)
    if spec.data_bytes > memory_limit():
        expected, size = f"at most {memory_words(memory_limit())}", memory_words(spec.data_bytes)
        raise InputError("memory", f"{expected} for synthetic rows of the shape of {name}", size, "get the set itself")
    drawn = spec.build()
    return Dataset(drawn.X[:n], drawn.Y[:n]), Dataset(drawn.X[n:], drawn.Y[n:])


def stand_in_spec(name: str, seed: int) -> tuple[Multilabel, int]:
    """Return the spec of all rows of a stand-in, and how many of them are to learn from."""
    shape = SHAPES[name]
    share = shape.features_per_row / shape.features
    row_bytes = 8 * shape.features if share > SPARSE else 26 * shape.features_per_row
    fraction = min(1.0, MOST_BYTES / (row_bytes * (shape.rows + shape.test_rows)))
    n, test = (max(2, round(fraction * count)) for count in (shape.rows, shape.test_rows))
    most = max(1, min(shape.features, shape.labels) // 2)
    spec = Multilabel(
        n=n + test,
        d=shape.features,
        labels=shape.labels,
        rank=min(RANK, most),
        per_row=round(shape.labels_per_row),
        density=1.0 if share > SPARSE else share,
        noise=NOISE,
        seed=seed,
    )
    return spec, n
