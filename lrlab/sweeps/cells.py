"""The cells of a sweep: a job for each solver at each place of the grid, or the reason why there is none."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from lrlab.parameters import InputError
from lrlab.runs.job import Job, make_job
from lrlab.runs.memory import memory_limit
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.sweep import at

Item = tuple[Job, int]
"""A cell, and the number of a trial there."""

Asked = Mapping[Job, range]
"""Numbers of the trials that are wanted of each cell."""


class Cell(NamedTuple):
    """A solver at a place of the grid: its job, with the sweep's seed, or the reason why it is refused."""

    axes: dict[str, float]
    solver: str
    job: Job | None
    refused: str = ""


def cells(sweep: Sweep) -> tuple[Cell, ...]:
    """Return all cells, solver by solver within each place; InputError where every one of them is refused."""
    return _cells(sweep, memory_limit())


@lru_cache(maxsize=4)
def _cells(sweep: Sweep, limit: int) -> tuple[Cell, ...]:
    # What is refused depends on the memory that a job may use.
    found = []
    for values in product(*sweep.grid.values()):
        place = dict(zip(sweep.grid, values, strict=True))
        for solver in sweep.solvers:
            try:
                job = make_job(at(sweep.spec, tuple(place.items())), solver, **sweep.settings_of(solver))
                found.append(Cell(place, solver, job))
            except InputError as error:
                found.append(Cell(place, solver, None, str(error)))
    if not any(cell.job for cell in found):
        raise InputError("axes", "such that a solver accepts some cell", "none", found[0].refused)
    return tuple(found)


def jobs(sweep: Sweep) -> list[Job]:
    """Return what has trials, once each: places that round to the same problem share them."""
    return list(dict.fromkeys(cell.job for cell in cells(sweep) if cell.job))
