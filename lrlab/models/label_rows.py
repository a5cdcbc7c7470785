"""Sizes of rows with features and labels, drawn or given, as solvers and forecasts of memory ask for them."""

import math
from dataclasses import dataclass
from typing import Annotated

from lrlab.models.low_rank import Rank
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Spec


@dataclass(frozen=True, kw_only=True)
class LabelRows(Spec):
    """Rows with features and labels, drawn or given: their sizes, as solvers and forecasts of memory ask for them."""

    n: Annotated[int, Parameter(meaning="number of rows", low=2, high=1_000_000, scale="log")] = 2000
    d: Annotated[
        int,
        Parameter(meaning="features of a row, the first of them the constant 1", low=2, high=1_000_000, scale="log"),
    ] = 100
    labels: Annotated[int, Parameter(meaning="number of labels", symbol="L", low=2, high=100_000, scale="log")] = 50
    rank: Rank = 5
    observed: Annotated[
        float,
        Parameter(
            meaning="share of the entries of the label table that is observed, whether 0 or 1",
            low=1e-4,
            high=1,
            scale="log",
        ),
    ] = 1.0
    density: Annotated[
        float, Parameter(meaning="share of the features that is not zero; 1 is dense", low=1e-5, high=1, scale="log")
    ] = 1.0

    def check(self) -> None:
        """Refuse ranks that no such table has."""
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
        """Say where the rows do not decide W."""
        if self.n >= self.d:
            return ""
        return f"Fewer rows (n = {self.n}) than features (d = {self.d}): only regularisation decides between matrices."

    @property
    def feature_entries(self) -> int:
        """Stored features of the rows given, about."""
        return self.n * (self.d if self.density == 1 else 1 + math.ceil(self.density * (self.d - 1)))

    @property
    def complete(self) -> bool:
        """Whether all labels are observed."""
        return self.observed == 1

    @property
    def observed_entries(self) -> int:
        """Entries of the label table that are observed, about."""
        return math.ceil(self.observed * self.n * self.labels)

    @property
    def held_bytes(self) -> int:
        """Memory of features of the rows given and of the observed places."""
        one = 8 if self.density == 1 else 26
        return one * self.feature_entries + (0 if self.complete else 6 * self.observed_entries)

    @property
    def memory_advice(self) -> str:
        """Fewer stored features."""
        return "lower density, since only features that are not zero are held"
