"""Reads users' own files of rows, and says which ranks they have."""

from pathlib import Path
from typing import Any

import numpy as np

from lrlab import datasets
from lrlab.datasets import Dataset
from lrlab.models.own_rows import hide
from lrlab.parameters import InputError

File = str | Path
MAX_DEFAULT_RANK = 100


def label_names(columns: Dataset) -> tuple[str, ...]:
    """Return names of the labels; the numbers by which files call them where there are none."""
    first = columns.counts_from[1]
    return columns.label_names or tuple(str(j + first) for j in range(columns.L))


def count_auc_rows(data: Dataset) -> int:
    """Return the number of rows with known labels that are on and others that are off: those that have an AUC."""
    on = np.diff(data.Y.indptr)
    known = data.L if data.observed is None else data.observed.sum(axis=1)
    return int(((on > 0) & (on < known)).sum())


def read(train: File, labels: Any, observed: float, seed: int, limit: int = 0, file_format: str = "") -> Dataset:
    """Return the rows of a file, the first `limit` if that is not 0, with a share of their known labels observed."""
    if not 0 < observed <= 1:
        raise InputError("observed", "a share above 0, at most 1", observed, "give observed such a value, such as 0.2")
    return hide(datasets.read(train, labels, limit=limit, file_format=file_format), observed, seed)


def max_rank(data: Dataset) -> int:
    """Return the largest rank that a predictor can have."""
    return min(data.d, data.L)


def default_rank(most: int) -> int:
    """Return the rank where none is given: half of the largest possible one, and at most MAX_DEFAULT_RANK."""
    return min(max(1, most // 2), MAX_DEFAULT_RANK)


def require_rank(rank: int, data: Dataset) -> None:
    """Raise InputError unless there are predictors of such a rank; 0 stands for none given."""
    if not 0 <= rank <= max_rank(data):
        expected = f"in 0..{max_rank(data)}, the smaller number of features and labels"
        raise InputError("rank", expected, rank, "lower the rank, or leave it 0")
