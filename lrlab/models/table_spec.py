"""Partially observed matrices: what completion and multi-label regression share."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.special import bdtr

from lrlab.arrays import Array, Indices
from lrlab.lowrank import LowRank
from lrlab.models.low_rank import Condition, LowRankSpec, Noise, Rank
from lrlab.parameters import InputError, Value, number

LARGEST_TABLE = 10**8
LARGEST_WEIGHTED = 4_000_000
"""Largest number of entries for sampling by weight: each has a random number."""
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
        for name, usual in self.usual_places.items() if entries > LARGEST_WEIGHTED else ():
            if self.values()[name] != usual:
                expected = f"{usual} for tables of more than {LARGEST_WEIGHTED:,} entries"
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
        weights, (rows, columns) = popularity(self.table, self.popularity), self.block_size
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


def popularity(table: tuple[int, int], exponent: float) -> Array:
    """Return the sampling weights (i j)^-exponent of entries (n1, n2)."""
    rows, columns = (np.arange(1.0, side + 1.0) ** -exponent for side in table)
    return np.outer(rows, columns)


def leverage(M: LowRank) -> Array:
    """Return the sum of the leverages of row and column, n1 ||u_i||^2 / k + n2 ||v_j||^2 / k, of each entry (n1, n2).

    From O(k n log^2 n) entries sampled in proportion to it the nuclear norm recovers every n x n matrix of rank k,
    however uneven its rows (Chen, Bhojanapalli, Sanghavi & Ward 2014, "Coherent matrix completion").
    """
    rows, columns = (len(side) / side.shape[1] * np.square(side).sum(axis=1) for side in (M.U, M.V))
    return rows[:, None] + columns


def places(rng: Generator, weights: Array, m: int) -> Indices:
    """Return m different sorted indices in row-major order, sampled one by one in proportion to their weights.

    Each entry has an exponential time with its weight as rate; the first m are sampled (Efraimidis & Spirakis 2006). m:
    at most the number of positive weights.
    """
    times = np.full(weights.shape, np.inf)
    np.divide(rng.standard_exponential(weights.shape), weights, out=times, where=weights > 0)
    return np.sort(np.argpartition(times, m - 1, axis=None)[:m])
