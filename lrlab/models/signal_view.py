"""The first screen of recovered signals: the first answers, and a verdict on a run beside theory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.metrics import error_of
from lrlab.model_entry import Measured, Outcome, Panel
from lrlab.theory import spiked
from lrlab.theory.phase_limits import thresholds

SHOWN, ACROSS = 400, 20
"""Answers that are drawn, and how many of them in a row."""
RECOVERED = 1e-3
"""Error below which the signal of phase retrieval counts as recovered."""


def strip(answers: Array) -> Array:
    """Return numbers (n,) as rows of 20, filled with nan."""
    rows = np.full((-(-len(answers) // ACROSS), ACROSS), np.nan)
    rows.ravel()[: len(answers)] = answers
    return rows


def index_measured(spec: Any) -> Measured:
    """Return the first answers of a spec."""
    # Of the data itself: with fewer rows another part of the random numbers would be the noise.
    answers = spec.build().first_answers(SHOWN)
    unknowns = f"{spec.sparsity} non-zero of {spec.p:,}" if spec.sparsity else f"{spec.p:,}"
    flipped = f"; a share of {spec.flip:g} is flipped" if spec.flip else ""
    words = f"{spec.n:,} bits for {unknowns} unknowns{flipped}. Blue: yᵢ = 1, orange: −1."
    return Measured(words, [Panel(f"the first {len(answers)} answers", strip(answers), "bits")])


def index_verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return predicted and measured error, on which side of its threshold n/p is, and the best of the others."""
    known = next((one for one in outcomes if "predicted_overlap" in one.predictions), None)
    scored = [one for one in outcomes if "error" in one.scores]
    parts = [] if known is None else [_beside_theory(spec, known)]
    best = min(scored, key=lambda one: one.scores["error"], default=None)
    if best is not None and best is not known:
        parts.append(f"{'best' if parts else 'error'} {best.scores['error']:.2g} ({best.title})")
    limit = outcomes[0].predictions.get("best_overlap") if outcomes else None
    if limit is not None:
        parts.append(f"limit of all methods for large n and p: {error_of(limit):.2g}")
    return "; ".join(parts) + "." if parts else f"n/p = {spec.n / spec.p:.4g}; theory has no prediction here."


def _beside_theory(spec: Any, outcome: Outcome) -> str:
    error = outcome.scores.get("error")
    measured_error = f", measured {error:.2g}" if error is not None else ""
    words = (
        f"Predicted error {error_of(outcome.predictions['predicted_overlap']):.2g}{measured_error} ({outcome.title})"
    )
    if outcome.solver != "pairwise-moment":
        return words
    ratio = spec.n / spec.p
    moment = str(outcome.options["moment"])
    threshold = spiked.predict(spec.link_function.moments, ratio, moment).threshold
    if not np.isfinite(threshold):
        return f"{words}: this moment has no gap, whatever n/p"
    return f"{words}: n/p = {ratio:.4g} is {'above' if ratio > threshold else 'below'} its threshold {threshold:.3g}"


def phase_measured(spec: Any) -> Measured:
    """Return the first answers of a spec."""
    few, unknowns = min(spec.m, SHOWN), 2 * spec.p - 1 if spec.field == "complex" else spec.p
    name = "magnitudes" if spec.data == "magnitude" else "intensities"
    words = f"{spec.m:,} {name} for {unknowns:,} real unknowns; brighter is larger."
    return Measured(words, [Panel(f"the first {few} {name}", strip(spec.replace(m=few).build().y), "sizes")])


def phase_verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
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
