"""What theory says of recovered signals on maps and lines: predictions of solvers, and limits of all methods."""

import math
from typing import Any

from lrlab.model_entry import HARD, IMPOSSIBLE, Level
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory import phase_limits, predicted_overlap
from lrlab.theory.phase_limits import channel_of
from lrlab.theory.state_evolution import Ratios

THRESHOLD, WEAK = "predicted threshold", "weak recovery"
NEGLIGIBLE = 1e-4
"""n/p of weak recovery below which there is no such threshold: rounding of the smallest overlap that is followed."""


def overlap_at(level: Level) -> float | None:
    """Return the overlap in [0, 1) that a level asks for: its own, or that of unit vectors at this distance."""
    overlap = level.value
    if level.measure == "error":
        overlap = max(0.0, 1.0 - level.value**2 / 2.0) ** 2
    fits = level.below == (level.measure == "error") and level.measure in ("overlap", "error")
    return overlap if fits and 0.0 <= overlap < 1.0 else None


def index_lines(spec: Any, entry: SolverEntry, options: Options, level: Level) -> dict[str, bool]:
    """Return whether the overlap that theory predicts for a solver is above zero, and above that of the level."""
    if entry.attains:
        return {}
    try:
        predicted = entry.predict(spec, options).get("predicted_overlap")
    except InputError:
        return {}
    if predicted is None:
        return {}
    overlap = overlap_at(level)
    at_level = {f"predicted {level.words}": predicted > overlap} if overlap else {}
    return {**at_level, THRESHOLD: predicted > 0}


def phase_lines(spec: Any, entry: SolverEntry, options: Options, level: Level) -> dict[str, bool]:
    """Return whether there are at least as many measurements as real unknowns, up to one global phase or sign."""
    return {"degrees of freedom": spec.m >= (2 * spec.p - 1 if spec.field == "complex" else spec.p)}


def index_best(spec: Any) -> dict[str, float]:
    """Return the largest overlap of all methods, and that of the fast ones where it is smaller, for large n and p."""
    limits = predicted_overlap.best_overlap(spec)
    return limits.by_name if limits else {}


def phase_best(spec: Any) -> dict[str, float]:
    """Return the largest overlap of all methods, and that of the fast ones where it is smaller, for large m and p.

    Nothing for pictures: a method that knew them would need no data.
    """
    return {} if spec.side else phase_limits.overlaps(channel_of(spec), spec.m / spec.p).by_name


def index_margins(spec: Any, level: Level) -> dict[str, float]:
    """Return log n/p less its value where the best overlap, or that of fast methods, exceeds that of the level.

    And less that of weak recovery, from which fast methods do better than a guess, where it is not 0.
    """
    overlap = overlap_at(level)
    needed = None if overlap is None else predicted_overlap.best_ratios(spec, overlap)
    begin = None if needed is None else predicted_overlap.best_ratios(spec, 0.0)
    return _beyond(spec.n / spec.p, needed, begin.fast) if needed and begin else {}


def phase_margins(spec: Any, level: Level) -> dict[str, float]:
    """Return log m/p less that of the same limits; nothing for pictures, as in `phase_best`."""
    overlap = overlap_at(level)
    if spec.side or overlap is None:
        return {}
    channel = channel_of(spec)
    return _beyond(spec.m / spec.p, phase_limits.ratios(channel, overlap), phase_limits.weak_recovery(channel))


def _beyond(ratio: float, needed: Ratios, weak: float) -> dict[str, float]:
    known = {IMPOSSIBLE: needed.best, HARD: needed.fast} | ({WEAK: weak} if weak > NEGLIGIBLE else {})
    return {name: math.log(ratio) - math.log(least) for name, least in known.items()}
