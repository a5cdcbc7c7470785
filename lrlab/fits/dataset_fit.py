"""Fits a solver to a data set in files, with settings chosen by validation, as tables of papers have them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lrlab import datasets
from lrlab.datasets import Dataset
from lrlab.datasets.published import Files
from lrlab.fits.own_files import read
from lrlab.fits.row_fit import FitSettings, fit_rows
from lrlab.fits.stand_in import stand_in
from lrlab.models.own_rows import hide
from lrlab.parameters import InputError, Value

Row = dict[str, Any]
MOST_SECONDS = 3600.0
"""Most time of a run."""


@dataclass(frozen=True)
class DatasetFit:
    """A solver on a data set: rank `share` of the number of labels (0: the solver has none), share of labels observed.

    Features are taken as they are, and predictors have no intercepts, as in papers. Without files it is fitted to
    synthetic rows of the set's shape.
    tune_by: the metric by which one validation split chooses regularisation and iterations. trial: seeds the split, the
    draw of the observed labels and the solver.
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


def fit_dataset(task: DatasetFit) -> Row:
    """Return the test scores of the tuned solver, what the split chose, and how long the last fit took.

    The rank is at most the number of features. `refused` is the sentence by which the solver refuses the data, or "".
    trace: the scores after each iteration.
    """
    about = {name: getattr(task, name) for name in ("data", "solver", "share", "observed", "trial")}
    about["synthetic"] = task.files is None
    try:
        training, fresh = rows_of(task)
        about["rank"] = min(training.d, max(1, round(task.share * training.L))) if task.share else 0
        settings = FitSettings.of(
            task.solver, dict(task.settings), rank=about["rank"], iterations=task.iterations, intercept=False,
            scaling="none", seed=task.trial, max_seconds=MOST_SECONDS, tune_by=task.tune_by,
        )  # fmt: skip
        fitted = fit_rows(hide(training, task.observed, task.trial), fresh, settings)
    except InputError as error:
        return {**about, "regularization": None, "refused": str(error), "trace": []}
    chosen = fitted.tuned.chosen if fitted.tuned else None
    weight = chosen.candidate.regularization if chosen else None
    last = fitted.rows[-1] if fitted.rows else {}
    return {**about, "regularization": weight, **last, "refused": "", "trace": fitted.rows}


def rows_of(task: DatasetFit) -> tuple[Dataset, Dataset]:
    """Return the rows to learn from and to test on."""
    if task.files is None:
        return drawn(task.data)
    train, test, labels = task.files
    training = read(train, labels, 1.0, 0)
    return training, datasets.read(test, labels, like=training)


@lru_cache(maxsize=1)
def drawn(name: str) -> tuple[Dataset, Dataset]:
    """Return synthetic rows, the same ones for all solvers and trials, as a set is."""
    return stand_in(name, seed=0)
