"""Partially observed matrices: what completion and multi-label regression share."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

from scipy.special import bdtr

from lrlab.models.low_rank import Condition, LowRankSpec, Noise, Rank
from lrlab.parameters import InputError, number

LARGEST_TABLE = 10**8
WORTH_SAYING = 0.1
"""Expected number of rows with fewer entries than the rank that triggers a warning."""

Observed = Annotated[float, number(1e-4, 1, "fraction of the entries that is observed", scale="log")]


@dataclass(frozen=True, kw_only=True)
class TableSpec(LowRankSpec):
    """Some entries of a matrix R = X W Y^T (n1, n2), scaled so that an entry has mean square 1."""

    rank: Rank = 3
    observed: Observed = 0.006
    condition: Condition = 1.0
    noise: Noise = 0.0

    @property
    @abstractmethod
    def table(self) -> tuple[int, int]:
        """Rows and columns of the table."""

    @property
    def measurements(self) -> int:  # noqa: D102
        return max(1, round(self.observed * self.table[0] * self.table[1]))

    def check(self) -> None:
        """Reject matrices too large to sample."""
        super().check()
        if math.prod(self.table) > LARGEST_TABLE:
            largest = LARGEST_TABLE // self.table[0]
            raise InputError(self._column_name, f"at most {largest}", self.table[1], "make the table smaller")

    _column_name = "n2"

    @property
    def bare_sides(self) -> tuple[int, ...]:
        """Sides of the matrix without features: 0 for rows, 1 for columns."""
        return ()

    @property
    def scarce_rows(self) -> float | None:
        """Expected number of rows and columns without features that have fewer observed entries than the rank.

        Counts per row are nearly binomial; no method recovers such a row (coupon collector). None if all have features.
        """
        if not self.bare_sides:
            return None
        m, k = self.measurements, self.true_rank
        rate, sizes = m / math.prod(self.table), [(self.table[side], self.table[1 - side]) for side in self.bare_sides]
        return sum(rows * float(bdtr(min(k - 1, n), n, rate)) for rows, n in sizes)

    @property
    def remark(self) -> str:
        """Warn if no method can recover W, or some of its rows."""
        scarce = self.scarce_rows or 0.0
        if scarce < WORTH_SAYING or self.measurements < self.degrees_of_freedom:
            return super().remark
        words = f"About {scarce:.2g} rows and columns are expected to have fewer observed entries than the "
        return f"{words}rank {self.true_rank}: no method recovers these. {super().remark}".rstrip()
