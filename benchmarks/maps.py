"""The first maps of all models: time to a first picture and to the contour, trials, and the contour of the whole grid.

python benchmarks/maps.py [MODEL...] [--whole]

Each map runs adaptively on two workers; "cpu" is the time of its trials alone, in this process, and efficiency is that
over the time of both workers. With --whole the whole grid is measured too, and the contours compared. The machine
should have nothing else to do.
"""

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

import lrlab
from lrlab import catalog
from lrlab.catalog import model_entry
from lrlab.engine.engine import Engine
from lrlab.engine.results import LocalResults, Start
from lrlab.store.store import Store
from lrlab.sweeps.adaptive import INFERRED_TRIALS, SolverGrid, rounds
from lrlab.sweeps.contour_search import ContourSearch, crossings
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.definition_parts import Span
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.run import run

POINTS, TRIALS, WORKERS = (12, 10), 5, 2


def first_map(model: str) -> Sweep:
    """Return the map that the page *transition* opens with."""
    entry = model_entry(model)
    axes = {}
    for axis, points in zip(entry.plane, POINTS, strict=True):
        low, high, spacing = entry.first_range(axis)
        axes[axis] = Span(low, high, points, spacing)
    known = {solver.name for solver in catalog.solvers_for(model)}
    return Sweep(
        spec=lrlab.spec(model, **entry.held), axes=axes, trials=TRIALS, adaptive=True,
        solvers=[next(name for name in entry.family.solvers if name in known)], settings=dict(entry.family.limits),
    )  # fmt: skip


def timed(sweep: Sweep, store: Store, start: Start) -> tuple[SweepResults, float, float, float]:
    """Return the results, the seconds to the first picture and to the end, and the processor time of this process."""
    began, used, times = time.perf_counter(), time.process_time(), []
    look = sum(map(len, next(rounds(sweep, SweepResults(sweep))).values()))

    def progress(done: int, total: int) -> None:
        if done >= look:
            times.append(time.perf_counter() - began)

    results = run(sweep, store, start, progress)
    return results, times[0], time.perf_counter() - began, time.process_time() - used


def searched(results: SweepResults) -> ContourSearch:
    """Return the contour search of the first solver with all results."""
    grid = SolverGrid(results.sweep, results.sweep.solvers[0])
    grid.infer(results)
    return grid.search


def distance(first: ContourSearch, second: ContourSearch) -> Any:
    """Return how far two contours are apart in each line along a declared axis, in cells."""
    along = 1 if first.directions[1] else 0
    contours = [
        crossings(
            np.moveaxis(search.estimate(), along, 1),
            np.moveaxis(np.where(search.trials > 0, search.trials, INFERRED_TRIALS), along, 1),
            first.directions[along],
        )
        for search in (first, second)
    ]
    return np.abs(contours[0] - contours[1])


def measure(sweep: Sweep, engine: Engine, whole: bool) -> str:
    """Return a line of figures."""
    with Store() as there, Store() as here:
        _, picture, wall, _ = timed(sweep, there, engine.map)
        results, *_, cpu = timed(sweep, here, LocalResults)
        search = searched(results)
        line = (
            f"{sweep.spec.model:<24}{search.trials.sum() / sweep.total:6.1%} of the trials, "
            f"{(search.trials > 0).sum():>3} of {search.open.sum()} cells; "
            f"picture {picture:5.2f} s, contour {wall:6.2f} s, "
            f"cpu {cpu:6.2f} s, efficiency {cpu / WORKERS / wall:4.0%}"
        )
        if whole:
            full = replace(sweep, adaptive=False)
            apart = distance(search, searched(run(full, here, LocalResults)))
            line += f"; {apart.max():.2f} cells from the whole grid's contour, {np.median(apart):.2f} in the median"
    return line


def main() -> None:
    """Measure and print."""
    models = [name for name in sys.argv[1:] if not name.startswith("--")] or list(catalog.MODELS)
    engine = Engine(workers=WORKERS)
    engine.warm()
    for model in models:
        print(measure(first_map(model), engine, "--whole" in sys.argv), flush=True)
    engine.close()


if __name__ == "__main__":
    main()
