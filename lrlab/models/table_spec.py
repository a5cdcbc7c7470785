"""Partially observed matrices: what completion and multi-label regression share."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from scipy.special import bdtr

from lrlab.arrays import Array
from lrlab.models import uneven_places
from lrlab.models.low_rank import Condition, LowRankSpec, Noise, Rank
from lrlab.parameters import InputError, Value, number

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
    popularity: Annotated[
        float, number(0, 3, "entries are observed in proportion to (i j)^-a", symbol="a", added=True)
    ] = 0.0
    block: Annotated[
        float, number(0, 0.95, "side of the unobserved last block, as a fraction", symbol="β", added=True)
    ] = 0.0

    @property
    @abstractmethod
    def table(self) -> tuple[int, int]:
        """Rows and columns of the table."""

    @property
    def measurements(self) -> int:  # noqa: D102
        return max(1, round(self.observed * self.table[0] * self.table[1]))

    def check(self) -> None:
        """Reject matrices too large to sample, and more observations than entries."""
        super().check()
        if self.table[0] * self.table[1] > LARGEST_TABLE:
            largest = LARGEST_TABLE // self.table[0]
            raise InputError(self._column_name, f"at most {largest}", self.table[1], "make the table smaller")
        entries = math.prod(self.table)
        for name, usual in self.usual_places.items() if entries > uneven_places.LARGEST else ():
            if self.values()[name] != usual:
                expected = f"{usual} for tables of more than {uneven_places.LARGEST:,} entries"
                raise InputError(name, expected, self.values()[name], f"set it to {usual}, or make the table smaller")
        free = entries - math.prod(self.block_size)
        if self.measurements > free:
            remedy = "observe fewer entries, or make the block smaller"
            raise InputError("observed", f"at most {free / entries:.4g}, outside the block", self.observed, remedy)

    usual_places: ClassVar[Mapping[str, Value]] = {"popularity": 0, "block": 0}
    """Parameters of the sampling law, with their values for uniform sampling."""

    @property
    def block_size(self) -> tuple[int, int]:
        """Rows and columns of the block without observed entries; (0, 0) without one."""
        return round(self.block * self.table[0]), round(self.block * self.table[1])

    @property
    def uneven(self) -> bool:
        """Whether entries are sampled by weight."""
        return any(self.values()[name] != usual for name, usual in self.usual_places.items())

    @property
    def place_weights(self) -> Array:
        """The sampling weights (n1, n2) of entries."""
        weights, (rows, columns) = uneven_places.popularity(self.table, self.popularity), self.block_size
        weights[self.table[0] - rows :, self.table[1] - columns :] = 0.0
        return weights

    @property
    def drawn_bytes(self) -> int:
        """Memory of a random number and the order of all entries, if they are sampled by weight."""
        return 24 * math.prod(self.table) if self.uneven else 0

    _column_name = "n2"

    @property
    def bare_sides(self) -> tuple[int, ...]:
        """Sides of the matrix without features: 0 for rows, 1 for columns."""
        return ()

    @property
    def scarce_rows(self) -> float | None:
        """Expected number of rows and columns without features that have fewer observed entries than the rank.

        Counts per row are nearly binomial; no method recovers such a row (coupon collector). None if all have features,
        or entries are not sampled uniformly.
        """
        if not self.bare_sides or self.uneven:
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
