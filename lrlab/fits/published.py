"""Solvers tuned and fitted on published data sets, as papers' tables have them."""

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
class PublishedFit:
    """A solver on a data set: rank `share` of the number of labels (0 for one without), share of the labels seen.

    tune_by: the metric by which one validation split chooses regularisation and iterations. trial: seeds the split, the
    labels that are seen and the solver.
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


def published_fit(task: PublishedFit) -> Row:
    """Return the test scores of the tuned solver, what the split chose, and how long the last fit took."""
    train, test, labels = task.files
    rank = max(1, round(task.share * labels_of(train, labels))) if task.share else 0
    found = fit(
        train, test, labels, solver=task.solver, rank=rank, iterations=task.iterations, observed=task.observed,
        seed=task.trial, tune_by=task.tune_by, **dict(task.settings),
    )  # fmt: skip
    chosen = found.tuned.chosen if found.tuned else None
    return {
        "data": task.data, "solver": task.solver, "share": task.share, "observed": task.observed, "trial": task.trial,
        "rank": rank, "regularization": chosen.candidate.regularization if chosen else None,
        **(found.rows[-1] if found.rows else {}),
    }  # fmt: skip


@lru_cache(maxsize=16)
def labels_of(train: Path, labels: Path | None) -> int:
    """Return the number of labels of a data set."""
    return datasets.read(train, labels).L
