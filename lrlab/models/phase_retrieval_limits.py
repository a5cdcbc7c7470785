"""What theory says of phase retrieval on maps and lines: degrees of freedom, and limits of all methods."""

import math
from typing import Protocol

from lrlab.model_entry import HARD, IMPOSSIBLE, Level
from lrlab.models.single_index_limits import WEAK, overlap_at
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory import phase_limits
from lrlab.theory.phase_limits import channel_of, overlaps, ratios, weak_recovery


class PhaseSpec(phase_limits.Spec, Protocol):
    """What theory needs to know of a spec; `side` is 0 where the truth is no picture."""

    @property
    def m(self) -> int: ...  # noqa: D102
    @property
    def p(self) -> int: ...  # noqa: D102
    @property
    def side(self) -> int: ...  # noqa: D102


def theory_lines(spec: PhaseSpec, entry: SolverEntry, options: Options, level: Level) -> dict[str, bool]:
    """Return whether there are at least as many measurements as real unknowns, up to one global phase or sign."""
    return {"degrees of freedom": spec.m >= (2 * spec.p - 1 if spec.field == "complex" else spec.p)}


def best(spec: PhaseSpec) -> dict[str, float]:
    """Return the largest overlap of all methods, and that of the fast ones where it is smaller, for large m and p.

    Nothing for pictures: a method that knew them would need no data.
    """
    if spec.side:
        return {}
    limits = overlaps(channel_of(spec), spec.m / spec.p)
    fast = {"best_fast_overlap": limits.fast} if limits.fast < limits.best else {}
    return {"best_overlap": limits.best, **fast}


def margins(spec: PhaseSpec, level: Level) -> dict[str, float]:
    """Return log m/p less its value where the best overlap, or that of fast methods, exceeds that of the level.

    And less that of weak recovery. Nothing for pictures, as in `best`.
    """
    overlap = overlap_at(level)
    if spec.side or overlap is None:
        return {}
    channel = channel_of(spec)
    needed = ratios(channel, overlap)
    known = {IMPOSSIBLE: needed.best, HARD: needed.fast, WEAK: weak_recovery(channel)}
    return {name: math.log(spec.m / spec.p) - math.log(ratio) for name, ratio in known.items()}
