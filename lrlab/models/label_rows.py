"""Rows with features and labels: their sizes, and sparse random patterns of labels."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices
from lrlab.models.low_rank import Rank
from lrlab.parameters import InputError, number
from lrlab.protocol import Spec

BLOCK = 2**22
"""Entries of the label matrix per block of random indices."""


@dataclass(frozen=True, kw_only=True)
class LabelRows(Spec):
    """Rows with features and labels, simulated or given: the sizes that solvers and memory checks need."""

    n: Annotated[int, number(2, 1_000_000, "number of rows", scale="log")] = 2000
    d: Annotated[int, number(2, 1_000_000, "features per row; the first is the constant 1", scale="log")] = 100
    labels: Annotated[int, number(2, 100_000, "number of labels", symbol="L", scale="log")] = 50
    rank: Rank = 5
    observed: Annotated[float, number(1e-4, 1, "fraction of the labels that is observed", scale="log")] = 1.0
    density: Annotated[float, number(1e-5, 1, "fraction of nonzero features; 1 is dense", scale="log")] = 1.0

    def check(self) -> None:
        """Reject ranks above the smaller side."""
        least = min(self.d, self.labels)
        if self.rank > least:
            expected = f"in 1..min(d, labels) = {least}"
            raise InputError("rank", expected, self.rank, "lower the rank, or raise d and labels")

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of W."""
        return self.d, self.labels

    @property
    def remark(self) -> str:
        """Warn if the rows do not determine W."""
        if self.n >= self.d:
            return ""
        return f"Fewer rows (n = {self.n}) than features (d = {self.d}): only regularization makes W unique."

    @property
    def feature_entries(self) -> int:
        """Approximate number of stored features of the training rows."""
        return self.n * (self.d if self.density == 1 else 1 + math.ceil(self.density * (self.d - 1)))

    @property
    def complete(self) -> bool:
        """Whether all labels are observed."""
        return self.observed == 1

    @property
    def observed_entries(self) -> int:
        """Approximate number of observed labels."""
        return math.ceil(self.observed * self.n * self.labels)

    @property
    def held_bytes(self) -> int:
        """Memory of the training features and of the observed indices."""
        one = 8 if self.density == 1 else 26
        return one * self.feature_entries + (0 if self.complete else 6 * self.observed_entries)

    @property
    def memory_advice(self) -> str:
        """Fewer stored features."""
        return "lower density, since lrlab stores nonzero features only"


def scattered(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a fraction of the entries, drawn uniformly without replacement."""
    rows, columns = shape
    total = rows * columns
    # Random rounding gives many small blocks the same fraction as one large block.
    size = min(total, int(share * total + rng.random()))
    places = np.sort(rng.choice(total, size=size, replace=False, shuffle=False))
    pointer = np.concatenate([[0], np.cumsum(np.bincount(places // columns, minlength=rows))])
    return csr_array((np.ones(size, bool), places % columns, pointer), shape=shape)


def drawn_pattern(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a fraction of the entries, as `scattered` for one block of rows after the other.

    Indices have 32 bits: 5 bytes per entry, and little more in between.
    """
    rows, columns = shape
    height, parts, lengths = max(1, BLOCK // columns), list[Indices](), list[Indices]()
    for start in range(0, rows, height):
        block = scattered(rng, (min(height, rows - start), columns), share)
        parts.append(block.indices.astype(np.int32))
        lengths.append(np.diff(block.indptr))
    pointer = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    pointer = pointer.astype(np.int32 if pointer[-1] < 2**31 else np.int64)
    return csr_array((np.ones(pointer[-1], bool), np.concatenate(parts), pointer), shape=shape)


def highest(scores: Array, count: int) -> csr_array:
    """Return a pattern of True at the `count` highest scores of each row."""
    rows = len(scores)
    places = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    return csr_array((np.ones(places.size, bool), places.ravel(), np.arange(rows + 1) * count), shape=scores.shape)
