"""Problems on a table of which some entries are observed: what completion and multi-label regression share."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

from scipy.special import bdtr

from lrlab.models import popularity
from lrlab.models.low_rank import Condition, LowRankSpec, Noise, Rank
from lrlab.parameters import InputError, Parameter

LARGEST_TABLE = 10**8
WORTH_SAYING = 0.1
"""Expected number of rows with fewer entries than the rank from which on it is said beforehand."""

Observed = Annotated[float, Parameter(meaning="share of the entries that is observed", low=1e-4, high=1, scale="log")]


@dataclass(frozen=True, kw_only=True)
class TableSpec(LowRankSpec):
    """Some entries of a table R = X W Y^T (n1, n2), scaled so that an entry has mean square 1."""

    rank: Rank = 3
    observed: Observed = 0.006
    condition: Condition = 1.0
    noise: Noise = 0.0
    popularity: Annotated[
        float,
        Parameter(
            meaning="row i and column j are observed in proportion to (i j)^-a; 0: all alike",
            symbol="a",
            low=0,
            high=3,
            added=True,
        ),
    ] = 0.0

    @property
    @abstractmethod
    def table(self) -> tuple[int, int]:
        """Rows and columns of the table."""

    @property
    def measurements(self) -> int:  # noqa: D102
        return max(1, round(self.observed * self.table[0] * self.table[1]))

    def check(self) -> None:
        """Refuse tables whose places cannot be drawn, and ranks above the number of features."""
        super().check()
        if self.table[0] * self.table[1] > LARGEST_TABLE:
            largest = LARGEST_TABLE // self.table[0]
            raise InputError(self._column_name, f"at most {largest}", self.table[1], "make the table smaller")
        if self.popularity and math.prod(self.table) > popularity.LARGEST:
            expected = f"0 for tables of more than {popularity.LARGEST:,} entries"
            raise InputError("popularity", expected, self.popularity, "set it to 0, or make the table smaller")

    @property
    def drawn_bytes(self) -> int:
        """Memory of the random numbers and order of all places, where they are drawn by popularity."""
        return 16 * math.prod(self.table) if self.popularity else 0

    _column_name = "n2"

    @property
    def bare_sides(self) -> tuple[int, ...]:
        """Sides of the table without features: 0 for rows, 1 for columns."""
        return ()

    @property
    def scarce_rows(self) -> float | None:
        """Expected number of rows and columns without features that have fewer observed entries than the rank.

        Where all are alike counts of a row are as good as binomial; no method recovers such a row (coupon collector).
        None where all have features.
        """
        if not self.bare_sides:
            return None
        m, k = self.measurements, self.true_rank
        if self.popularity:
            return sum(popularity.scarce(self.table, m, self.popularity, k, side) for side in self.bare_sides)
        share, sizes = m / math.prod(self.table), [(self.table[side], self.table[1 - side]) for side in self.bare_sides]
        return sum(rows * float(bdtr(min(k - 1, n), n, share)) for rows, n in sizes)

    @property
    def remark(self) -> str:
        """Say where no method can recover W, or some of its rows."""
        scarce = self.scarce_rows or 0.0
        if scarce < WORTH_SAYING or self.measurements < self.degrees_of_freedom:
            return super().remark
        words = f"About {scarce:.2g} rows and columns are expected to have fewer observed entries than the "
        return f"{words}rank {self.true_rank}: no method recovers these. {super().remark}".rstrip()
