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
from lrlab.runs.memory import memory_limit, memory_needed, memory_words

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


def table_bytes(table: Matrix) -> int:
    """Return the bytes of a table, dense or sparse; 0 for none."""
    if table is None:
        return 0
    parts = (table.data, table.indices, table.indptr) if issparse(table) else (table,)
    return sum(int(part.nbytes) for part in parts)


def _beyond(solver: str, options: Mapping[str, Any], rows: Dataset, test: Dataset | None, rank: int) -> int:
    """Return the bytes that a fit needs beyond `memory_limit`, less than 0 where it suffices."""
    tables = [table for data in (rows, test) if data for table in (data.X, data.Y, data.observed)]
    known = 1.0 if rows.observed is None else rows.observed.nnz / max(1, rows.n * rows.L)
    spec = GivenRows(
        n=rows.n,
        d=rows.d,
        labels=rows.L,
        rank=rank,
        observed=min(known, 1.0),
        per_row=-(-rows.Y.nnz // max(1, rows.n)),
        held=sum(table_bytes(table) for table in tables),
        density=rows.X.nnz / (rows.n * rows.d) if issparse(rows.X) and rows.n else 1.0,
    )
    return memory_needed(spec, catalog.solver(solver, Multilabel.model), options) - memory_limit()


def require_fit_memory(solver: str, options: Mapping[str, Any], rows: Dataset, test: Dataset | None, rank: int) -> None:
    """Raise InputError where a fit needs more memory than `runs.memory.memory_limit`, with what would fit."""
    beyond, limit = _beyond(solver, options, rows, test, rank), memory_limit()
    if beyond <= 0:
        return
    others = [(one.name, dict(one.settle({}).options)) for one in catalog.solvers_for(Multilabel.model)]
    known = [(solver, options), *others]
    ranked = ((name, largest_rank(name, own, rows, rank, test)) for name, own in known if "fitted_rank" in own)
    name, most = next((pair for pair in ranked if pair[1]), (solver, 0))
    advice = f"lower the rank to {most}" if name == solver else f"take {name} of rank {most} at most"
    expected = f"at most {memory_words(limit)} for {solver}"
    size = f"{memory_words(limit + beyond)} for {rows.n:,} rows, {rows.d:,} features, {rows.L:,} labels"
    remedies = [*([advice] if most else []), "read fewer rows (limit)", "set LRLAB_MEMORY_GIB if this machine has more"]
    raise InputError("memory", expected, size, " or ".join(remedies))


def fits_memory(rows: Dataset, solver: str) -> bool:
    """Return whether memory suffices for a solver with its defaults."""
    options = dict(catalog.solver(solver, Multilabel.model).settle({}).options)
    return _beyond(solver, options, rows, None, 1) <= 0


def largest_rank(solver: str, options: Mapping[str, Any], rows: Dataset, most: int, test: Dataset | None = None) -> int:
    """Return the largest rank up to `most` whose fit memory suffices for; 0 where none does."""
    if "fitted_rank" not in options:
        return most
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        fits = _beyond(solver, {**options, "fitted_rank": middle}, rows, test, most) <= 0
        low, high = (middle, high) if fits else (low, middle - 1)
    return low
