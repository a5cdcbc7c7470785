"""Memory of fits to people's own rows, estimated before anything is formed, and what to change where it is too much."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy.sparse import issparse

from lrlab import catalog
from lrlab.arrays import Matrix
from lrlab.datasets import Dataset
from lrlab.models.label_rows import LabelRows
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.protocol import Checkpoint, proceed
from lrlab.runs.memory import GIB, memory_limit, memory_needed
from lrlab.solver_entry import SolverEntry

SCORES_BYTES = 2**28
"""Blocks of scores that are measured at a time."""
COPIES = 3
"""Rows are held as they were read, scaled, and as a problem has them."""


@dataclass(frozen=True, kw_only=True)
class GivenRows(LabelRows):
    """Sizes of rows that have been read, whatever they are; `held`: bytes of their tables."""

    model = Multilabel.model
    title = "Own rows"
    summary = "Rows that have been read."

    held: int = 0
    per_row: int = 1

    def __post_init__(self) -> None:
        """Take sizes beyond the ranges of drawn problems, too."""

    @property
    def data_bytes(self) -> int:
        """Bytes of the tables, and of blocks of scores."""
        return COPIES * self.held + SCORES_BYTES

    def build(self, checkpoint: Checkpoint = proceed) -> Any:
        """Refuse: these are sizes alone."""
        raise TypeError("sizes of rows, not rows")


def sizes_of(rows: Dataset, test: Dataset | None, rank: int) -> GivenRows:
    """Return the sizes of rows to fit to and to test on."""
    tables = [table for data in (rows, test) if data for table in (data.X, data.Y, data.observed)]
    known = 1.0 if rows.observed is None else rows.observed.nnz / max(1, rows.n * rows.L)
    on = -(-rows.Y.nnz // max(1, rows.n))
    return GivenRows(
        n=rows.n, d=rows.d, labels=rows.L, rank=rank, observed=min(known, 1.0), per_row=on,
        density=rows.X.nnz / (rows.n * rows.d) if issparse(rows.X) and rows.n else 1.0,
        held=sum(table_bytes(table) for table in tables),
    )  # fmt: skip


def table_bytes(table: Matrix) -> int:
    """Return the bytes of a table, dense or sparse; 0 for none."""
    if table is None:
        return 0
    parts = (table.data, table.indices, table.indptr) if issparse(table) else (table,)
    return sum(int(part.nbytes) for part in parts)


def require_fit_memory(solver: str, options: Mapping[str, Any], rows: Dataset, test: Dataset | None, rank: int) -> None:
    """Raise InputError where a fit needs more memory than `runs.memory.memory_limit`, with what would fit."""
    entry, spec, limit = catalog.solver(solver, Multilabel.model), sizes_of(rows, test, rank), memory_limit()
    needed = memory_needed(spec, entry, options)
    if needed <= limit:
        return
    expected = f"at most {limit / GIB:.1f} GiB for {solver}"
    size = f"{needed / GIB:.1f} GiB for {rows.n:,} rows, {rows.d:,} features, {rows.L:,} labels"
    raise InputError("memory", expected, size, " or ".join(_remedies(spec, entry, options, limit)))


def fits_memory(rows: Dataset, solver: str) -> bool:
    """Return whether memory suffices for a solver with its defaults."""
    entry = catalog.solver(solver, Multilabel.model)
    return memory_needed(sizes_of(rows, None, 1), entry, dict(entry.settle({}).options)) <= memory_limit()


def largest_rank(solver: str, options: Mapping[str, Any], rows: Dataset, most: int) -> int:
    """Return the largest rank up to `most` whose fit memory suffices for, at least 1."""
    entry, limit = catalog.solver(solver, Multilabel.model), memory_limit()
    return max(1, _largest(sizes_of(rows, None, most), entry, options, limit))


def _largest(spec: GivenRows, entry: SolverEntry, options: Mapping[str, Any], limit: int) -> int:
    """Return the largest rank that fits, at most that of the spec; 0 where none does."""
    if "fitted_rank" not in entry.options:
        return spec.rank
    low, high = 0, spec.rank
    while low < high:
        middle = (low + high + 1) // 2
        fits = memory_needed(spec, entry, {**options, "fitted_rank": middle}) <= limit
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _remedies(spec: GivenRows, entry: SolverEntry, options: Mapping[str, Any], limit: int) -> list[str]:
    """Return what would make it fit: a rank, another solver, fewer rows, or more memory."""
    words = []
    if "fitted_rank" in entry.options and (rank := _largest(spec, entry, options, limit)):
        words.append(f"lower the rank to {rank}")
    else:
        others = ((other, dict(other.settle({}).options)) for other in catalog.solvers_for(spec.model))
        for other, own in others:
            if "fitted_rank" in own and (rank := _largest(spec, other, own, limit)):
                words.append(f"take {other.name} of rank {rank} at most")
                break
    return [*words, "read fewer rows (limit)", "set LRLAB_MEMORY_GIB if this machine has more"]
