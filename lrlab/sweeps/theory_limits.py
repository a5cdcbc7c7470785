"""What no method can exceed along the axis of a sweep, and what no known fast method does."""

from typing import NamedTuple

from lrlab import catalog
from lrlab.model_entry import no_limits
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.theory_regions import grid_nodes, kind_at, spec_near

NODES = 41
"""Points of a curve where all have one link and prior; else it has those of the sweep, as each costs more."""
FAST = "best_fast_"
APART = 0.005
"""Least difference of overlaps at which the limit of fast methods is a curve of its own."""


class Point(NamedTuple):
    """A limit at a place: "best" or "best_fast", the place, and the values of scores by name."""

    limit: str
    x: float
    scores: dict[str, float]


def limits(sweep: Sweep) -> list[Point]:
    """Return the limits along the axis of a sweep; those of fast methods where they differ anywhere, or nothing."""
    family = catalog.family(sweep.spec.model)
    if len(sweep.grid) != 1 or family.best is no_limits:
        return []
    [(axis, values)] = sweep.grid.items()
    alike = kind_at(sweep, (min(values),)) == kind_at(sweep, (max(values),))
    best, fast = list[Point](), list[Point]()
    for x in sorted({*values, *(map(float, grid_nodes(sweep, axis, NODES)) if alike else ())}):
        there = spec_near(sweep, (x,))
        known = {} if there is None else family.best(there)
        own = {name.removeprefix(FAST): value for name, value in known.items() if name.startswith(FAST)}
        scores = {name.removeprefix("best_"): v for name, v in known.items() if not name.startswith(FAST)}
        best += [Point("best", x, scores)] * bool(scores)
        # Where fast methods reach the best there is no number of their own.
        fast += [Point("best_fast", x, scores | own)] * bool(scores)
    apart = (b.scores[name] - f.scores[name] for b, f in zip(best, fast, strict=True) for name in b.scores)
    return [*best, *fast] if max(apart, default=0.0) > APART else best
