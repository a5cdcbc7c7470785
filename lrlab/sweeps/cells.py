"""The cells of a sweep: a job for each solver at each point of the grid, or the reason why it is refused."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from lrlab.models.axes import place
from lrlab.parameters import InputError, Value
from lrlab.protocol import Spec
from lrlab.runs.job import Job, make_job
from lrlab.runs.memory import memory_limit

Pairs = tuple[tuple[str, Value], ...]
Grid = tuple[tuple[str, tuple[float, ...]], ...]


class Cell(NamedTuple):
    """A solver at a point of the grid: its job, with the sweep's seed, or the reason why it is refused."""

    axes: Mapping[str, float]
    solver: str
    job: Job | None
    refused: str = ""


def make_cells(spec: Spec, grid: Grid, settings: tuple[tuple[str, Pairs], ...]) -> tuple[Cell, ...]:
    """Return all cells, solver by solver within each point; InputError where every one of them is refused.

    grid: the axes with their values. settings: the solvers, each with the settings that it takes.
    """
    return _make_cells(spec, grid, settings, memory_limit())


# A page makes equal sweeps again and again; which cells are refused depends on the memory that a job may use.
@lru_cache(maxsize=4)
def _make_cells(spec: Spec, grid: Grid, settings: tuple[tuple[str, Pairs], ...], limit: int) -> tuple[Cell, ...]:
    cells = []
    for values in product(*(values for _, values in grid)):
        point = dict(zip((name for name, _ in grid), values, strict=True))
        for solver, own in settings:
            try:
                cells.append(Cell(point, solver, make_job(spec_at(spec, point.items()), solver, **dict(own))))
            except InputError as error:
                cells.append(Cell(point, solver, None, str(error)))
    if not any(cell.job for cell in cells):
        raise InputError("axes", "such that a solver accepts some cell", "none", cells[0].refused)
    return tuple(cells)


def spec_at(spec: Spec, point: Iterable[tuple[str, float]]) -> Spec:
    """Return the spec moved to a point: (axis, value) pairs."""
    # Quantities that decide a parameter (n/p decides n) are placed last, for they depend on the others.
    for axis, value in sorted(point, key=lambda pair: pair[0] not in spec.values()):
        spec = place(spec, axis, value)
    return spec
