"""Fits a solver to a data set in files, with settings chosen by validation, as tables of papers have them."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lrlab import datasets
from lrlab.datasets.folder import Files
from lrlab.fits.fitting import fit
from lrlab.parameters import Value

Row = dict[str, Any]


@dataclass(frozen=True)
class DatasetFit:
    """A solver on a data set: rank `share` of the number of labels (0: the solver has none), share of labels observed.

    Features are taken as they are, and predictors have no intercepts, as in papers.
    tune_by: the metric by which one validation split chooses regularisation and iterations. trial: seeds the split, the
    draw of the observed labels and the solver.
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


def fit_dataset(task: DatasetFit) -> Row:
    """Return the test scores of the tuned solver, what the split chose, and how long the last fit took."""
    train, test, labels = task.files
    settings: dict[str, Any] = dict(task.settings)
    rank = max(1, round(task.share * labels_of(train, labels))) if task.share else 0
    fitted = fit(
        train, test, labels, solver=task.solver, rank=rank, iterations=task.iterations, observed=task.observed,
        seed=task.trial, tune_by=task.tune_by, intercept=False, scaling="none", compared=False, **settings,
    )  # fmt: skip
    chosen = fitted.tuned.chosen if fitted.tuned else None
    return {
        "data": task.data, "solver": task.solver, "share": task.share, "observed": task.observed, "trial": task.trial,
        "rank": rank, "regularization": chosen.candidate.regularization if chosen else None,
        **(fitted.rows[-1] if fitted.rows else {}),
    }  # fmt: skip


@lru_cache(maxsize=16)
def labels_of(train: Path, labels: Path | None) -> int:
    """Return the number of labels of a data set."""
    return datasets.read(train, labels).L
