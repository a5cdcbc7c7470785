"""What theory says of single-index models on maps and lines: predictions of solvers, and limits of all methods."""

import math

from lrlab.model_entry import HARD, IMPOSSIBLE, Level
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory.predicted_overlap import SingleIndex, best_overlap, best_ratios

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


def theory_lines(spec: SingleIndex, entry: SolverEntry, options: Options, level: Level) -> dict[str, bool]:
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


def margins(spec: SingleIndex, level: Level) -> dict[str, float]:
    """Return log n/p less its value where the best overlap, or that of fast methods, exceeds that of the level.

    And less that of weak recovery, from which fast methods do better than a guess, where it is not 0.
    """
    overlap = overlap_at(level)
    needed = None if overlap is None else best_ratios(spec, overlap)
    begin = None if needed is None else best_ratios(spec, 0.0)
    if needed is None or begin is None:
        return {}
    known = {IMPOSSIBLE: needed.best, HARD: needed.fast, **({WEAK: begin.fast} if begin.fast > NEGLIGIBLE else {})}
    return {name: math.log(spec.n / spec.p) - math.log(ratio) for name, ratio in known.items()}


def best(spec: SingleIndex) -> dict[str, float]:
    """Return the largest overlap of all methods, and that of the fast ones where it is smaller, for large n and p."""
    limits = best_overlap(spec)
    if limits is None:
        return {}
    fast = {"best_fast_overlap": limits.fast} if limits.fast < limits.best else {}
    return {"best_overlap": limits.best, **fast}
