"""The first screen of phase retrieval: the first magnitudes, and a verdict on a run beside the thresholds of theory."""

from collections.abc import Sequence
from typing import Any

from lrlab.model_entry import Measured, Outcome, Panel
from lrlab.models.single_index_view import SHOWN, strip
from lrlab.theory.phase_limits import thresholds

RECOVERED = 1e-3
"""Error below which a signal counts as recovered."""


def measured(spec: Any) -> Measured:
    """Return the first answers of a spec."""
    few, unknowns = min(spec.m, SHOWN), 2 * spec.p - 1 if spec.field == "complex" else spec.p
    name = "magnitudes" if spec.data == "magnitude" else "intensities"
    words = f"{spec.m:,} {name} for {unknowns:,} real unknowns; brighter is larger."
    return Measured(words, [Panel(f"the first {few} {name}", strip(spec.replace(m=few).build().y), "sizes")])


def verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return how many solvers recover the signal, and where m/p stands beside the thresholds of exact answers."""
    scored = [one for one in outcomes if "error" in one.scores]
    limit, ratio = thresholds(spec.field), spec.m / spec.p
    theory = f"m/p = {ratio:.3g}, where exact answers allow fast methods from {limit.fast:.3g} and any method from "
    theory += f"{limit.information:.3g}"
    if not scored:
        return f"{theory}."
    best = min(scored, key=lambda one: one.scores["error"])
    count = sum(one.scores["error"] < RECOVERED for one in scored)
    words = f"error {best.scores['error']:.2g} {best.course}"
    if all(one.over for one in outcomes):
        return f"The signal is recovered by {count} of {len(outcomes)} solvers, {words}: {theory}."
    return f"Running, {words}: {theory}."
