"""Fits a solver to a data set in files, with settings chosen by validation, as tables of papers have them."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lrlab import datasets
from lrlab.datasets.folder import Files
from lrlab.fits.fitting import fit
from lrlab.parameters import InputError, Value

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
    """Return the test scores of the tuned solver, what the split chose, and how long the last fit took.

    The rank is at most the number of features. `refused` is the sentence by which the solver refuses the data, or "".
    """
    train, test, labels = task.files
    about = {name: getattr(task, name) for name in ("data", "solver", "share", "observed", "trial")}
    settings: dict[str, Any] = dict(task.settings)
    try:
        d, L = sizes_of(train, labels)
        about["rank"] = min(d, max(1, round(task.share * L))) if task.share else 0
        fitted = fit(
            train, test, labels, solver=task.solver, rank=about["rank"], iterations=task.iterations,
            observed=task.observed, seed=task.trial, tune_by=task.tune_by, intercept=False, scaling="none",
            compared=False, **settings,
        )  # fmt: skip
    except InputError as error:
        return {**about, "regularization": None, "refused": str(error)}
    chosen = fitted.tuned.chosen if fitted.tuned else None
    weight = chosen.candidate.regularization if chosen else None
    return {**about, "regularization": weight, **(fitted.rows[-1] if fitted.rows else {}), "refused": ""}


@lru_cache(maxsize=16)
def sizes_of(train: Path, labels: Path | None) -> tuple[int, int]:
    """Return the numbers of features and labels of a data set."""
    data = datasets.read(train, labels)
    return data.d, data.L
