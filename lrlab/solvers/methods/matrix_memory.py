"""Memory of images and matrices that solvers of low-rank matrices hold beside the data."""

from lrlab.models.low_rank import LowRankSpec
from lrlab.operators.entries import DENSE_SHARE

ROWS_BYTES = 2**18
"""Some hundred rows of a trace."""


def number_bytes(spec: LowRankSpec) -> int:
    """Return the size of one number."""
    return 4 if spec.values().get("precision") == "single" else 8


def image_rows(spec: LowRankSpec) -> int:
    """Return the rows of an image: of entries of a table those of both its sides, however many entries are observed."""
    return sum(spec.table) or spec.measurements


def image_bytes(spec: LowRankSpec, columns: int) -> int:
    """Return the memory of the images X V of so many columns, their scaled copies, and factors of that width."""
    return number_bytes(spec) * columns * (2 * spec.measurements + 8 * max(spec.size)) + block_bytes(spec, 2**24)


def square_bytes(spec: LowRankSpec, count: int) -> int:
    """Return the memory of so many matrices of the size of L, and of row blocks of the data."""
    rows, columns = spec.size
    return number_bytes(spec) * count * rows * columns + block_bytes(spec, 2**26)


def block_bytes(spec: LowRankSpec, most: int) -> int:
    """Return the memory of row blocks, at most so large and no larger than the data, and of the rows of a trace.

    Of tables of which much is observed, all entries are computed.
    """
    entries = spec.table[0] * spec.table[1]
    whole = 16 * entries if entries <= DENSE_SHARE * spec.measurements else 0
    return min(most, ROWS_BYTES + spec.data_bytes + whole)
